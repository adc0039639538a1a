"""One run's raw folder, read: the files a guest left, and what the host wrote beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from zassay import files, filesystems, readers, workloads
from zassay.filesystems import Filesystem
from zassay.readers import DiskCounters, Mark, Sample, Unreadable
from zassay.study import Settings, settings_of
from zassay.workloads import Span, Workload, numbered


@dataclass(frozen=True)
class RunFiles:
    """``folder`` holds ``guest/`` (what the guest wrote), ``settings.json``, ``facts.json``, ``host.json``, ``status.json``."""

    folder: Path

    def text(self, name: str) -> str:
        path = self.folder / "guest" / name
        if not path.is_file():
            raise Unreadable(f"{name}: the guest left no such file")
        return path.read_text(encoding="utf-8", errors="replace")

    def has(self, name: str) -> bool:
        return (self.folder / "guest" / name).is_file()

    def console(self) -> str:
        """What the guest's kernel said on its console, where a log of it was kept."""
        path = self.folder / "console.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    @cached_property
    def settings(self) -> dict[str, Any]:
        return dict(files.read_json(self.folder / "settings.json"))

    @cached_property
    def plan(self) -> Settings:
        """The settings as they were planned, as a type."""
        return settings_of(self.settings)

    @cached_property
    def facts(self) -> dict[str, Any]:
        return dict(files.read_json(self.folder / "facts.json"))

    @cached_property
    def host(self) -> dict[str, Any]:
        return dict(files.read_json(self.folder / "host.json"))

    @cached_property
    def status(self) -> dict[str, Any]:
        return dict(files.read_json(self.folder / "status.json"))

    @cached_property
    def marks(self) -> dict[str, Mark]:
        return readers.marks(self.text("marks"))

    @cached_property
    def samples(self) -> list[Sample]:
        return readers.samples(self.text("samples"))

    @cached_property
    def workload(self) -> Workload:
        return workloads.get(str(self.settings["workload"]["tool"]))

    @cached_property
    def filesystem(self) -> Filesystem:
        return filesystems.of(self.plan)

    @cached_property
    def spans(self) -> list[Span]:
        return self.workload.spans(self.plan)

    @cached_property
    def counted(self) -> dict[str, int]:
        """What the tool says it moved, in bytes, by the name of the span."""
        return self.workload.counted_bytes(self)

    @cached_property
    def books(self) -> dict[Span, Any]:
        """Ledgers that were read before: gates, metrics and tables all ask for them."""
        return {}

    @property
    def numbers(self) -> range:
        """The runs of this boot, from 1."""
        return range(1, workloads.runs(self.plan) + 1)

    @property
    def cpus(self) -> int:
        return int(self.settings["machine"]["cpus"])

    def pair(self, span: Span) -> tuple[Mark, Mark]:
        start, end = span.marks
        try:
            return self.marks[start], self.marks[end]
        except KeyError as error:
            raise Unreadable(f"marks: {error.args[0]} is missing") from None

    def elapsed(self, span: Span) -> float:
        """Seconds by the guest's wall clock (µs steps)."""
        before, after = self.pair(span)
        return _forward(after.clock - before.clock, span)

    def elapsed_by_uptime(self, span: Span) -> float:
        """Seconds by the guest's uptime (10 ms steps)."""
        before, after = self.pair(span)
        return _forward(round(after.uptime - before.uptime, 2), span)

    def snaps(self, span: Span, what: str) -> tuple[str, str]:
        """The same counters at both ends of a span."""
        start, end = (self.text(f"snap.{mark}.{what}") for mark in span.marks)
        return start, end

    def snapped(self, span: Span, what: str) -> bool:
        return all(self.has(f"snap.{mark}.{what}") for mark in span.marks)

    def kstat_delta(self, span: Span, what: str) -> dict[str, int]:
        before, after = map(readers.kstat, self.snaps(span, what))
        return {key: after[key] - before[key] for key in after if key in before}

    def device_deltas(self, span: Span) -> dict[str, DiskCounters]:
        """Counters of each disk between the ends of a span, by the disk's role."""
        before, after = map(readers.diskstats, self.snaps(span, "diskstats"))
        return {role: readers.minus(before[name], after[name]) for role, name in self.facts["disks"].items() if name in after}

    def pool_delta(self, span: Span) -> DiskCounters:
        """Counters of all pool disks together, between the ends of a span."""
        deltas = [delta for role, delta in self.device_deltas(span).items() if role.startswith("pool")]
        if not deltas:
            raise Unreadable("facts: the guest named no disk of the pool")
        return DiskCounters(*(sum(column) for column in zip(*(vars(delta).values() for delta in deltas), strict=True)))

    def space(self, number: int = 1) -> tuple[int, int]:
        """(logical bytes, bytes used) by the filesystem's own accounting: of a run where each was asked, else at the end."""
        name = f"{numbered('space', number)}.during" if self.workload.asks_during else "space"
        logical, used = self.filesystem.space(self.text(name))
        if logical <= 0 or used <= 0:
            raise Unreadable(f"{name}: {logical} logical and {used} used bytes")
        return logical, used


def _forward(seconds: float, span: Span) -> float:
    if seconds <= 0:
        raise Unreadable(f"the clock did not go forward during {span.name}: {seconds} s")
    return seconds
