"""The output that ior prints for people: options, one line per result, a summary."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zassay.readers import Unreadable

HEADER = re.compile(r"IOR-(\S+): MPI Coordinated Test of Parallel I/O")
OPTION = re.compile(r"([A-Za-z ]+?) *: (.*?) *")
NEEDED = ("Began", "access", "tasks", "repetitions")
NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)
# Some columns have the same name; the first of a name is the one of the bandwidth.
NUMBERS = {"access": ("bw(MiB/s)", "total(s)"), "Operation": ("Max(MiB)", "aggs(MiB)", "#Tasks")}


@dataclass(frozen=True)
class Table:
    """``rows`` are results with their line numbers; ``most`` is the summary's fastest rate (MiB/s) by access."""

    version: str
    options: dict[str, str]
    rows: list[tuple[int, dict[str, str]]]
    most: dict[str, float]
    moved_mib: float
    stopped: bool


def read(text: str) -> Table:
    lines = _lines(text)
    version = _version(lines)
    options = {match.group(1): match.group(2) for _, line in lines if (match := OPTION.fullmatch(line))}
    missing = [name for name in NEEDED if name not in options]
    if missing:
        raise Unreadable(f"{missing[0]} is missing; expected ior's list of options")
    rows, summary = _table(lines, "access"), _table(lines, "Operation")
    if not summary:
        raise Unreadable("Summary of all tests is missing or has no row; expected one for each access")
    moved = {float(row["aggs(MiB)"]) for _, row in summary}
    most = {row["Operation"]: float(row["Max(MiB)"]) for _, row in summary}
    stopped = any(row.get("Stonewall(s)", "NA") != "NA" for _, row in summary) or "stonewallingTime" in options
    if len(most) != len(summary) or (len(moved) != 1 and not stopped):
        raise Unreadable("Summary of all tests: more than one test; expected one in a file")
    return Table(version, options, rows, most, min(moved), stopped)


def _lines(text: str) -> list[tuple[int, str]]:
    if not text.endswith("\n"):
        raise Unreadable("ior: the last line is cut off; expected a line end")
    return list(enumerate((line.rstrip() for line in text.split("\n")[:-1]), 1))


def _version(lines: list[tuple[int, str]]) -> str:
    found = [match.group(1) for _, line in lines if (match := HEADER.fullmatch(line))]
    if len(found) != 1:
        raise Unreadable(f"ior: {len(found)} lines 'IOR-...: MPI Coordinated Test'; expected one in a file")
    return found[0]


def _table(lines: list[tuple[int, str]], first: str) -> list[tuple[int, dict[str, str]]]:
    """Rows of writes and reads under the header whose first column is ``first``."""
    names: list[str] = []
    rows = []
    for number, line in lines:
        words = line.split()
        if words and words[0] in ("access", "Operation") and len(words) > 2 and ":" not in words[1]:
            names = words if words[0] == first else []
        elif names and words and words[0] in ("write", "read"):
            rows.append((number, _row(number, names, words)))
    return rows


def _row(number: int, names: list[str], words: list[str]) -> dict[str, str]:
    if len(words) != len(names):
        raise Unreadable(f"line {number}: {len(words)} columns; expected {len(names)}: {' '.join(names)}")
    row = dict(zip(reversed(names), reversed(words), strict=True))
    for name in NUMBERS[names[0]]:
        if not NUMBER.fullmatch(row.get(name, "")):
            raise Unreadable(f"line {number}, {name}: {row.get(name, '')!r}; expected a number")
    return row


def whole(options: dict[str, str], name: str) -> int:
    if not re.fullmatch(r"\d+", options[name], re.ASCII):
        raise Unreadable(f"{name}: {options[name]!r}; expected a whole number")
    return int(options[name])
