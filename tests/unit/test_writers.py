"""The writers beside a read: their records, and the script itself, run here for real."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zassay.readers import Unreadable
from zassay.workloads import writers
from zassay.workloads.writers import Beat, beats, moved_at

MIB = 1 << 20


def test_bytes_until_a_moment_are_in_proportion() -> None:
    record = [Beat(10.0, 0, "begin"), Beat(11.0, 100, ""), Beat(13.0, 300, ""), Beat(13.5, 300, "end")]
    assert [moved_at(record, at) for at in (9.0, 10.0, 10.5, 11.0, 12.0, 13.2, 20.0)] == [0, 0, 50, 100, 200, 300, 300]


@pytest.mark.parametrize("text", ["0 1.0", "0 1.0 5", "x 1.0 5\n", "0 1.0 x\n", "0 2.0 5\n0 1.0 6\n", "0 1.0 5\n0 2.0 4\n"])
def test_a_record_that_is_cut_or_goes_back_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        beats(text)


@given(st.lists(st.tuples(st.floats(0.01, 5), st.integers(0, 1000)), min_size=1, max_size=8), st.floats(0, 50))
def test_bytes_never_exceed_what_was_written(increments: list[tuple[float, int]], moment: float) -> None:
    record, at, moved = [Beat(0.0, 0, "begin")], 0.0, 0
    for seconds, more in increments:
        at, moved = at + seconds, moved + more
        record.append(Beat(at, moved, ""))
    assert 0 <= moved_at(record, moment) <= moved


def run_writers(tmp_path: Path, **words: Any) -> subprocess.Popen[bytes]:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(MIB))
    own = {
        "dir": tmp_path,
        "out": tmp_path / "record",
        "data": data,
        "keep": MIB,
        "own": 0,
        "count": 2,
        "files": 2,
        "block": 65536,
    }
    own |= {"part": 262144, "stride": 262144, "size": 262144, "total": 0, "fsync": "none", "rate": 0, **words}
    command = ["perl", str(writers.SCRIPT), *(f"{key}={value}" for key, value in own.items())]
    return subprocess.Popen(command, start_new_session=True)


def until(said: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not said():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_writers_write_until_they_are_told_to_stop(tmp_path: Path) -> None:
    process = run_writers(tmp_path, rate=4 << 20)
    until(lambda: text_of(tmp_path / "record").count("\n") >= 8)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(20) == 0
    found = beats((tmp_path / "record").read_text())
    assert set(found) == {0, 1}
    for record in found.values():
        assert (record[0].word, record[0].moved, record[-1].word) == ("begin", 0, "end")
        seconds = record[-1].uptime - record[0].uptime
        assert record[-1].moved <= (4 << 20) * (seconds + 0.1) + 65536, "no faster than the rate"
    assert {(tmp_path / f"writers.{number}").stat().st_size for number in (0, 1)} == {262144}, "at the end they begin anew"


def test_writers_with_a_total_end_by_themselves(tmp_path: Path) -> None:
    process = run_writers(tmp_path, total=1 << 20, size=1 << 20, part=1 << 20, stride=1 << 20, fsync="end", block=MIB)
    assert process.wait(20) == 0
    assert [record[-1].moved for record in beats((tmp_path / "record").read_text()).values()] == [MIB, MIB]
    data = (tmp_path / "data").read_bytes()
    assert all((tmp_path / f"writers.{number}").read_bytes() == data for number in (0, 1))


def test_a_shared_file_is_written_in_turns_of_blocks(tmp_path: Path) -> None:
    """ior's segments: rank 0's block, rank 1's, then the next segment; each transfer is the same bytes."""
    block, tasks, segments = 131072, 3, 2
    process = run_writers(
        tmp_path,
        count=tasks,
        files=1,
        keep=65536,
        part=block,
        stride=block * tasks,
        size=block * segments,
        total=block * segments,
        fsync="end",
    )
    assert process.wait(20) == 0
    whole = (tmp_path / "writers.0").read_bytes()
    assert len(whole) == block * tasks * segments
    assert {whole[at : at + 65536] for at in range(0, len(whole), 65536)} == {(tmp_path / "data").read_bytes()[:65536]}


def test_a_writer_that_cannot_write_says_so(tmp_path: Path) -> None:
    process = run_writers(tmp_path, total=1 << 20, dir="/dev/full/..", count=1, files=1)
    assert process.wait(20) == 1
