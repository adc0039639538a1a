"""One run's raw folder, read: the files a guest left, and what the host wrote beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from zassay import files, filesystems, readers
from zassay.readers import DiskCounters, Mark, Sample, Unreadable


@dataclass(frozen=True)
class RunFiles:
    """``folder`` holds ``guest/`` (what the guest wrote), ``settings.json``, ``facts.json``, ``host.json``, ``status.json``."""

    folder: Path

    def text(self, name: str) -> str:
        path = self.folder / "guest" / name
        if not path.is_file():
            raise Unreadable(f"{name}: the guest left no such file")
        return path.read_text(encoding="utf-8", errors="replace")

    @cached_property
    def settings(self) -> dict[str, Any]:
        return dict(files.read_json(self.folder / "settings.json"))

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

    @property
    def cpus(self) -> int:
        return int(self.settings["machine"]["cpus"])

    def pair(self, phase: str) -> tuple[Mark, Mark]:
        try:
            return self.marks[f"{phase}_start"], self.marks[f"{phase}_end"]
        except KeyError as error:
            raise Unreadable(f"marks: {error.args[0]} is missing") from None

    def elapsed(self, phase: str) -> float:
        """Seconds by the guest's wall clock (µs steps)."""
        before, after = self.pair(phase)
        return _forward(after.clock - before.clock, phase)

    def elapsed_by_uptime(self, phase: str) -> float:
        """Seconds by the guest's uptime (10 ms steps)."""
        before, after = self.pair(phase)
        return _forward(round(after.uptime - before.uptime, 2), phase)

    def arc_delta(self, phase: str) -> dict[str, int]:
        before, after = (readers.kstat(self.text(f"snap.{phase}_{end}.arcstats")) for end in ("start", "end"))
        return {key: after[key] - before[key] for key in after if key in before}

    def pool_delta(self, phase: str) -> DiskCounters:
        """Counters of all pool disks together, between the start and the end of a phase."""
        names = [name for role, name in self.facts["disks"].items() if role.startswith("pool")]
        if not names:
            raise Unreadable("facts: the guest named no disk of the pool")
        before, after = (readers.diskstats(self.text(f"snap.{phase}_{end}.diskstats")) for end in ("start", "end"))
        deltas = [[b - a for a, b in zip(vars(before[n]).values(), vars(after[n]).values(), strict=True)] for n in names]
        return DiskCounters(*(sum(column) for column in zip(*deltas, strict=True)))

    def space(self) -> tuple[int, int]:
        """(logical bytes, bytes used) by the filesystem's own accounting."""
        logical, used = filesystems.get(self.settings["filesystem"]).space(self.text("space"))
        if logical <= 0 or used <= 0:
            raise Unreadable(f"space: {logical} logical and {used} used bytes")
        return logical, used


def _forward(seconds: float, phase: str) -> float:
    if seconds <= 0:
        raise Unreadable(f"the clock did not go forward during {phase}: {seconds} s")
    return seconds
