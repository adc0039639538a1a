"""The Packer template and the scripts around it: valid, formatted, and free of what breaks one Packer or another."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.image import catalog, packer

IMAGES = catalog.PROJECT / "images"
TEMPLATE = IMAGES / packer.TEMPLATE
SCRIPTS = sorted([*IMAGES.glob("provision/*.sh"), *IMAGES.glob("base/*.sh"), IMAGES / "base/files/usr/local/lib/zassay/access"])
DEADLINE_S = 120

needs_packer = pytest.mark.skipif(shutil.which("packer") is None, reason="packer is not installed")
needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def run(*argv: str, cwd: Path = IMAGES) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **packer.ENVIRONMENT}
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """The template's variables for the first image, with a base disk that has no content."""
    (tmp_path / "base.raw").touch()
    digest = hashlib.sha256(b"").hexdigest()
    given = packer.Input(tmp_path / "base.raw", digest, packer.make_key(tmp_path), "tcg", "12.0.0")
    return packer.variables(catalog.load(catalog.names()[0]), given, tmp_path)


@needs_packer
@needs_ssh_keygen
@pytest.mark.parametrize("name", catalog.names())
def test_the_template_is_valid_for_every_image(name: str, options: list[str]) -> None:
    options[0] = f"-var=image={IMAGES / name}.yaml"
    done = run("packer", "validate", *options, str(TEMPLATE))
    assert done.returncode == 0, done.stdout + done.stderr


@needs_packer
@needs_ssh_keygen
def test_validating_finds_a_mistake(tmp_path: Path, options: list[str]) -> None:
    shutil.copytree(IMAGES, tmp_path / "images")
    broken = tmp_path / "images" / packer.TEMPLATE
    broken.write_text(TEMPLATE.read_text().replace("disk_image ", "disc_image "))
    done = run("packer", "validate", *options, str(broken))
    assert done.returncode != 0
    assert "disc_image" in done.stdout + done.stderr


@needs_packer
def test_the_template_is_formatted() -> None:
    done = run("packer", "fmt", "-check", "-diff", str(TEMPLATE))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("word", ["required_plugins", "vnc_port_min", "use_backing_file", "ssh_password"])
def test_the_template_has_nothing_that_breaks_a_packer_or_opens_a_door(word: str) -> None:
    code = re.sub(r"#.*", "", TEMPLATE.read_text())
    assert word not in code


def test_ports_are_forwarded_from_loopback_only() -> None:
    assert re.findall(r"hostfwd=tcp:([0-9.]*):", TEMPLATE.read_text()) == ["127.0.0.1"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_posix_shell(script: Path) -> None:
    assert script.read_text().startswith("#!/bin/sh\n")
    assert os.access(script, os.X_OK)
    done = run("sh", "-n", str(script))
    assert done.returncode == 0, done.stderr


def test_the_syntax_check_finds_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "bad.sh").write_text("if true; then\n")
    assert run("sh", "-n", str(tmp_path / "bad.sh")).returncode != 0


@pytest.mark.parametrize(
    ("printed", "words"),
    [("Packer v1.5.6\n", "too old"), ("Packer v1.11.2\n", "lacks its plugins: vagrant"), ("crack 1.0\n", "printed")],
)
def test_an_unfit_packer_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, words: str) -> None:
    installed = "/root/.config/packer/plugins/github.com/hashicorp/qemu/packer-plugin-qemu_v1.1.0_x5.0_linux_amd64"
    fake = tmp_path / "packer"
    fake.write_text(f'#!/bin/sh\n[ "$1" = version ] && printf "%s" "{printed}" || echo {installed}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Problem) as caught:
        packer.check()
    assert words in caught.value.message
    assert "packer" in caught.value.hint


def test_no_packer_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Problem, match="not installed") as caught:
        packer.check()
    assert "apt-get install packer" in caught.value.hint
