"""Benchmark tools by what they print: text in, one ``Run`` per run out, in bytes and seconds. One class per file.

Our own workloads and ``zassay import`` read with the same functions, so that a number means the same wherever it was made.
A text that is cut short or contradicts itself is ``Unreadable``; a number is never guessed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from zassay import registry

# Gates that reading a tool's output is enough for: its own error, and phases too fast to be timed.
CHECKED = ("tool", "toofast")


@dataclass(frozen=True)
class Run:
    """One run as its tool tells it. ``values`` by metric name; ``too_fast`` names metrics the tool could not time.

    ``failure`` is the tool's own error: such a run has no values. ``started_at`` is empty when the tool does not say it.
    """

    version: str
    values: dict[str, float] = field(default_factory=dict)
    too_fast: tuple[str, ...] = ()
    failure: str = ""
    flags: tuple[str, ...] = ()
    started_at: str = ""
    duration_s: float = 0.0


@dataclass(frozen=True)
class Kind:
    """What a metric is: its unit, and which direction is better (higher, lower, none)."""

    unit: str
    better: str


class Tool(ABC):
    """``kinds`` are the metrics that its runs may have."""

    name = ""
    kinds: dict[str, Kind] = {}

    @abstractmethod
    def runs(self, text: str) -> list[Run]:
        """The runs of one output file, in order; raises Unreadable."""


def get(name: str, where: str) -> Tool:
    import zassay.tools as package

    return registry.find(package, Tool, name, where, "tool")()  # type: ignore[type-abstract]
