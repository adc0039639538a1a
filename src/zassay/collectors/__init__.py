"""Collectors: what is sampled in the guest while a workload runs. One small class per file; each names its sources.

On Linux one sampler in the guest reads files at the same moments (``specs``); a tool that samples by itself is started and
stopped beside it (``start``, ``stop``). Other systems print the same with a command (``commands``, by family of the image);
what reads it is by name, so that counters which one system lacks are missing and never another's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from zassay.readers import Sample

if TYPE_CHECKING:
    from zassay.record import RunFiles

SAMPLER = Path(__file__).with_name("sampler.pl")
PIDS = "/run/zassay/collector"
END_S = 20


@dataclass(frozen=True)
class Point:
    """One value of a series at a moment (s of the guest's uptime); of a span (unit s) the moment that it began."""

    uptime: float
    series: str
    value: float
    unit: str


class Collector:
    """``specs`` are the sampler's sources (see sampler.pl) on the Linux family.

    ``start`` and ``stop`` are shell text and may use ``$OUT``; what ``start`` leaves running, ``stop`` ends.
    """

    name = ""
    specs: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = {}
    # Not run by the authors: no guest of these families was measured.
    commands: Mapping[str, str] = {}

    def start(self, interval_s: float) -> str:
        return ""

    def stop(self) -> str:
        return ""

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        """What figures may draw (docs/series.md) of these samples, of which the first is the last before the stretch."""
        return iter(())


def levels(seen: list[Sample], spec: str, read: Callable[[str], Mapping[str, float]], unit: str) -> Iterator[Point]:
    """What a source said at each sample; one that was cut off says nothing."""
    for sample in seen[1:]:
        if spec in sample.parts:
            yield from (Point(sample.uptime, name, value, unit) for name, value in read(sample.parts[spec]).items())


def rates(seen: list[Sample], spec: str, read: Callable[[str], Mapping[str, float]], unit: str) -> Iterator[Point]:
    """The growth of counters between each sample and the next, per second."""
    counted = [(sample.uptime, read(sample.parts[spec])) for sample in seen if spec in sample.parts]
    for (start, before), (end, after) in pairwise(counted):
        if end > start:
            yield from (Point(end, name, (after[name] - before[name]) / (end - start), unit) for name in after if name in before)


def beside(name: str, command: str) -> str:
    """Start a tool beside the workload, in a group of its own, and keep its id."""
    return f"setsid {command} </dev/null &\necho $! >{PIDS}.{name}\n"


def ended(name: str, signal: str = "TERM") -> str:
    """Ask it to end, wait until it has written what it has, and end it by force if it does not.

    A shell's background processes ignore INT unless they ask for it, as perf does."""
    return (
        f"_pid=$(cat {PIDS}.{name})\nkill -{signal} $_pid 2>/dev/null || true\n"
        f"for _n in $(seq {END_S * 10}); do if [ ! -e /proc/$_pid ]; then break; fi; sleep 0.1; done\n"
        "kill -KILL -- -$_pid 2>/dev/null || true\n"
    )


def start_all(found: Iterable[Collector], interval_s: float) -> str:
    return "".join(each.start(interval_s) for each in found)


def stop_all(found: Iterable[Collector]) -> str:
    return "".join(each.stop() for each in found)
