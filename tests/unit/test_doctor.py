"""The doctor names what is missing and the command that mends it, and its quick half stays quick."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from zassay import cli, doctor
from zassay.doctor import Finding, Tool

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is searched before all others."""
    monkeypatch.setattr(doctor, "SEARCH", f"{tmp_path}:{doctor.SEARCH}")
    return tmp_path


def fake(folder: Path, name: str, prints: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{prints}'\n")
    (folder / name).chmod(0o755)


def test_a_finding_is_one_line_with_its_fix() -> None:
    assert str(Finding("missing", "packer", "not found", "make setup")).split() == (
        "missing packer not found; run: make setup".split()
    )


def test_a_tool_that_is_not_there_is_missing() -> None:
    assert doctor.tool(Tool("no-such-tool")) == Finding("missing", "no-such-tool", "not found on PATH", "make setup")


@pytest.mark.parametrize(("prints", "state"), [("tool 1.10.0", "ok"), ("v1.6.6 (x)", "ok"), ("tool 1.6.5", "fix"), ("?", "fix")])
def test_a_tool_must_be_new_enough(bin_dir: Path, prints: str, state: str) -> None:
    fake(bin_dir, "the-tool", prints)
    assert doctor.tool(Tool("the-tool", least="1.6.6")).state == state


def test_the_lock_can_be_read_whole() -> None:
    names = [requirement.name for requirement in doctor.locked()]
    assert "snakemake" in names
    assert len(names) == len(set(names))


def test_what_is_installed_is_what_the_lock_says() -> None:
    assert [finding.state for finding in doctor.python_packages()] == ["ok"]


def test_a_package_of_another_version_is_to_be_fixed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    lock.write_text("pytest==0.1 \\\n    --hash=sha256:00\nno-such-package==1 ; python_version > '3' \\\n    --hash=sha256:00\n")
    wanted = doctor.locked(lock)
    monkeypatch.setattr(doctor, "locked", lambda: wanted)
    assert [(each.state, each.subject) for each in doctor.python_packages()] == [
        ("fix", "python pytest"),
        ("missing", "python no-such-package"),
    ]


def test_debian_packages_that_are_absent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "listed", lambda: ["no-such-package", "r-cran-nosuchthing"])
    assert [each.subject for each in doctor.host_packages()][:1] == ["package no-such-package"]
    assert [(each.state, each.subject) for each in doctor.r_packages()] == [("missing", "R nosuchthing")]


def test_little_room_is_to_be_fixed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 1 << 30))
    finding = doctor.disk("cache", tmp_path / "not" / "there")
    assert finding.state == "fix"
    assert "1.0 GiB free" in finding.detail
    assert "6.0 GiB needed" in finding.detail


def test_a_user_without_a_range_of_ids_is_told_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(doctor.getpass, "getuser", lambda: "nobody-here")
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    found = {each.subject: each for each in doctor.user_namespaces()}
    assert found["/etc/subuid"].mend == "sudo usermod --add-subuids 100000-165535 nobody-here"
    assert found["/etc/subgid"].state == "missing"


def test_no_kvm_is_no_fault() -> None:
    assert doctor.accelerator(probe=False).state == "ok"


def test_the_verb_prints_every_finding_and_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "findings", lambda _: [Finding("ok", "a", "b"), Finding("missing", "c", "d", "make setup")])
    assert cli.main(["doctor"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setattr(doctor, "findings", lambda _: [Finding("ok", "a", "b")])
    assert cli.main(["doctor"]) == 0


def test_on_this_host_nothing_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """`make test` has just installed it all; room and memory are this host's own affair."""
    cli.main(["doctor"])
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("missing")] == []


def test_the_quick_check_passes_and_is_quick() -> None:
    start = time.monotonic()
    doctor.require_or_exit()
    assert time.monotonic() - start < 0.1


def test_the_quick_check_refuses_with_one_line_and_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "TOOLS", (Tool("no-such-tool"), Tool("sh")))
    with pytest.raises(SystemExit) as caught:
        doctor.require_or_exit()
    assert caught.value.code == "zassay: no-such-tool is missing; run: make setup"


def test_the_quick_check_sees_a_lock_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "stamp-venv").write_text("x\n")
    (tmp_path / "stamp-run").write_text("another digest\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(SystemExit, match=r"requirements/run\.lock; run: make setup"):
        doctor.require_or_exit()


def test_the_quick_check_sees_an_r_package_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("Rscript") != "/usr/bin/Rscript":
        pytest.skip("only Debian's R is looked into without starting it")
    monkeypatch.setattr(doctor, "listed", lambda: ["r-cran-boot", "r-cran-nosuchthing"])
    with pytest.raises(SystemExit, match="R package nosuchthing is missing"):
        doctor.require_or_exit()
