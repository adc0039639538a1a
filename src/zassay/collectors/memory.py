"""Memory of the guest: free, cached, slab, swap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point, levels
from zassay.readers import Sample, colon_table

if TYPE_CHECKING:
    from zassay.record import RunFiles


class Memory(Collector):
    name = "memory"
    specs = ("file:/proc/meminfo",)

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        yield from levels(seen, self.specs[0], used, "B")


def used(text: str) -> Mapping[str, float]:
    found = colon_table(text)
    return {"memory_used": found["MemTotal"] - found["MemAvailable"]}
