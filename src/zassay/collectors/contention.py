"""How often the kernel's locks are waited for, each interval: its own tracepoints, counted and nothing else kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point, beside, ended
from zassay.readers import Sample, Unreadable

if TYPE_CHECKING:
    from zassay.record import RunFiles

FILE = "contention"
BEGIN = "lock:contention_begin"
_LINE = re.compile(r" *(\d+\.\d+),(\d+|<not counted>),,([\w:]+),(\d+),([\d.]+),.*", re.ASCII)


class Contention(Collector):
    name = "contention"
    packages = {"debian": ("linux-perf",)}
    commands = {"freebsd": "lockstat -A -D 20 sleep 1", "illumos": "lockstat -CcwP -D 20 sleep 1"}

    def start(self, interval_s: float) -> str:
        # perf counts from its own start; the uptime before it says when that was.
        stat = f"perf stat -a -e {BEGIN} -I {max(100, round(1000 * interval_s))} -x, -o $OUT/{FILE}"
        return f"read -r _up _ </proc/uptime; echo $_up >$OUT/{FILE}.start\n{beside(self.name, stat)}"

    def stop(self) -> str:
        return ended(self.name, "INT")

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        if not run.has(FILE):
            return
        waits = counts(run.text(FILE), run.text(f"{FILE}.start"))
        for (start, _), (end, number) in pairwise(waits):
            if seen[0].uptime < end <= seen[-1].uptime and end > start:
                yield Point(end, "lock_contentions", number / (end - start), "1/s")


def counts(text: str, start: str) -> list[tuple[float, int]]:
    """(seconds since the guest's boot at the interval's end, waits begun in it)."""
    began = float(start)
    found = []
    for line in text.split("\n")[:-1]:
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if not match or match.group(3) != BEGIN:
            raise Unreadable(f"contention: {line!r}")
        if match.group(2).isdigit():
            found.append((began + float(match.group(1)), int(match.group(2))))
    return found
