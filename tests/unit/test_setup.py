"""Set-up: what is missing goes to apt, once; elsewhere one message says what to install; a second set-up is quick."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tree import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what set-up reads, and a folder of stand-ins for apt and dpkg: nothing is installed here."""
    for name in ("tools", "requirements", "config"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    stand_in(tmp_path, "dpkg-query", "echo 'ii  zstd'; echo 'rc  packer'")
    stand_in(tmp_path, "apt-get", 'echo "apt-get $*" >>"$APT_LOG"; exit 100')
    stand_in(tmp_path, "sudo", 'echo "sudo $*" >>"$APT_LOG"; exec "$@"')
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    return tmp_path


def stand_in(checkout: Path, name: str, script: str) -> None:
    path = checkout / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def setup(checkout: Path, scope: str = "run") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{checkout}/bin:{os.environ['PATH']}", "APT_LOG": str(checkout / "asked")}
    env |= {"OS_RELEASE": str(checkout / "os-release")}
    env.pop("ZASSAY_HOST_READY", None)
    argv = [str(checkout / "tools" / "setup"), scope]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_an_unknown_scope_is_refused(checkout: Path) -> None:
    done = setup(checkout, "everything")
    assert (done.returncode, done.stderr) == (1, 'setup: unknown scope "everything"\n  known scopes: run, test\n')


def test_apt_is_asked_for_what_is_missing_and_its_failure_is_shown(checkout: Path) -> None:
    stand_in(checkout, "apt-get", 'echo "apt-get $*" >>"$APT_LOG"; case "$*" in *install*) echo "E: broken"; exit 100 ;; esac')
    done = setup(checkout)
    asked = [line for line in (checkout / "asked").read_text().splitlines() if line.startswith("apt-get")]
    assert done.returncode == 1
    assert next(line.split()[-1] for line in asked) == "update"
    words = asked[1].split()
    assert "--no-install-recommends" in words
    assert "packer" in words  # removed, but with its settings left
    assert "zstd" not in words
    assert "shellcheck" not in words  # only tests need it
    assert "E: broken" in done.stderr
    assert "log: " in done.stderr
    assert not (checkout / ".venv").exists()


def test_tests_need_more_packages(checkout: Path) -> None:
    assert "shellcheck" in setup(checkout, "test").stderr


def test_another_system_gets_one_message_and_nothing_is_done(checkout: Path) -> None:
    (checkout / "os-release").write_text("ID=fedora\nVERSION_ID=44\n")
    done = setup(checkout)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[0] == "setup: this is not Debian 12, so its packages are not installed for you"
    assert "qemu-system-x86" in lines[1]
    assert lines[2] == "  then say so: ZASSAY_HOST_READY=1 make run"
    assert not (checkout / "asked").exists()


def test_a_second_set_up_does_nothing_and_is_quick() -> None:
    if not (ROOT / ".venv" / "stamp-test").is_file():
        pytest.skip("this checkout was not set up by tools/setup")
    start = time.monotonic()
    done = subprocess.run([str(ROOT / "tools" / "setup"), "test"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - start < 5
