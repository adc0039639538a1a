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


_MARK = re.compile(r"([\w.-]+) (\d+\.\d\d) (\d+\.\d{6}) cpu((?: \d+){10})", re.ASCII)
_INTEGER = re.compile(r"-?\d+", re.ASCII)


def marks(text: str) -> dict[str, Mark]:
    """Lines of ``name uptime clock cpu ticks...``; each name once."""
    found: dict[str, Mark] = {}
    for line in _whole_lines(text, "marks"):
        match = _MARK.fullmatch(line)
        if not match or match.group(1) in found:
            raise Unreadable(f"marks: {line!r}")
        name, uptime, clock, ticks = match.groups()
        found[name] = Mark(name, float(uptime), float(clock), tuple(map(int, ticks.split())))
    return found


def _whole_lines(text: str, what: str) -> list[str]:
    if text and not text.endswith("\n"):
        raise Unreadable(f"{what}: the last line is cut off")
    return text.split("\n")[:-1]


def whole(text: str, what: str) -> int:
    """A whole number and nothing else: ``int`` alone would also take ``1_000``, blanks and other scripts' digits."""
    if not _INTEGER.fullmatch(text):
        raise Unreadable(f"{what}: {text!r} is no whole number")
    return int(text)


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
    found: dict[str, int] = {}
    for row in (line.split() for line in lines[2:]):
        if len(row) != 3 or row[0] in found:
            raise Unreadable(f"kstat: {' '.join(row)!r} is not name, type, number, or is there twice")
        found[row[0]] = whole(row[2], f"kstat: {row[0]}")
    return found


def dataset_kstat(text: str) -> dict[str, int]:
    """The counters of one ZFS dataset; the row that holds its name is no number and is passed over."""
    rows = text.splitlines(keepends=True)
    return kstat("".join(row for row in rows if not row.startswith("dataset_name")))


_INTERFACE = re.compile(r" *(\S+): *(\d+)((?: +\d+){15})", re.ASCII)


def network(text: str) -> int:
    """Bytes over all interfaces, by ``/proc/net/dev``; what goes over the loopback is counted once."""
    return sum(received + (0 if name == "lo" else sent) for name, (received, sent) in interfaces(text).items())


def interfaces(text: str) -> dict[str, tuple[int, int]]:
    """Bytes (received, sent) by interface."""
    lines = _whole_lines(text, "network")
    if len(lines) < 3 or "|bytes" not in lines[1]:
        raise Unreadable("network: no header")
    found: dict[str, tuple[int, int]] = {}
    for line in lines[2:]:
        match = _INTERFACE.fullmatch(line)
        if not match or match.group(1) in found:
            raise Unreadable(f"network: {line!r}")
        name, received, rest = match.groups()
        found[name] = int(received), int(rest.split()[7])
    return found


# 2.1 and 2.2 say it per entry, 2.3 of the whole table: "DDT entries 2056, size 448B on disk, 144B in core".
_DDT = re.compile(r"DDT entries (\d+), size [\d.]+[BKMG]? on disk, ([\d.]+)([BKMG]?) in core", re.ASCII)
_UNIT = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def dedup_core_bytes(text: str, per_entry: bool) -> int:
    """Memory of the deduplication table by ``zpool status -D``; 0 where it says that there is none."""
    found = _DDT.search(text)
    if found:
        each = float(found.group(2)) * _UNIT[found.group(3)]
        return round(each * (int(found.group(1)) if per_entry else 1))
    if "no DDT entries" in text:
        return 0
    raise Unreadable("dedup: the pool tells no number of DDT entries")


_NICE = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}
_TOTAL = re.compile(r"^ *Total +([\d.]+)([KMGT]?)(?: +\S+){3} +([\d.]+)([KMGT]?)(?: +\S+){3}$", re.ASCII | re.M)


def dedup_ratio(text: str) -> float:
    """Blocks referenced for one block allocated, by the histogram of ``zpool status -D``; 1 where there is no table."""
    match = _TOTAL.search(text)
    if match:
        allocated, referenced = (float(match.group(at)) * _NICE[match.group(at + 1)] for at in (1, 3))
        return referenced / allocated
    if "no DDT entries" in text:
        return 1.0
    raise Unreadable("dedup: the pool shows no histogram")


@dataclass(frozen=True)
class DiskCounters:
    """One block device since boot: operations, bytes, and milliseconds with work in hand."""

    reads: int
    bytes_read: int
    writes: int
    bytes_written: int
    busy_ms: int


def minus(before: DiskCounters, after: DiskCounters) -> DiskCounters:
    return DiskCounters(*(b - a for a, b in zip(vars(before).values(), vars(after).values(), strict=True)))


DISK_COLUMNS = (14, 18, 20)  # Linux 2.6, 4.18 (discards), 5.5 (flushes): another number means that a column broke


def diskstats(text: str) -> dict[str, DiskCounters]:
    """``/proc/diskstats`` by device name."""
    found: dict[str, DiskCounters] = {}
    for line in _whole_lines(text, "diskstats"):
        words = line.split()
        if len(words) not in DISK_COLUMNS or words[2] in found:
            raise Unreadable(f"diskstats: {line!r}")
        n = [whole(word, "diskstats") for word in words[3:14]]
        if min(n) < 0:
            raise Unreadable(f"diskstats: {line!r}")
        found[words[2]] = DiskCounters(n[0], n[2] * SECTOR, n[4], n[6] * SECTOR, n[9])
    return found


def pairs(text: str) -> dict[str, str]:
    """Lines of ``key<TAB>value``; each key once."""
    found: dict[str, str] = {}
    for line in _whole_lines(text, "pairs"):
        key, tab, value = line.partition("\t")
        if not tab or key in found or "\t" in value:
            raise Unreadable(f"pairs: {line!r}")
        found[key] = value
    return found


_DD = re.compile(r"\d+\+\d+ records in\n\d+\+\d+ records out\n(\d+) bytes (?:\([^()\n]*\) )?copied, [^\n]+\n", re.ASCII)


def dd_bytes(text: str) -> int:
    """What dd says it copied, in bytes; it has to have said all that it says, and nothing else."""
    match = _DD.fullmatch(text)
    if not match:
        raise Unreadable(f"dd: no count of bytes in {text[-120:]!r}")
    return int(match.group(1))


_ROW = re.compile(r"(\w+):? +(\d+)(?: (kB))?", re.ASCII)


def colon_table(text: str) -> dict[str, int]:
    """``/proc/meminfo``-like rows: name, number, optional kB (result in bytes then); other rows are passed over."""
    found: dict[str, int] = {}
    for line in _whole_lines(text, "table"):
        match = _ROW.fullmatch(line)
        if match and match.group(1) in found:
            raise Unreadable(f"table: {match.group(1)} is there twice")
        if match:
            found[match.group(1)] = int(match.group(2)) * (1024 if match.group(3) else 1)
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


_SAMPLE = re.compile(r"(?:# (\d+\.\d\d)|= (\S+) (\d+))", re.ASCII)
_LATER = re.compile(r"\n# \d+\.\d\d\n", re.ASCII)


def _sample_parts(text: str) -> Iterator[tuple[str, str, str]]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        if end < 0:
            return  # the sampler is ended at any moment: a cut last part is expected, rubbish anywhere is not
        match = _SAMPLE.fullmatch(text[at:end])
        if not match:
            raise Unreadable(f"samples: {text[at : at + 60]!r}")
        if match.group(1):
            yield "#", match.group(1), ""
            at = end + 1
            continue
        after = end + 1 + int(match.group(3))
        if _cut_short(text, end, after):
            return
        yield "=", match.group(2), text[end + 1 : after]
        at = after + 1


def _cut_short(text: str, end: int, after: int) -> bool:
    """Is this part the last, and not all there? A part that is said to reach beyond a later sample is rubbish."""
    rest = text[end : after + 1]
    if after < len(text) and rest.endswith("\n"):
        return False
    if after < len(text) or _LATER.search(rest):
        raise Unreadable(f"samples: a part is not as long as it says: {text[end - 60 : end]!r}")
    return True
