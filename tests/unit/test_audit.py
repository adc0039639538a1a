"""`zassay audit`: a table that explains one boot, from the tool down to the host; no spoiled record ends it without a word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden_record import GOLDEN, RUNS, change, copied, recorded, rewrite, swap

from zassay import cli, ledger
from zassay.commands import audit
from zassay.record import RunFiles

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in RUNS.glob("*.tar.xz"))


def told(record: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["audit", str(record)]) == 0
    return capsys.readouterr().out


def test_a_copy_is_explained_from_the_tool_to_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(GOLDEN, capsys)
    assert "copy on zfs: compression lz4 × corpus text" in text
    assert text.index("run 1, write: 2.9 s, device-bound: the pool's disks") < text.index("run 1, read: 0.5 s, CPU-bound")
    assert re.search(r"copy says that it read +32 MiB   100.0%", text)
    assert "× 1.71 (compression)" in text and "gates: 23 of 23 passed" in text
    assert "QEMU" not in text, "what nobody counted has no row"


def test_runs_are_explained_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(recorded("fio", tmp_path), capsys)
    assert [f"run {number}, randread" in text for number in range(1, 7)] == [True] * 5 + [False]
    assert "of these, brought by prefetch" in text and "the same disks, as QEMU counts them" in text
    assert "the disks can do 60 MiB/s" in text


@pytest.mark.parametrize("name", NAMES)
def test_every_label_and_row_is_in_words(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(recorded(name, tmp_path), capsys)
    assert "None" not in text and "no ledger" not in text and "gates: " in text
    assert max(map(len, text.splitlines())) < 400


def test_every_label_has_its_reason() -> None:
    labels = {value for name, value in vars(ledger).items() if name.isupper() and isinstance(value, str)}
    assert {label for label in labels if label.endswith("-bound")} | {ledger.UNKNOWN} == set(audit.WHY)


def test_a_failed_gate_stands_first_with_what_it_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = copied(tmp_path)
    rewrite(record, "pool", swap("ONLINE", "DEGRADED"))
    lines = told(record, capsys).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("gates: "))
    assert lines[at] == "gates: 22 of 23 passed"
    assert lines[at + 1] == "  FAIL health      expected whole and under 80% full; saw DEGRADED and 10% full"
    assert lines[1].startswith("invalid, validity class E")


def test_a_boot_that_failed_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = copied(tmp_path)
    change(record, "status.json", lambda status: status.update(status="failed", step="create", reason="exit code 1: no room"))
    assert "FAILED in step create: exit code 1: no room" in told(record, capsys)


def test_a_counter_that_is_gone_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = copied(tmp_path)
    (record / "guest" / "snap.read_end.arcstats").unlink()
    text = told(record, capsys)
    assert "run 1, read: no ledger: snap.read_end.arcstats: the guest left no such file" in text
    assert "run 1, write: 2.9 s" in text


def test_no_record_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", str(tmp_path)]) == 1
    assert "no record of a run" in capsys.readouterr().err


def test_hits_that_do_not_add_up_are_shouted(tmp_path: Path) -> None:
    record = copied(tmp_path)
    rewrite(
        record, "snap.read_end.arcstats", swap("hits                            4    ", "hits                            4    9")
    )
    assert any("THEY DO NOT ADD UP" in line for line in audit.lines(RunFiles(record)))
