"""Counters of every block device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point, rates
from zassay.readers import Sample, diskstats

if TYPE_CHECKING:
    from zassay.record import RunFiles


class Disk(Collector):
    name = "disk"
    specs = ("file:/proc/diskstats",)

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        names = [name for role, name in run.facts["disks"].items() if role.startswith("pool")]

        def moved(text: str) -> Mapping[str, float]:
            found = [disk for name, disk in diskstats(text).items() if name in names]
            return {
                "disk_read_rate": sum(disk.bytes_read for disk in found),
                "disk_write_rate": sum(disk.bytes_written for disk in found),
            }

        yield from rates(seen, self.specs[0], moved, "B/s")
