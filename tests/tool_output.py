"""Recorded outputs of benchmark tools, and what can happen to a file on its way."""

from __future__ import annotations

from pathlib import Path

from zassay.readers import Unreadable
from zassay.tools import Run, Tool

GOLDEN = Path(__file__).parent / "golden"


def recorded(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def runs_or_none(tool: Tool, text: str) -> list[Run] | None:
    """None when the text is refused; any other exception is a defect and passes through."""
    try:
        return tool.runs(text)
    except Unreadable as problem:
        assert str(problem), "a refusal says what is wrong"
        return None


def changed(text: str, at: int, char: str) -> str:
    return text[:at] + char + text[at + 1 :]
