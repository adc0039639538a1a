"""Pure readers of what a guest printed: marks, CPU states, kstats, disk counters, samples. Text in, numbers out.

A file that is cut short or not of its form raises ``Unreadable``; a number is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SECTOR = 512


class Unreadable(Exception):
    """What was printed is not of its form: truncated, corrupted or from a tool we do not know."""


@dataclass(frozen=True)
class Mark:
    """One named moment in the guest: uptime (s, 10 ms steps), wall clock (s, µs steps) and the CPU states in ticks since boot."""

    name: str
    uptime: float
    clock: float
    cpu: tuple[int, ...]


_MARK = re.compile(r"^(\w+) (\d+\.\d\d) (\d+\.\d{6}) cpu((?: \d+){8,10})$")


def marks(text: str) -> dict[str, Mark]:
    """Lines of ``name uptime clock cpu ticks...``; each name once."""
    found: dict[str, Mark] = {}
    for line in _whole_lines(text, "marks"):
        match = _MARK.match(line)
        if not match or match.group(1) in found:
            raise Unreadable(f"marks: {line!r}")
        name, uptime, clock, ticks = match.groups()
        found[name] = Mark(name, float(uptime), float(clock), tuple(map(int, ticks.split())))
    return found


def _whole_lines(text: str, what: str) -> list[str]:
    if text and not text.endswith("\n"):
        raise Unreadable(f"{what}: the last line is cut off")
    return text.splitlines()


def busy_share(before: Mark, after: Mark) -> float:
    """The share of all CPUs' time that was neither idle nor waiting for I/O (0 to 1)."""
    delta = [b - a for a, b in zip(before.cpu, after.cpu, strict=True)]
    total = sum(delta[:8])
    if total <= 0 or min(delta) < 0:
        raise Unreadable(f"CPU states between {before.name} and {after.name} do not grow: {delta}")
    return 1.0 - (delta[3] + delta[4]) / total


def steal_share(before: Mark, after: Mark) -> float:
    delta = [b - a for a, b in zip(before.cpu, after.cpu, strict=True)]
    return delta[7] / max(1, sum(delta[:8]))


def kstat(text: str) -> dict[str, int]:
    """A named kstat (``name type data`` rows under two header lines), by name, never by position."""
    lines = _whole_lines(text, "kstat")
    if len(lines) < 3 or lines[1].split() != ["name", "type", "data"]:
        raise Unreadable("kstat: no header")
    rows = [line.split() for line in lines[2:]]
    if any(len(row) != 3 or not re.fullmatch(r"-?\d+", row[2]) for row in rows):
        raise Unreadable("kstat: a row is not name, type, number")
    return {row[0]: int(row[2]) for row in rows}


@dataclass(frozen=True)
class DiskCounters:
    """One block device since boot: operations, bytes, and milliseconds with work in hand."""

    reads: int
    bytes_read: int
    writes: int
    bytes_written: int
    busy_ms: int


def diskstats(text: str) -> dict[str, DiskCounters]:
    """``/proc/diskstats`` by device name."""
    found = {}
    for line in _whole_lines(text, "diskstats"):
        words = line.split()
        if len(words) < 14 or not all(word.isdigit() for word in words[3:14]):
            raise Unreadable(f"diskstats: {line!r}")
        n = [int(word) for word in words[3:14]]
        found[words[2]] = DiskCounters(n[0], n[2] * SECTOR, n[4], n[6] * SECTOR, n[9])
    return found


def pairs(text: str) -> dict[str, str]:
    """Lines of ``key<TAB>value``; each key once."""
    found: dict[str, str] = {}
    for line in _whole_lines(text, "pairs"):
        key, tab, value = line.partition("\t")
        if not tab or key in found:
            raise Unreadable(f"pairs: {line!r}")
        found[key] = value
    return found


_DD = re.compile(r"^(\d+) bytes .* copied, ", re.M)


def dd_bytes(text: str) -> int:
    """What dd says it copied, in bytes."""
    match = _DD.search(text)
    if not match:
        raise Unreadable(f"dd: no count of bytes in {text[-120:]!r}")
    return int(match.group(1))


def colon_table(text: str) -> dict[str, int]:
    """``/proc/meminfo``-like rows: name, number, optional kB (result in bytes then); other rows are passed over."""
    found = {}
    for name, number, unit in re.findall(r"^(\w+):?\s+(\d+)(?: (kB))?$", text, re.M):
        found[name] = int(number) * (1024 if unit else 1)
    return found


@dataclass(frozen=True)
class Sample:
    """One reading of the sampler: uptime (s) and what each source held then."""

    uptime: float
    parts: dict[str, str]


def samples(text: str) -> list[Sample]:
    """The sampler's file: ``# uptime`` opens a sample, ``= source length`` a part of that many characters."""
    found: list[Sample] = []
    for kind, head, body in _sample_parts(text):
        if kind == "#":
            found.append(Sample(float(head), {}))
        elif found:
            found[-1].parts[head] = body
        else:
            raise Unreadable("samples: a part before the first sample")
    return found


def _sample_parts(text: str) -> Iterator[tuple[str, str, str]]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        match = re.fullmatch(r"(?:# (\d+\.\d+)|= (\S+) (\d+))", text[at:end]) if end >= 0 else None
        if not match:
            # The sampler is ended at any moment: a cut last part is expected, rubbish before it is not.
            if end < 0 or at + 4096 > len(text):
                return
            raise Unreadable(f"samples: {text[at : at + 60]!r}")
        if match.group(1):
            yield "#", match.group(1), ""
            at = end + 1
            continue
        size = int(match.group(3))
        if end + 1 + size + 1 > len(text):
            return
        yield "=", match.group(2), text[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
