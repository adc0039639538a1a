"""The pool's transaction groups: when each was born, how much it wrote, how long it was open, quiesced and synced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point
from zassay.filesystems.zfs import KSTAT, POOL
from zassay.readers import Sample, Unreadable, whole

if TYPE_CHECKING:
    from zassay.record import RunFiles

SPEC = f"file:{KSTAT}/{POOL}/txgs"
COLUMNS = "txg birth state ndirty nread nwritten reads writes otime qtime wtime stime".split()
NS = 1e9


class Txgs(Collector):
    """Each reading holds the last of them (``zfs_txg_history``), so their union is all, if few enough come in an interval."""

    name = "txgs"
    specs = (SPEC,)
    commands = {"freebsd": "sysctl -n kstat.zfs.tank.txgs"}

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        for each in every(seen):
            if each.state == "C" and seen[0].uptime <= each.birth <= seen[-1].uptime:
                yield Point(each.birth, "txg_open", each.open_s, "s")
                yield Point(each.birth + each.open_s, "txg_quiesce", each.quiesce_s, "s")
                yield Point(each.synced_at[0], "txg_sync", each.sync_s, "s")


@dataclass(frozen=True)
class Txg:
    """One transaction group: seconds since the guest's boot at its birth, bytes, operations, seconds in each state.

    ``state`` is O, Q, W, S or C: open, quiescing, waiting for the one before, syncing, committed.
    """

    txg: int
    birth: float
    state: str
    dirty: int
    bytes_read: int
    bytes_written: int
    reads: int
    writes: int
    open_s: float
    quiesce_s: float
    wait_s: float
    sync_s: float

    @property
    def synced_at(self) -> tuple[float, float]:
        """From when to when it was written to the disks (s since boot)."""
        start = self.birth + self.open_s + self.quiesce_s + self.wait_s
        return start, start + self.sync_s


def table(text: str) -> list[Txg]:
    """One reading of the kstat; empty when the pool has none."""
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] or lines[0].split() != COLUMNS:
        raise Unreadable("txgs: no header, or cut off")
    return [_txg(line) for line in lines[1:-1]]


def _txg(line: str) -> Txg:
    words = line.split()
    if len(words) != len(COLUMNS) or words[2] not in "BOQWSC":
        raise Unreadable(f"txgs: {line!r}")
    n = [whole(word, "txgs") for index, word in enumerate(words) if index != 2]
    return Txg(n[0], n[1] / NS, words[2], n[2], n[3], n[4], n[5], n[6], n[7] / NS, n[8] / NS, n[9] / NS, n[10] / NS)


def every(samples: Iterable[Sample]) -> list[Txg]:
    """All transaction groups seen, each as it was last seen, by number. A gap between two means that some were forgotten."""
    found: dict[int, Txg] = {}
    for sample in samples:
        found |= {each.txg: each for each in table(sample.parts.get(SPEC, ""))}
    return [found[number] for number in sorted(found)]
