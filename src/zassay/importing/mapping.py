"""The map of an import: which file is which run of which cell, and what is stated about all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from zassay import schema
from zassay.errors import Problem, unknown

PLACES = ("block", "run")
_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\}|(\*)")
LOWEST_SAFE = "E"  # counts may decide something, times nothing


@dataclass(frozen=True)
class Entry:
    """Files that a pattern names: ``{name}`` stands for a level of that factor, ``{block}`` and ``{run}`` for numbers."""

    match: str
    levels: dict[str, str]
    block: int | None
    run: int | None


@dataclass(frozen=True)
class Place:
    """Where one file belongs. ``run`` is None when the file itself counts its runs."""

    levels: dict[str, str]
    block: int
    run: int | None


@dataclass(frozen=True)
class Map:
    """``order`` gives levels of a factor in the order of their author; ``gates`` are vouched for, with the evidence."""

    path: Path
    tool: str
    entries: tuple[Entry, ...]
    order: dict[str, list[str]]
    validity: str
    evidence: str
    gates: dict[str, str]
    host: dict[str, str]
    about: dict[str, Any]

    def place(self, path: Path) -> Place:
        """Where a file belongs; raises Problem when no pattern or more than one names it."""
        found = [(entry, fields) for entry in self.entries if (fields := self._fields(entry, path)) is not None]
        if len(found) != 1:
            patterns = "\n".join(entry.match for entry in self.entries)
            count = "no pattern" if not found else f"{len(found)} patterns"
            raise Problem(f"{path}: {count} of {self.path} matches it", f"expected exactly one of:\n{patterns}")
        entry, fields = found[0]
        numbers = {name: _number(path, entry, name, fields) for name in PLACES}
        block, run = numbers["block"], numbers["run"]
        if block is None:
            hint = "runs of one session (one boot) are one block; give block: 1, or {block} in the pattern"
            raise Problem(f"{self.path}: {entry.match}: block is not given", hint)
        levels = entry.levels | {name: level for name, level in fields.items() if name not in PLACES}
        self._check_levels(path, levels)
        return Place(levels, block, run)

    def _fields(self, entry: Entry, path: Path) -> dict[str, str] | None:
        """What a pattern reads out of a path; raises Problem when it can be read in two ways."""
        depth = len(PurePosixPath(entry.match).parts)
        tail = "/".join(path.resolve().parts[-depth:])
        found = [re.fullmatch(_regex(entry.match, self.order, greedy), tail) for greedy in (False, True)]
        if not found[0] or not found[1]:
            return None
        short, long = (match.groupdict() for match in found if match)
        if short != long:
            hint = f"as {_said(short)}, or as {_said(long)}\nlist the levels under factors in {self.path}"
            raise Problem(f"{tail}: {entry.match} can be read in two ways", hint)
        return short

    def _check_levels(self, path: Path, levels: dict[str, str]) -> None:
        for factor, level in levels.items():
            if factor in self.order and level not in self.order[factor]:
                raise unknown(f"{path}: factors.{factor}", "level", level, self.order[factor])


def _said(fields: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in fields.items())


def _number(path: Path, entry: Entry, name: str, fields: dict[str, str]) -> int | None:
    text = fields.get(name)
    if text is None:
        return entry.block if name == "block" else entry.run
    if not re.fullmatch(r"0*[1-9]\d*", text, re.ASCII):
        raise Problem(f'{path}: {name} "{text}" of {entry.match}', "expected a whole number from 1")
    return int(text)


def _regex(pattern: str, order: dict[str, list[str]], greedy: bool) -> str:
    """Fields and stars match within one folder's name; a field whose levels are listed matches only those."""
    lazy = "" if greedy else "?"
    parts, at = [], 0
    for field in _FIELD.finditer(pattern):
        parts.append(re.escape(pattern[at : field.start()]))
        name = field.group(1)
        listed = "|".join(re.escape(level) for level in sorted(order.get(name or "", []), key=len, reverse=True))
        parts.append(f"[^/]*{lazy}" if field.group(2) else f"(?P<{name}>{listed or f'[^/]+{lazy}'})")
        at = field.end()
    return "".join([*parts, re.escape(pattern[at:])])


def load(path: Path) -> Map:
    """Read and check a map file."""
    raw = schema.load_yaml(path, "import")
    validity = raw.get("validity", {})
    stated = validity.get("class", LOWEST_SAFE)
    if stated != LOWEST_SAFE and not validity.get("evidence"):
        hint = f"say why the data are of class {stated}: hypervisor, systemd-detect-virt, who ran it where"
        raise Problem(f"{path}: validity.evidence is missing for class {stated}", hint)
    entries = tuple(_entry(path, index, each) for index, each in enumerate(raw["files"]))
    return Map(
        path=path,
        tool=raw["tool"],
        entries=entries,
        order=raw.get("factors", {}),
        validity=stated,
        evidence=validity.get("evidence", ""),
        gates=raw.get("gates", {}),
        host=raw.get("host", {}),
        about={key: raw[key] for key in ("title", "question", "source", "not_kept") if key in raw},
    )


def _entry(path: Path, index: int, raw: dict[str, Any]) -> Entry:
    names = [field.group(1) for field in _FIELD.finditer(raw["match"]) if field.group(1)]
    where = f"{path}: files[{index}].match"
    twice = sorted({name for name in names if names.count(name) > 1})
    both = sorted(set(names) & {*raw.get("levels", {}), *(key for key in PLACES if key in raw)})
    if twice or both:
        raise Problem(f"{where}: {', '.join(twice or both)} is given twice", "name each field once, in the pattern or beside it")
    return Entry(raw["match"], raw.get("levels", {}), raw.get("block"), raw.get("run"))


def factors_of(path: Path, places: Iterable[Place], order: dict[str, list[str]]) -> dict[str, list[str]]:
    """Levels by factor: as listed, then as they were seen. Every file has to have a level of every factor."""
    found: dict[str, list[str]] = {}
    every = list(places)
    for place in every:
        for factor, level in place.levels.items():
            levels = found.setdefault(factor, [])
            if level not in levels:
                levels.append(level)
    for place in every:
        missing = sorted(set(found) - set(place.levels))
        if missing:
            raise Problem(
                f"{path}: files with {_said(place.levels)} have no {missing[0]}", "give each file a level of each factor"
            )
    if not found:
        raise Problem(f"{path}: no factor", "name what differs between the files: levels, or {name} in a pattern")
    return {factor: _ordered(levels, order.get(factor, [])) for factor, levels in found.items()}


def _ordered(seen: list[str], listed: list[str]) -> list[str]:
    return [*(level for level in listed if level in seen), *(level for level in seen if level not in listed)]
