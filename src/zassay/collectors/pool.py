"""The pool's counters that are kept per pool: I/O by kind, and how long callers waited for a transaction group."""

from __future__ import annotations

import re

from zassay.collectors import Collector
from zassay.filesystems.zfs import KSTAT, POOL
from zassay.readers import Unreadable

ASSIGN = f"file:{KSTAT}/{POOL}/dmu_tx_assign"
_ROW = re.compile(r"(\d+) ns +4 +(\d+)", re.ASCII)


class Pool(Collector):
    """``io`` is there in old versions only, what ``iostats`` counts grew with the versions: each is read by name."""

    name = "pool"
    specs = (f"file:{KSTAT}/{POOL}/iostats", f"file:{KSTAT}/{POOL}/io", ASSIGN)


def assign_waits(text: str) -> dict[float, int]:
    """``dmu_tx_assign``: how many callers waited up to so many seconds for a transaction group; powers of two ns."""
    if not text:
        return {}  # nobody has asked for one yet
    lines = text.split("\n")
    if lines[-1] or len(lines) < 3 or lines[1].split() != ["name", "type", "data"]:
        raise Unreadable("dmu_tx_assign: no header, or cut off")
    found: dict[float, int] = {}
    for line in lines[2:-1]:
        match = _ROW.fullmatch(line.rstrip())
        if not match:
            raise Unreadable(f"dmu_tx_assign: {line!r}")
        found[int(match.group(1)) / 1e9] = int(match.group(2))
    return found
