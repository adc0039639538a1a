"""The one error type a user is meant to read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Problem(Exception):
    """Something the user can mend: what is wrong, and what to do about it.

    ``message`` names file, key and value; ``hint`` (may hold several lines) names the legal values or the next action.
    The command line prints both without a traceback and exits with 1; ``--debug`` shows the traceback.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        indented = "".join(f"\n  {line}" for line in self.hint.splitlines())
        return f"{self.message}{indented}"


def unknown(where: str, what: str, value: str, known: Iterable[str]) -> Problem:
    """A Problem for a name that is not in a registry, with the nearest legal name."""
    names = sorted(known)
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    hint = f"known {several}: {', '.join(names) or '(none)'}"
    near = difflib.get_close_matches(value, names, n=1)
    if near:
        hint += f"\n(did you mean {near[0]}?)"
    return Problem(f'{where}: unknown {what} "{value}"', hint)
