"""Gates: checks that decide whether a run counts. One small class per file; each passes, or says what it expected and saw.

A gate that protects only times does not void the counts of an emulated run (whose times decide nothing anyway): there it
leaves a flag. A gate of single metrics voids these and flags the run. Every other failed gate makes the run invalid before
anyone looks at a metric. A gate whose matter does not come up under a run's settings passes, and says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zassay import registry
from zassay.errors import Problem
from zassay.readers import Unreadable

if TYPE_CHECKING:
    from zassay.record import RunFiles


# What reading a spoiled record may raise: a missing key or word, a number that is none or zero, a file that is not JSON.
UNREADABLE = (Unreadable, LookupError, ValueError, ArithmeticError, TypeError, Problem)


COUNTS, TIMES, METRICS = "counts", "times", "metrics"
Finding = tuple[bool, str, str]


@dataclass(frozen=True)
class Verdict:
    """What one gate found."""

    gate: str
    passed: bool
    expected: str
    actual: str
    protects: str = COUNTS

    @property
    def reason(self) -> str:
        return f"gate {self.gate}: expected {self.expected}, saw {self.actual}"


class Gate(ABC):
    """``protects``: COUNTS (any number would be wrong), TIMES (only durations would be), METRICS (those that it is about)."""

    name = ""
    protects = COUNTS

    @abstractmethod
    def check(self, run: RunFiles) -> Finding:
        """(passed, expected, actual)."""

    def verdict(self, run: RunFiles) -> Verdict:
        try:
            passed, expected, actual = self.check(run)
        except UNREADABLE as error:
            passed, expected, actual = False, "a readable record", f"{type(error).__name__}: {error}"
        return Verdict(self.name, passed, expected, actual, self.protects)


def check_all(run: RunFiles) -> list[Verdict]:
    import zassay.gates as package

    return [gate().verdict(run) for _, gate in sorted(registry.every(package, Gate).items())]  # type: ignore[type-abstract]


def no_matter(why: str) -> Finding:
    """Passed, as nothing of the kind can go wrong here."""
    return True, "nothing", why
