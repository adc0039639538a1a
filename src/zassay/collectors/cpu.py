"""CPU states of the whole guest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point
from zassay.readers import Sample, Unreadable, whole

if TYPE_CHECKING:
    from zassay.record import RunFiles

STATES = "user nice system idle iowait irq softirq steal".split()


class Cpu(Collector):
    name = "cpu"
    specs = ("head:1:/proc/stat",)

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        counted = [(sample.uptime, ticks(sample.parts[self.specs[0]])) for sample in seen if self.specs[0] in sample.parts]
        for (_, before), (end, after) in pairwise(counted):
            spent = {state: after[state] - before[state] for state in STATES}
            total = sum(spent.values())
            if total > 0:
                shares = {state: spent[state] / total for state in ("user", "system", "iowait")}
                shares["busy"] = 1 - (spent["idle"] + spent["iowait"]) / total
                yield from (Point(end, f"cpu_{state}", share, "1") for state, share in shares.items())


def ticks(text: str) -> dict[str, int]:
    words = text.split()
    if len(words) < 1 + len(STATES) or words[0] != "cpu":
        raise Unreadable(f"cpu: {text[:60]!r}")
    return dict(zip(STATES, (whole(word, "cpu") for word in words[1:]), strict=False))
