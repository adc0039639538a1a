"""The ARC's own counters, by name: from 2.2 a hit on data that are on their way is an iohit, and illumos lacks some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point, levels
from zassay.readers import Sample, kstat

if TYPE_CHECKING:
    from zassay.record import RunFiles


class Arc(Collector):
    name = "arc"
    specs = ("file:/proc/spl/kstat/zfs/arcstats",)
    commands = {"freebsd": "sysctl kstat.zfs.misc.arcstats", "illumos": "kstat -p zfs:0:arcstats"}

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        yield from levels(seen, self.specs[0], sizes, "B")


def sizes(text: str) -> Mapping[str, float]:
    found = kstat(text)
    return {"arc_size": found["size"], "arc_c_max": found["c_max"]}
