"""Workloads: a tool, the phases it runs in, and how its output becomes metrics. One class per file.

A workload runs once or several times in one boot; each run has the same measured stretches (spans), and everything that
is counted is counted between the two marks of a span. What else happens meanwhile is a background load, found here too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zassay import registry

if TYPE_CHECKING:
    from zassay.filesystems import Filesystem
    from zassay.record import RunFiles
    from zassay.study import Settings

READ, WRITE, BOTH = "read", "write", "both"
Band = tuple[float, float]


@dataclass(frozen=True)
class Phase:
    """One named step of a workload in the guest: a script, its deadline (s), whether it measures or prepares.

    ``under_load``: the background load of the settings, where there is one, runs beside it.
    """

    name: str
    script: str
    deadline_s: float
    measures: bool
    under_load: bool = False


@dataclass(frozen=True)
class Span:
    """A measured stretch of one run, between two marks.

    ``whole``: it moved all the data there are, and no cache may have served it. ``alone``: it began and ended with a
    process, so that what the kernel counts for processes is the tool's.
    """

    phase: str
    run: int = 1
    moves: str = READ
    whole: bool = False
    alone: bool = True

    @property
    def name(self) -> str:
        return numbered(self.phase, self.run)

    @property
    def marks(self) -> tuple[str, str]:
        return f"{self.name}_start", f"{self.name}_end"


@dataclass(frozen=True)
class Pace:
    """Seconds of work, and the share of one core that the tool's busiest job used of them (0 where it says nothing)."""

    seconds: float
    core: float = 0.0


def numbered(name: str, run: int) -> str:
    """The first run's names are plain, as where there is one run alone."""
    return name if run == 1 else f"{name}.{run}"


class Workload(ABC):
    """Scripts may use ``$OUT``, and the functions ``mark NAME`` and ``snap NAME`` (see measure.PREAMBLE).

    ``may_lack`` names metrics that an honest run can be without (a percentile of too few samples). ``asks_during``: its data
    are gone when it ends, so each run has an account of its own (``space.during``, ``space.2.during``).
    """

    name = ""
    packages: dict[str, tuple[str, ...]] = {}
    may_lack: frozenset[str] = frozenset()
    asks_during = False

    @abstractmethod
    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        """The phases in order; ``source`` is the guest's path of the device that holds the payload."""

    @abstractmethod
    def spans(self, settings: Settings) -> list[Span]:
        """What is measured, run by run."""

    @abstractmethod
    def names(self, settings: Settings) -> frozenset[str]:
        """The metrics that a run under these settings gives."""

    @abstractmethod
    def metrics(self, run: RunFiles, number: int) -> dict[str, float]:
        """The ``number``-th run's values by metric name (seconds, bytes, shares); raises Unreadable when output is not whole."""

    @abstractmethod
    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        """What the tool itself says it moved, in bytes, by the name of the span."""

    def wanted_bytes(self, settings: Settings) -> dict[str, int]:
        """What it was told to move, by the name of the span; a span that is not named may move any number from 1."""
        return {span.name: int(settings.workload["size"]) for span in self.spans(settings)}

    def moved_bytes(self, settings: Settings) -> int:
        """About what it moves in all its runs and before them, each byte as often as it is moved: predictions are made of it."""
        wanted = self.wanted_bytes(settings)
        return sum(wanted.get(span.name, 0) * (2 if span.moves == BOTH else 1) for span in self.spans(settings))

    def scattered(self, settings: Settings) -> int:
        """About how many operations it asks of the disks at random places, in all its runs."""
        return 0

    def failures(self, run: RunFiles) -> list[str]:
        """Errors that the tool tells in its own output, whatever its exit code was."""
        return []

    def cold_proofs(self, settings: Settings) -> list[str]:
        """Files that show an empty cache, one for each time that it was emptied."""
        return ["cold"] if settings.cache == "cold" else []

    def differences(self, run: RunFiles) -> list[str] | None:
        """Where what was read is not what was written; None where the tool compares nothing."""
        return None

    def too_fast(self, run: RunFiles, number: int) -> frozenset[str]:
        """Metrics that the tool could not time: not zero, and not known."""
        return frozenset()

    def payload_bytes(self, settings: Settings) -> int:
        """How much of the payload it takes from the source's device; 0: it makes its data by itself and needs none."""
        return int(settings.workload["size"])

    def promise(self, settings: Settings) -> Band | None:
        """The band for logical/used bytes where the workload makes its own data; None where the payload promises."""
        return None

    def ratios(self, run: RunFiles) -> list[float]:
        """Logical bytes for one byte used, once or run by run: what the promise is compared with."""
        return [logical / used for logical, used in map(run.space, run.numbers)]

    def beyond_cache(self, settings: Settings) -> bool:
        """Has the working set to exceed the ARC, since nothing else keeps the reads from being served by it?"""
        return False

    def pace(self, run: RunFiles, span: Span) -> Pace:
        """How long and how hard the tool itself says that it worked; its start and end are no part of the work."""
        return Pace(run.elapsed(span))

    def logged(self, run: RunFiles, number: int) -> Iterator[tuple[float, str, float, str]]:
        """The tool's own log of a run, second by second: (seconds from its start, series, value, unit)."""
        return iter(())

    def histograms(self, run: RunFiles, number: int) -> dict[str, dict[float, int]]:
        """Latencies of a run where the tool keeps them: operation -> seconds -> count."""
        return {}


@dataclass(frozen=True)
class Load:
    """What a background load did within a span: bytes, bytes per second, and the share of the span in which all of it ran."""

    moved: int
    rate: float
    overlap: float


class Background(ABC):
    """A load beside the measured phase. ``tag`` is the span's name, so that each span has its own record."""

    name = ""

    @abstractmethod
    def start(self, settings: Settings, filesystem: Filesystem, source: str, tag: str) -> str:
        """Start it; the script returns when all of it runs."""

    @abstractmethod
    def stop(self, tag: str) -> str:
        """End it and wait for the end."""

    @abstractmethod
    def achieved(self, run: RunFiles, span: Span) -> Load:
        """What it did between the marks of a span."""


def runs(settings: Settings) -> int:
    return int(settings.workload.get("runs", 1))


def get(name: str) -> Workload:
    import zassay.workloads as package

    return registry.find(package, Workload, name, "settings.workload.tool", "workload")()  # type: ignore[type-abstract]


def background(settings: Settings) -> Background | None:
    """The load that these settings ask for; none, too, where there are no writers in it."""
    import zassay.workloads as package

    if not settings.background or not int(settings.background.get("count", 1)):
        return None
    name = str(settings.background["tool"])
    return registry.find(package, Background, name, "settings.background.tool", "background load")()  # type: ignore[type-abstract]


def steps(settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
    """The workload's phases, with the background load started and stopped around those that run under it."""
    load = background(settings)
    found: list[Phase] = []
    for phase in get(str(settings.workload["tool"])).phases(settings, filesystem, source):
        if load is None or not phase.under_load:
            found.append(phase)
            continue
        start, stop = load.start(settings, filesystem, source, phase.name), load.stop(phase.name)
        found += [Phase(f"load.{phase.name}", start, 120, False), phase, Phase(f"unload.{phase.name}", stop, 300, False)]
    return found
