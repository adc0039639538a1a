"""Workloads: a tool, the phases it runs in, and how its output becomes metrics. One class per file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zassay import registry

if TYPE_CHECKING:
    from zassay.filesystems import Filesystem
    from zassay.record import RunFiles
    from zassay.study import Settings


@dataclass(frozen=True)
class Phase:
    """One named step of a workload in the guest: a script, its deadline (s), whether it measures or prepares."""

    name: str
    script: str
    deadline_s: float
    measures: bool


class Workload(ABC):
    """Scripts may use ``$OUT``, and the functions ``mark NAME`` and ``snap NAME`` (see measure.PREAMBLE)."""

    name = ""
    packages: dict[str, tuple[str, ...]] = {}

    @abstractmethod
    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        """The phases in order; ``source`` is the guest's path of the device that holds the payload."""

    @abstractmethod
    def metrics(self, run: RunFiles) -> dict[str, float]:
        """Values by metric name (seconds, bytes, shares); raises Unreadable when the output is not whole."""

    @abstractmethod
    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        """What the tool itself says it moved, in bytes, by phase."""


def get(name: str) -> Workload:
    import zassay.workloads as package

    return registry.find(package, Workload, name, "settings.workload.tool", "workload")()  # type: ignore[type-abstract]
