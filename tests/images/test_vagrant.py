"""The Vagrantfile: valid for every image, machine and a cell of every study, offline; a broken file is named with its key."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from zassay import campaign, cli, study
from zassay.image import catalog

ROOT = catalog.PROJECT
VAGRANT = ROOT / "vagrant"
READ = ("vagrant", "images", "machines", "workflows/schemas")
DEADLINE_S = 120

needs_vagrant = pytest.mark.skipif(shutil.which("vagrant") is None, reason="vagrant is not installed")
needs_libvirt = pytest.mark.skipif(
    shutil.which("vagrant") is None or not any(Path("/usr/share/rubygems-integration/all/gems").glob("vagrant-libvirt-*")),
    reason="Debian's vagrant-libvirt is not installed",
)


@dataclass(frozen=True)
class Vagrant:
    """Vagrant with a home and state of its own, and a proxy where nobody answers: whoever asks the network fails."""

    home: Path
    folder: Path = VAGRANT

    def run(self, *argv: str, **choice: str) -> subprocess.CompletedProcess[str]:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("ZASSAY_", "VAGRANT_", "LIBVIRT_"))}
        env |= {"VAGRANT_HOME": str(self.home), "VAGRANT_DOTFILE_PATH": str(self.home / "dot"), "VAGRANT_CHECKPOINT_DISABLE": "1"}
        env |= dict.fromkeys(("http_proxy", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9")
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        env |= {f"ZASSAY_{key.upper()}": value for key, value in choice.items() if key.islower()}
        env |= {key: value for key, value in choice.items() if key.isupper()}
        return subprocess.run(
            ["vagrant", *argv], cwd=self.folder, env=env, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )

    def validate(self, **choice: str) -> subprocess.CompletedProcess[str]:
        return self.run("validate", **choice)


@pytest.fixture
def vagrant(tmp_path: Path) -> Vagrant:
    return Vagrant(tmp_path / "home")


@pytest.fixture
def copied(tmp_path: Path) -> Vagrant:
    """The same with files of its own, to be broken."""
    for folder in READ:
        shutil.copytree(ROOT / folder, tmp_path / "tree" / folder, ignore=shutil.ignore_patterns(".vagrant"))
    return Vagrant(tmp_path / "home", tmp_path / "tree" / "vagrant")


def is_valid(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert "validated successfully" in done.stdout


def a_cell_of_each_study() -> list[str]:
    setup = campaign.load()
    studies = [study.load(setup.root, name, setup.scale) for name in study.known_studies(setup.root)]
    return [f"{each.name}/{each.cells[0].id}" for each in studies]


@needs_libvirt
@pytest.mark.parametrize("machine", sorted(path.stem for path in ROOT.glob("machines/*.yaml")))
def test_it_is_valid_for_every_machine(vagrant: Vagrant, machine: str) -> None:
    is_valid(vagrant.validate(machine=machine))


@needs_libvirt
@pytest.mark.parametrize("image", catalog.names())
def test_it_is_valid_for_every_image(vagrant: Vagrant, image: str) -> None:
    is_valid(vagrant.validate(image=image))


@needs_libvirt
@pytest.mark.parametrize("cell", a_cell_of_each_study())
@pytest.mark.parametrize("accel", ["kvm", "tcg"])
def test_it_is_valid_for_a_cell(vagrant: Vagrant, cell: str, accel: str) -> None:
    is_valid(vagrant.validate(cell=cell, accel=accel))


@needs_vagrant
def test_it_is_valid_for_virtualbox_as_far_as_can_be_known_without_it(vagrant: Vagrant) -> None:
    is_valid(vagrant.run("validate", "--ignore-provider", VAGRANT_DEFAULT_PROVIDER="virtualbox"))


@needs_libvirt
def test_a_setting_that_the_provider_does_not_know_is_found(copied: Vagrant) -> None:
    path = copied.folder / "Vagrantfile"
    path.write_text(path.read_text().replace("libvirt.memballoon_enabled", "libvirt.no_such_key"))
    done = copied.validate()
    assert done.returncode != 0
    assert "no_such_key" in done.stdout + done.stderr


BROKEN = [
    ("machines/small.yaml", "cpus: 4", "cpus: many", ["machines/small.yaml", "cpus", '"many"', "integer"]),
    ("machines/small.yaml", "cpus: 4", "cpus: 0", ["machines/small.yaml", "cpus", "less than 1"]),
    ("machines/small.yaml", "cpus: 4", "cpu: 4", ["machines/small.yaml", "cpu"]),
    ("machines/small.yaml", "memory: 512 MiB", "memory: 512 Miles", ["machines/small.yaml", "memory", "512 Miles"]),
    ("machines/small.yaml", "mode: clone", "mode: off", ["machines/small.yaml", "mode", "off"]),
    ("machines/small.yaml", "mode: clone", "mode: [", ["machines/small.yaml", "not YAML"]),
    (
        "machines/small.yaml",
        "pool0: {class: file}",
        "pool0: {class: tape}",
        ["machines/small.yaml", "disks.pool0.class", "file, memory"],
    ),
    (
        "machines/small.yaml",
        "pool0: {class: file}",
        "pool0: {class: file, speed: 1}",
        ["machines/small.yaml", "disks.pool0", "speed"],
    ),
    ("images/debian-12.yaml", "family: debian", "family: plan9", ["images/debian-12.yaml", "family", "plan9"]),
]


@needs_libvirt
@pytest.mark.parametrize(("path", "good", "bad", "words"), BROKEN, ids=[f"{each[0]} {each[2]}" for each in BROKEN])
def test_a_broken_file_is_one_clear_error(copied: Vagrant, path: str, good: str, bad: str, words: list[str]) -> None:
    file = copied.folder.parent / path
    assert good in file.read_text()
    file.write_text(file.read_text().replace(good, bad))
    done = copied.validate()
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert [word for word in words if word not in said] == [], said
    assert not re.search(r"\.rb:\d+", said), said


@needs_libvirt
@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"machine": "no-such"}, ['unknown machine "no-such"', "known machines: "]),
        ({"image": "no-such"}, ['unknown image "no-such"', "known images: "]),
        ({"accel": "hvf"}, ['"hvf"', "kvm, tcg"]),
        ({"cell": "no-slash"}, ['"no-slash"', "study/cell"]),
        ({"cell": "no-such/cell"}, ['unknown study "no-such"']),
        ({"cell": f"{a_cell_of_each_study()[0]}-x"}, ["unknown cell", "did you mean"]),
        ({"cell": a_cell_of_each_study()[0], "machine": "workstation"}, ["unset ZASSAY_MACHINE"]),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, dict) else "",
)
def test_a_wrong_choice_is_explained(vagrant: Vagrant, choice: dict[str, str], words: list[str]) -> None:
    done = vagrant.validate(**choice)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert [word for word in words if word not in said] == [], said


@needs_libvirt
def test_every_checkout_has_a_key_of_its_own_that_only_its_owner_reads(copied: Vagrant, vagrant: Vagrant) -> None:
    kept = copied.home / "dot" / "zassay" / "id_ed25519"
    is_valid(copied.validate())
    first = kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    is_valid(copied.validate())
    assert kept.read_text() == first
    shutil.rmtree(kept.parent)
    is_valid(vagrant.validate())
    assert kept.read_text() != first


@needs_libvirt
def test_an_image_that_is_not_built_is_refused_with_the_command_that_builds_it(copied: Vagrant) -> None:
    done = copied.run("up", "--no-provision")
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert f"image {catalog.names()[0]} is not built" in said
    assert "zassay image build" in said


@needs_libvirt
def test_the_box_is_described_by_an_absolute_path_and_a_version_of_its_own(copied: Vagrant) -> None:
    image = catalog.names()[0]
    entry = copied.folder.parent / "results" / "images" / image
    entry.mkdir(parents=True)
    (entry / "x.box").touch()
    provider = {"name": "libvirt", "url": "x.box", "checksum": "0000000a" + "0" * 56, "checksum_type": "sha256"}
    described = {"name": f"zassay/{image}", "versions": [{"version": "1.2.0", "providers": [provider]}]}
    (entry / "box.json").write_text(json.dumps(described))
    is_valid(copied.validate())
    written = json.loads((copied.home / "dot" / "zassay" / f"box-{image}.json").read_text())
    assert written["versions"][0]["version"] == "1.2.0.10"
    assert written["versions"][0]["providers"][0]["url"] == f"file://{entry / 'x.box'}"


def code() -> str:
    return "\n".join(
        re.sub(r"(^|\s)#.*", "", path.read_text(), flags=re.M) for path in [VAGRANT / "Vagrantfile", *VAGRANT.glob("lib/*.rb")]
    )


def test_ports_are_forwarded_from_loopback_only() -> None:
    assert re.findall(r"hostfwd=tcp:([^:]*):", code()) == ["127.0.0.1"]
    assert re.findall(r"network[^\n]*:(?:private|public)_network|forwarded_port", code()) == []


@pytest.mark.parametrize("word", ["insert_key = false", "disabled: true", "allow_fstab_modification = false", "restrict=on"])
def test_what_closes_a_door_stays(word: str) -> None:
    assert word in (VAGRANT / "Vagrantfile").read_text() + (VAGRANT / "lib/project.rb").read_text()


def test_what_was_never_run_is_said() -> None:
    assert "★ Never run by the authors" in (VAGRANT / "Vagrantfile").read_text()


def test_the_cell_that_vagrant_asks_for_has_all_that_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    name, _, cell = a_cell_of_each_study()[0].partition("/")
    assert cli.main(["cell", name, cell, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(re.findall(r'cell&?\.fetch\("(\w+)"\)', code())) | {"image", "machine"} <= set(told)
    assert set(re.findall(r'disk(?:\.fetch\(|\[)"(\w+)"', code())) <= set(told["disks"][0])
