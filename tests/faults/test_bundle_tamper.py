"""Any byte changed, missing or added is found and named, in the zip and in the folder."""

from __future__ import annotations

import random
import shutil
import subprocess
import zipfile
from pathlib import Path

import bundle_fixture as made
import pytest

from zassay import cli
from zassay.bundle.archive import Member, write_bundle
from zassay.bundle.build import build
from zassay.bundle.verifier import FolderBag, ZipBag, verify

NAME = "made-up-1.2.0"
# One of each kind of file in a bundle.
KINDS = [
    "bag-info.txt",
    "bagit.txt",
    "manifest-sha256.txt",
    "manifest-sha512.txt",
    "tagmanifest-sha256.txt",
    "tagmanifest-sha512.txt",
    "data/README.md",
    "data/CITATION.cff",
    "data/ro-crate-metadata.json",
    "data/datapackage.json",
    "data/verify.py",
    f"data/results/{made.STUDY}/dataset.csv",
    f"data/results/{made.STUDY}/verdicts.csv",
    f"data/results/{made.STUDY}/raw/compression=off,corpus=text/block-01/guest/transcript.txt",
    f"data/results/{made.STUDY}/parsed/compression=off,corpus=text/block-01.json",
    f"data/results/{made.STUDY}/figures/fig1.png",
    "data/environment/images/debian-12/manifest.json",
    "data/workflow/Snakefile",
    "data/workflow/tools/setup",
    "data/config/config.yaml",
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = made.make_project(tmp_path_factory.mktemp("tamper") / "project")
    return build(project, project / "config" / "config.yaml").written.path


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(original, tmp_path))


@pytest.fixture
def folder(bundle: Path) -> Path:
    subprocess.run(["unzip", "-q", bundle, "-d", bundle.parent], check=True, timeout=60)
    return bundle.parent / NAME


def offset_of(path: Path, name: str) -> int:
    """Where the content of a stored member begins."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(f"{NAME}/{name}")
    return info.header_offset + 30 + len(info.filename)


def flip(path: Path, at: int, mask: int = 1) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= mask
    path.write_bytes(content)


def named(problems: list[str], name: str) -> bool:
    return any(name in line for line in problems)


@pytest.mark.parametrize("name", KINDS)
def test_one_changed_bit_in_the_zip(bundle: Path, name: str) -> None:
    flip(bundle, offset_of(bundle, name) + 5)
    assert named(verify(ZipBag(bundle)), name)


@pytest.mark.parametrize("name", KINDS)
def test_one_changed_bit_in_the_folder(folder: Path, name: str) -> None:
    flip(folder / name, 5)
    assert named(verify(FolderBag(folder)), f"changed: {name}")


@pytest.mark.parametrize("name", KINDS)
def test_one_byte_more_or_less(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    for other in (content + b"\n", content[:-1], content.replace(b"\n", b"\r\n", 1) if b"\n" in content else b""):
        (folder / name).write_bytes(other)
        assert named(verify(FolderBag(folder)), f"changed: {name}")


@pytest.mark.parametrize("name", KINDS)
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert named(verify(FolderBag(folder)), f"missing: {name}")


@pytest.mark.parametrize("name", ["data/extra", "extra", "fetch.txt", f"data/results/{made.STUDY}/raw/extra", ".hidden"])
def test_an_added_file(folder: Path, name: str) -> None:
    (folder / name).touch()
    assert named(verify(FolderBag(folder)), f"added: {name}")


@pytest.mark.parametrize("name", KINDS)
def test_a_missing_or_renamed_member_of_the_zip(bundle: Path, name: str, tmp_path: Path) -> None:
    repack(bundle, tmp_path / "less" / bundle.name, leave=name)
    problems = verify(ZipBag(tmp_path / "less" / bundle.name))
    # Python's own zip writer spells its headers like ours but for one field, so the container is refused as a whole.
    assert problems
    unpacked = tmp_path / "less" / "out"
    subprocess.run(["unzip", "-q", tmp_path / "less" / bundle.name, "-d", unpacked], check=True, timeout=60)
    assert named(verify(FolderBag(unpacked / NAME)), f"missing: {name}")


def repack(source: Path, to: Path, leave: str = "") -> None:
    to.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(to, "w") as new:
        for info in old.infolist():
            if info.filename != f"{NAME}/{leave}":
                new.writestr(info, old.read(info))


def small(path: Path) -> Path:
    members = {"a": Member(b"one"), "b/run": Member(b"#!/bin/sh\n"), "empty": Member(b"")}
    return write_bundle(path / "s-1.0.0.zip", members, {"Citable": "yes"}, 1_763_683_200).path


def test_every_single_byte_of_a_zip_counts(tmp_path: Path) -> None:
    path = small(tmp_path)
    whole = path.read_bytes()
    assert verify(ZipBag(path)) == []
    dice = random.Random(1)
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << dice.randrange(8)
        path.write_bytes(changed)
        assert verify(ZipBag(path)), f"byte {at} of {len(whole)}"


def test_every_byte_of_content_names_its_file(tmp_path: Path) -> None:
    path = small(tmp_path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    for info in infos:
        name = info.filename.partition("/")[2]
        start = info.header_offset + 30 + len(info.filename)
        for at in range(start, start + info.file_size):
            changed = bytearray(whole)
            changed[at] ^= 4
            path.write_bytes(changed)
            assert named(verify(ZipBag(path)), name), f"{name} at {at}"


def test_bytes_added_or_cut_anywhere(tmp_path: Path) -> None:
    path = small(tmp_path)
    whole = path.read_bytes()
    for at in range(0, len(whole) + 1, 7):
        for other in (whole[:at] + b"\0" + whole[at:], whole[:at] + whole[at + 1 :] if at < len(whole) else whole[:-1]):
            path.write_bytes(other)
            assert verify(ZipBag(path)), f"at {at}"


def test_the_verb_says_what_and_exits_with_one(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(bundle)]) == 0
    assert "content id sha256:" in capsys.readouterr().out
    flip(bundle, offset_of(bundle, "data/README.md"))
    assert cli.main(["verify", str(bundle)]) == 1
    out = capsys.readouterr().out
    assert "changed: data/README.md" in out
    assert "NOT SOUND" in out


def test_many_changes_are_all_found(folder: Path) -> None:
    for name in KINDS[6:]:
        flip(folder / name, 0)
    problems = verify(FolderBag(folder))
    assert all(named(problems, f"changed: {name}") for name in KINDS[6:])
    assert len(problems) == len(KINDS[6:])
