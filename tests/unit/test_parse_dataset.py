"""From a real record to rows: what is written is what was read, and a run that does not count has a reason and no value."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from golden_record import GOLDEN, change, copied, golden, rewrite, swap
from hypothesis import given
from hypothesis import strategies as st

from zassay import dataset, files, parse, timing
from zassay.errors import Problem
from zassay.gates import Verdict
from zassay.ledger import ARC, CPU, DEVICE, HOLE, UNKNOWN, Book, _label, book, host_bytes

CELL = "lz4_text_50"
PARSED = parse.parse_run(GOLDEN)
METRICS = [
    {"name": "write_time", "unit": "s", "better": "lower", "resolution": 0.001},
    {"name": "read_time", "unit": "s", "better": "lower", "resolution": 0.001},
    {"name": "compressratio", "unit": "x", "better": "higher", "resolution": None},
    {"name": "thread_cap", "unit": "1", "better": "none", "resolution": None},
    {"name": "pool_bytes_read", "unit": "B", "better": "lower", "resolution": None},
]
LEVELS = {"compression": "lz4", "corpus": "text", "zio_taskq_batch_pct": "50"}
PLAN: dict[str, Any] = {
    "study": "s",
    "title": "A study",
    "campaign": "c",
    "factors": list(LEVELS),
    "metrics": METRICS,
    "cells": [{"id": CELL, "levels": LEVELS}],
    "order": [{"block": 1, "position": 7, "cell": CELL}],
    "prereg": "p" * 64,
    "predicted_s": 20.0,
}
# The order of the contract: every later stage, R's too, reads the columns by these names.
COLUMNS = """study campaign protocol cell block boot run position status reason flags metric unit higher_is_better value
resolution
f_compression f_corpus f_zio_taskq_batch_pct bound validity_class synthetic mode image image_digest kernel zfs accel cpu_model
host started_at duration_s prereg raw""".split()


def failed(tmp_path: Path) -> Path:
    """A run that ended in a step: no guest files, no facts."""
    record = copied(tmp_path)
    for path in (record / "guest").iterdir():
        path.unlink()
    (record / "facts.json").unlink()
    change(record, "status.json", lambda status: status.update(status="failed", step="create", reason="exit code 1: no room"))
    return record


def table(tmp_path: Path, parsed: dict[str, Any]) -> list[dict[str, str]]:
    files.write_json(tmp_path / "parsed" / CELL / "block-01.json", parsed)
    count = dataset.write(tmp_path, PLAN)
    with (tmp_path / "dataset.csv").open(newline="", encoding="utf-8") as handle:
        found = list(csv.DictReader(handle))
    assert len(found) == count
    return found


# parse


def test_a_real_record_becomes_measurements() -> None:
    assert (PARSED["status"], PARSED["reason"], PARSED["flags"]) == ("ok", "", ["buffered"])
    assert [run["run"] for run in PARSED["runs"]] == [1]
    found = PARSED["runs"][0]["measurements"]
    assert found["compressratio"] == pytest.approx(33609728 / 19652608)
    assert (found["logical_bytes"], found["used_bytes"]) == (33609728, 19652608)
    assert found["write_time"] == pytest.approx(1795254652.924069 - 1795254650.029598)
    assert found["total_time"] == pytest.approx((17.08 - 14.19) + (22.03 - 21.55))
    assert (found["wr_iss_threads"], found["thread_cap"]) == (2, 0.5)
    assert found["total_time"] == pytest.approx(found["write_time"] + found["read_time"], abs=0.05)
    assert [(each["phase"], each["bound"]) for each in PARSED["runs"][0]["ledger"]] == [("write", DEVICE), ("read", CPU)]


def books() -> list[Book]:
    run = golden()
    return [book(run, span) for span in run.spans]


def test_a_real_ledger_adds_up() -> None:
    write, read = books()
    (logical, used), (host_wrote, host_read) = golden().space(), host_bytes(golden())
    assert write.cache and read.cache and write.cache.adds_up and read.cache.adds_up
    assert host_wrote >= write.pool.bytes_written >= used * 0.95
    assert host_read >= read.pool.bytes_read >= used * 0.95
    assert (write.application, read.application) == (32 << 20, 32 << 20) and logical > used
    assert set(write.devices) == {"pool0", "root", "source"} and write.devices["pool0"] == write.pool
    assert read.cache.fetched * (128 << 10) == 32 << 20, "each record was missed once, by whom it was asked for"
    assert 0 < write.cpu_busy < 1 and 0 < write.device_busy < 1.1
    assert (write.host, write.process, write.dataset, write.network) == (None, None, None, None), "an older record has none"


@pytest.mark.parametrize(
    ("hits", "from_device", "device_busy", "cpu_busy", "label"),
    [
        (0.0, 1.0, 0.95, 0.3, DEVICE),
        (0.0, 1.0, 0.5, 0.4, DEVICE),
        (0.0, 1.0, 0.3, 0.9, CPU),
        (0.95, 0.05, 0.1, 0.9, ARC),
        (0.1, 0.05, 0.1, 0.9, HOLE),
        (0.3, 0.5, 0.1, 0.1, DEVICE),
        (0.6, 0.4, 0.1, 0.1, ARC),
        (0.0, 1.0, 0.1, 0.1, UNKNOWN),
    ],
)
def test_what_bound_a_run(hits: float, from_device: float, device_busy: float, cpu_busy: float, label: str) -> None:
    assert _label(hits, from_device, device_busy, cpu_busy) == label


def test_the_ledger_knows_counters_that_do_not_add_up() -> None:
    cache = books()[1].cache
    assert cache and not dataclasses.replace(cache, hits=cache.hits + 1).adds_up


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["counts", "times"])), max_size=6), st.booleans())
def test_a_run_counts_when_no_gate_voids_it(passed: list[tuple[bool, str]], emulated: bool) -> None:
    found = [Verdict(f"g{number}", ok, "x", "y", protects) for number, (ok, protects) in enumerate(passed)]
    status, reason, flags = parse.judge(found, emulated)
    void = [each.gate for each in found if not each.passed and (each.protects == "counts" or not emulated)]
    assert (status == "ok") == (not void) == (reason == "")
    assert all(f"gate {gate}:" in reason for gate in void)
    assert flags == [each.gate for each in found if not each.passed and each.gate not in void]


@pytest.mark.parametrize(("size", "flags"), [(2 << 29, []), ((2 << 29) - 1, ["buffered"])])
def test_a_write_smaller_than_twice_the_memory_is_buffered(tmp_path: Path, size: int, flags: list[str]) -> None:
    record = copied(tmp_path)
    change(record, "settings.json", lambda found: found["workload"].update(size=size))
    assert parse.buffered(parse.RunFiles(record)) == flags


def test_a_failed_run_keeps_its_reason(tmp_path: Path) -> None:
    parsed = parse.parse_run(failed(tmp_path))
    assert (parsed["status"], parsed["reason"]) == ("failed", "step create: exit code 1: no room")
    assert (parsed["runs"], parsed["gates"], parsed["flags"]) == ([], [], [])


# dataset


def test_columns_are_those_of_the_contract(tmp_path: Path) -> None:
    assert dataset.columns(PLAN) == COLUMNS
    table(tmp_path, PARSED)
    assert (tmp_path / "dataset.csv").read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)


def test_one_row_is_one_measurement_with_its_circumstances(tmp_path: Path) -> None:
    found = table(tmp_path, PARSED)
    assert [row["metric"] for row in found] == [metric["name"] for metric in METRICS]
    row = found[2]
    expected = {
        "study": "s",
        "campaign": "c",
        "cell": CELL,
        "block": "1",
        "run": "1",
        "status": "ok",
        "reason": "",
        "flags": "buffered",
    }
    expected |= {"unit": "x", "higher_is_better": "true", "resolution": "", "f_compression": "lz4", "f_zio_taskq_batch_pct": "50"}
    expected |= {"validity_class": "E", "synthetic": "false", "mode": "clone", "image": "debian-12", "kernel": "6.1.0-56-amd64"}
    expected |= {"zfs": "2.1.11-1+deb12u1", "accel": "tcg", "cpu_model": "AMD EPYC Processor", "raw": f"raw/{CELL}/block-01"}
    assert {key: row[key] for key in expected} == expected
    assert float(row["value"]) == PARSED["runs"][0]["measurements"]["compressratio"]
    facts = json.loads((GOLDEN / "facts.json").read_text())
    assert (row["position"], row["prereg"]) == (str(facts["position"]), facts["plan_prereg"])
    assert row["started_at"].startswith("2026-11-21T") and row["boot"] == f"{CELL}/1"


def test_each_metric_carries_the_label_of_its_own_phase(tmp_path: Path) -> None:
    bound = {row["metric"]: row["bound"] for row in table(tmp_path, PARSED)}
    # "thread" has "read" in it, and yet is no matter of reading.
    assert bound == {
        "write_time": DEVICE,
        "read_time": CPU,
        "compressratio": DEVICE,
        "thread_cap": DEVICE,
        "pool_bytes_read": CPU,
    }


def test_a_failed_run_has_a_row_per_metric_and_no_value(tmp_path: Path) -> None:
    found = table(tmp_path, parse.parse_run(failed(tmp_path)))
    assert len(found) == len(METRICS)
    assert {(row["status"], row["reason"], row["value"], row["bound"]) for row in found} == {
        ("failed", "step create: exit code 1: no room", "", "unknown")
    }
    assert {row["position"] for row in found} == {"7"} and {row["prereg"] for row in found} == {"p" * 64}


def test_an_invalid_run_has_no_value_either(tmp_path: Path) -> None:
    record = copied(tmp_path)
    rewrite(record, "pool", swap("ONLINE", "DEGRADED"))
    found = table(tmp_path, parse.parse_run(record))
    assert {(row["status"], row["value"]) for row in found} == {("invalid", "")}
    assert all("DEGRADED" in row["reason"] for row in found)


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    table(tmp_path, PARSED)
    before = (tmp_path / "dataset.csv").read_bytes()
    table(tmp_path, parse.parse_run(GOLDEN))
    assert (tmp_path / "dataset.csv").read_bytes() == before
    assert b"\r" not in before


def test_a_run_of_the_plan_that_was_never_made_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"block-01\.json is missing") as caught:
        dataset.write(tmp_path, PLAN)
    assert "snakemake" in caught.value.hint
    assert not (tmp_path / "dataset.csv").exists()


def test_a_metric_that_the_workload_does_not_measure_is_a_problem(tmp_path: Path) -> None:
    parsed = {**PARSED, "runs": [{**PARSED["runs"][0], "measurements": {"write_time": 1.0}}]}
    with pytest.raises(Problem, match="metric read_time is in the study"):
        table(tmp_path, parsed)
    assert not (tmp_path / "dataset.csv").exists()


def test_the_table_schema_is_of_the_table(tmp_path: Path) -> None:
    found = table(tmp_path, PARSED)
    package = json.loads((tmp_path / "datapackage.json").read_text())
    resource = package["resources"][0]
    types = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
    assert list(types) == COLUMNS and resource["path"] == "dataset.csv" and resource["schema"]["missingValues"] == [""]
    read = {"integer": int, "number": float, "string": str, "boolean": {"true": True, "false": False}.__getitem__}
    for row in found:
        for name, text in row.items():
            assert text == "" or read[types[name]](text) is not None, name


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(value: float) -> None:
    assert float(dataset.number(value)) == value
    assert "," not in dataset.number(value)


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_whole_numbers_have_no_point(value: int) -> None:
    assert dataset.number(value) == dataset.number(float(value)) == str(value)


# timing


def test_steps_are_measuring_preparing_or_overhead() -> None:
    status = json.loads((GOLDEN / "status.json").read_text())
    shares = timing.split(status)
    seconds = status["seconds"]
    assert shares["measure"] == pytest.approx(seconds["measure.write"] + seconds["measure.read"])
    assert shares["prepare"] == pytest.approx(seconds["create"] + seconds["prepare.cold"] + seconds["prepare.compare"])
    assert math.isclose(sum(shares.values()), status["wall_s"])


def test_timing_compares_what_was_predicted(tmp_path: Path) -> None:
    target = tmp_path / "raw" / CELL / "block-01"
    target.parent.mkdir(parents=True)
    copied(tmp_path).rename(target)
    timing.write(tmp_path, PLAN)
    found = json.loads((tmp_path / "timing.json").read_text())
    assert (found["predicted_s"], found["actual_s"], found["runs"]) == (20.0, 15.4, 1)
    assert found["steps_median_s"]["create"] == pytest.approx(3.389)
    assert sum(found["median_s"].values()) == pytest.approx(15.448, abs=0.01)
