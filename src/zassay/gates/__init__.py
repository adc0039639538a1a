"""Gates: checks that decide whether a run counts. One small class per file; each passes, or says what it expected and saw.

A gate that protects only times does not void the counts of an emulated run (whose times decide nothing anyway): there it
leaves a flag. Every other failed gate makes the run invalid before anyone looks at a metric.
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


@dataclass(frozen=True)
class Verdict:
    """What one gate found."""

    gate: str
    passed: bool
    expected: str
    actual: str
    protects: str = "counts"

    @property
    def reason(self) -> str:
        return f"gate {self.gate}: expected {self.expected}, saw {self.actual}"


class Gate(ABC):
    """``protects`` is "counts" (any number would be wrong) or "times" (only durations would be)."""

    name = ""
    protects = "counts"

    @abstractmethod
    def check(self, run: RunFiles) -> tuple[bool, str, str]:
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
