"""The pool's vdevs each interval, as ``zpool iostat -lqv`` tells them: latencies and queues beside operations and bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zassay.collectors import Collector, beside, ended
from zassay.filesystems.zfs import POOL
from zassay.readers import Unreadable

FILE = "zpool.iostat"
_TIME = re.compile(r"\d{9,11}", re.ASCII)
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


class Iostat(Collector):
    name = "iostat"
    commands = dict.fromkeys(("freebsd", "illumos"), f"zpool iostat -lqvp -T u {POOL}")

    def start(self, interval_s: float) -> str:
        # Whole seconds: zpool takes fractions, but says its time in seconds.
        return beside(self.name, f"zpool iostat -lqvp -T u {POOL} {max(1, round(interval_s))} >$OUT/{FILE}")

    def stop(self) -> str:
        return ended(self.name)


@dataclass(frozen=True)
class Row:
    """One vdev at one time (s, the guest's clock). ``values`` by group and column (``total_wait.read``), in bytes, operations
    per second and ns, as zpool says them; what it could not tell (``-``) is not there. The first rows are since boot."""

    at: int
    vdev: str
    values: dict[str, float]


def table(text: str) -> list[Row]:
    """Every whole line; versions differ in their columns, so each is read by the names above it."""
    found: list[Row] = []
    at, groups, names = 0, list[str](), list[str]()
    lines = text.split("\n")
    for line, above in zip(lines[:-1], ["", *lines], strict=False):
        words = line.split()
        if _TIME.fullmatch(line):
            at, names = int(line), []
        elif words[:2] == ["capacity", "operations"]:
            groups = words
        elif words[:2] == ["pool", "alloc"] and above.split() == groups:
            names = _columns(groups, words[1:])
        elif line and set(line) != {"-", " "}:
            found.append(_row(at, names, words, line))
    return found


def _columns(groups: list[str], columns: list[str]) -> list[str]:
    """A group stands over two columns, but over one that is called wait (scrub, trim, rebuild)."""
    found: list[str] = []
    for group in groups:
        width = 1 if columns[len(found) : len(found) + 1] == ["wait"] else 2
        found += [f"{group}.{column}" for column in columns[len(found) : len(found) + width]]
    if len(found) != len(columns):
        raise Unreadable(f"zpool iostat: {len(groups)} groups over {len(columns)} columns")
    return found


def _row(at: int, names: list[str], words: list[str], line: str) -> Row:
    values = dict(zip(names, words[1:], strict=False))
    if not at or not names or len(words) != len(names) + 1 or not all(v == "-" or _NUMBER.fullmatch(v) for v in words[1:]):
        raise Unreadable(f"zpool iostat: {line!r}")
    return Row(at, words[0], {name: float(value) for name, value in values.items() if value != "-"})
