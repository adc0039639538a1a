"""A followed process: its lines as they come, an end at its deadline, and time to clean up when we are stopped."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from zassay import proc
from zassay.proc import follow


def test_lines_are_passed_on_and_the_code_returned(tmp_path: Path) -> None:
    said: list[str] = []
    script = "echo one; echo two >&2; pwd; echo $ZASSAY_X; exit 3"
    code = follow(["sh", "-c", script], deadline_s=20, say=said.append, env={"ZASSAY_X": "x"}, cwd=tmp_path)
    assert (code, said) == (3, ["one", "two", str(tmp_path), "x"])


def test_it_ends_at_its_deadline() -> None:
    start = time.monotonic()
    assert follow(["sleep", "60"], deadline_s=0.3, say=print) != 0
    assert time.monotonic() - start < 20


def test_stopped_by_us_it_may_clean_up(tmp_path: Path) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    script = f"trap 'sleep 0.2; touch {tmp_path}/clean; exit' TERM; echo ready; while :; do sleep 0.05; done"
    with pytest.raises(KeyboardInterrupt):
        follow(["sh", "-c", script], deadline_s=20, say=stop)
    assert (tmp_path / "clean").exists()


def test_one_that_will_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(proc, "CLEAN_UP_S", 0.2)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        follow(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"], deadline_s=60, say=stop)
    assert time.monotonic() - start < 20
