"""Copies of a recorded run to read and to spoil, and a project folder whose study file can be edited."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zassay import campaign, study
from zassay.campaign import Campaign
from zassay.record import RunFiles
from zassay.study import Study

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden" / "guest-debian-12-zfs-2.1"
RUNS = ROOT / "tests" / "golden" / "runs"
STUDY = "compression-levels"


def copied(folder: Path) -> Path:
    """A copy of the golden record below ``folder``."""
    shutil.copytree(GOLDEN, folder / "record", dirs_exist_ok=True)
    return folder / "record"


def recorded(name: str, folder: Path) -> Path:
    """One of the shorter records of ``tests/golden/runs``, unpacked below ``folder``."""
    with tarfile.open(RUNS / f"{name}.tar.xz") as tar:
        for member in tar:
            target = folder / name / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(tar.extractfile(member).read())  # type: ignore[union-attr]
    return folder / name


def guest_text(name: str) -> str:
    return (GOLDEN / "guest" / name).read_text(encoding="utf-8")


def rewrite(record: Path, name: str, edit: Callable[[str], str]) -> None:
    """Edit one of the guest's files; an edit that changes nothing is a fault of the test."""
    path = record / "guest" / name
    before = path.read_text(encoding="utf-8")
    after = edit(before)
    assert after != before, f"the edit of {name} changed nothing"
    path.write_text(after, encoding="utf-8")


def change(record: Path, name: str, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit one of the host's JSON files in place."""
    path = record / name
    value = json.loads(path.read_text(encoding="utf-8"))
    edit(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def swap(old: str, new: str) -> Callable[[str], str]:
    """One text for another; that the old one is not there is a fault of the test, or the file has changed since."""

    def edit(text: str) -> str:
        assert old in text, f"{old!r} is not in the file"
        return text.replace(old, new)

    return edit


def size(name: str, value: str) -> Callable[[str], str]:
    """Another size of that name in a study file, whatever it was."""

    def edit(text: str) -> str:
        found, count = re.subn(rf"^(\s+{name}: )[^#\n]*", rf"\g<1>{value} ", text, flags=re.M)
        assert count == 1, f"{count} sizes are called {name}"
        return found

    return edit


def golden() -> RunFiles:
    return RunFiles(GOLDEN)


def project(folder: Path, edit: Callable[[str], str] = str) -> Path:
    """A root like this checkout's with its own copy of the study, edited."""
    for name in ("config", "machines", "images"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    shutil.copytree(ROOT / "studies" / STUDY, folder / "studies" / STUDY, dirs_exist_ok=True)
    path = folder / "studies" / STUDY / "study.yaml"
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def load(folder: Path) -> tuple[Campaign, Study]:
    setup = campaign.load(folder, folder / "config" / "config.yaml")
    return setup, study.load(folder, STUDY, setup.scale)
