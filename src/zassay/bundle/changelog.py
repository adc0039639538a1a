"""CHANGELOG.md of a bundle: what is decided otherwise than in the version before, counted from both tables of verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from zassay.bundle import tables
from zassay.bundle.evidence import Evidence
from zassay.bundle.heading import NAME, SEMVER, Heading, Previous
from zassay.bundle.opened import Opened, open_bundle
from zassay.errors import Problem
from zassay.files import sha256_file

Rows = dict[str, dict[str, str]]


def text(heading: Heading, root: Path, found: Sequence[Evidence], work: Path) -> str:
    """The change log; ``work`` is a folder that does not exist yet. Raises Problem when the version before does not fit."""
    head = f"# Changes in the results\n\n## {heading.version}\n\n"
    if heading.previous is None:
        return f"{head}The first version: there is nothing to compare it with.\n"
    if heading.previous.elsewhere:
        return f"{head}Replaces {heading.previous}, not at hand when this was written: `zassay compare` tells them apart.\n"
    before = _open(heading.previous, root, work)
    _check_version(heading, before)
    changes = "\n\n".join(_study(item, before) for item in found)
    return f"{head}Compared with {heading.previous}.\n\n{changes}\n"


def _open(previous: Previous, root: Path, work: Path) -> Opened:
    path = root / previous.place
    if not path.exists():
        raise Problem(
            f"campaign.previous: {previous.place}: no such bundle",
            "give its path, or its URL if it is not at hand; or leave the key out",
        )
    before = open_bundle(path, work, lambda name: name.endswith("/verdicts.csv"))
    if before.content_id != previous.content_id:
        raise Problem(f"campaign.previous: {previous.place} is {before.content_id}, not {previous.content_id}")
    return before


def _check_version(heading: Heading, before: Opened) -> None:
    """Versions of one campaign go up."""
    name, _, version = before.label.rpartition("-")
    if name != heading.name or not NAME.fullmatch(name) or not SEMVER.fullmatch(version):
        return
    if tuple(map(int, heading.version.split("."))) <= tuple(map(int, version.split("."))):
        raise Problem(f'campaign.version: "{heading.version}" does not come after {version} (campaign.previous)', "raise it")


def _study(item: Evidence, before: Opened) -> str:
    name = f"results/{item.study}/verdicts.csv"
    if not before.has(name):
        return f"### {item.study}\n\nNew: the version before did not ask this."
    old, new = rows_of(before.data / name), rows_of(item.folder / "verdicts.csv")
    same = before.digests.get(f"results/{item.study}/dataset.csv") == sha256_file(item.folder / "dataset.csv")
    said = "The measurements are the same." if same else "The measurements are others."
    lines = [f"- {line}" for line in changes(old, new)]
    kept = sum(_outcome(new[claim]) == _outcome(old[claim]) for claim in new.keys() & old.keys())
    return "\n".join([f"### {item.study}", "", f"{said} Verdicts as before: {kept} of {len(new)}.", "", *lines]).rstrip()


def rows_of(path: Path) -> Rows:
    return {row.get("claim", ""): row for row in tables.records_of(path)}


def changes(old: Rows, new: Rows) -> Iterator[str]:
    """One line for each claim that is new, gone or decided otherwise."""
    for claim in sorted(old.keys() | new.keys()):
        if claim not in old:
            yield f"{claim}: new: {_outcome(new[claim])}"
        elif claim not in new:
            yield f"{claim}: no longer asked (was {_outcome(old[claim])})"
        elif _outcome(old[claim]) != _outcome(new[claim]):
            yield f"{claim}: was {_outcome(old[claim])}, is {_outcome(new[claim])}"


def _outcome(row: dict[str, str]) -> str:
    detail = row.get("detail", "")
    words = f"{row.get('verdict', '')} ({detail})" if detail else row.get("verdict", "")
    return "".join(char if char.isprintable() else "?" for char in words)[:100]
