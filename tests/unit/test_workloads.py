"""Workloads as values: phases in order, scripts that are bash, whole job files."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from golden_record import load, project, recorded

from zassay import filesystems, measure, payloads, workloads
from zassay.errors import Problem
from zassay.payloads import bonnie as bonnie_payload
from zassay.readers import Unreadable, dedup_core_bytes, dedup_ratio
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.workloads import Phase, Span

MIB = 1 << 20
TOOLS: dict[str, dict[str, Any]] = {
    "copy": {"tool": "copy", "size": 32 * MIB, "block": MIB},
    "fio": {
        "tool": "fio",
        "rw": "randread",
        "size": 384 * MIB,
        "work": 32 * MIB,
        "runs": 3,
        "block": 131072,
        "compress_percentage": 61,
    },
    "bonnie": {"tool": "bonnie", "size": 128 * MIB, "runs": 2},
    "checksum-read": {"tool": "checksum-read", "size": 64 * MIB, "runs": 2, "cap_s": 60},
    "parallel-writers": {
        "tool": "parallel-writers",
        "block": 64 * MIB,
        "transfer": MIB,
        "tasks": 3,
        "layout": "shared",
        "segments": 2,
    },
}
BACKGROUND = {"tool": "writers", "count": 2, "block": MIB, "fsync": "none", "rate": 0, "files": 2, "size": 64 * MIB}
EACH = pytest.mark.parametrize("tool", TOOLS)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load(project(tmp_path_factory.mktemp("p")))[1].cell("lz4_text_50").settings


def of(base: Settings, tool: str, **changes: Any) -> Settings:
    return replace(base, workload=TOOLS[tool] | changes.pop("workload", {}), **changes)


def steps(settings: Settings) -> list[Phase]:
    return workloads.steps(settings, filesystems.get(settings.filesystem), "/dev/source")


def names(settings: Settings) -> list[str]:
    return [phase.name for phase in steps(settings)]


# Phases and spans


def test_the_order_of_phases_is_pinned(base: Settings) -> None:
    assert names(of(base, "copy")) == ["write", "cold", "read", "compare"]
    assert names(of(base, "fio", cache="warm")) == ["layout", "warm", "randread", "randread.2", "randread.3", "flush"]
    assert names(of(base, "fio", cache="cold")) == ["layout", "cold", "randread", "randread.2", "randread.3", "flush"]
    assert names(of(base, "fio", cache="as_left")) == ["layout", "randread", "randread.2", "randread.3", "flush"]
    assert names(of(base, "bonnie", cache="cold", payload={"name": "bonnie"})) == ["cold", "bonnie", "cold.2", "bonnie.2"]
    assert names(of(base, "bonnie", payload={"name": "media"})) == ["random", "bonnie", "bonnie.2"], "given data come in a file"
    assert names(of(base, "checksum-read", cache="cold")) == ["layout", "cold", "read", "cold.2", "read.2"]
    assert names(of(base, "parallel-writers")) == ["tool", "write", "flush"]


def test_a_load_is_started_and_stopped_around_each_measured_read(base: Settings) -> None:
    loaded = of(base, "checksum-read", cache="cold", background=BACKGROUND)
    assert names(loaded) == [
        "layout",
        "cold",
        "load.read",
        "read",
        "unload.read",
        "cold.2",
        "load.read.2",
        "read.2",
        "unload.read.2",
    ]
    none = of(base, "checksum-read", cache="cold", background=BACKGROUND | {"count": 0, "files": 0})
    assert names(none) == ["layout", "cold", "read", "cold.2", "read.2"] and workloads.background(none) is None


@EACH
def test_spans_are_marked_by_their_phases(base: Settings, tool: str) -> None:
    settings = of(base, tool)
    marks = [mark for span in workloads.get(tool).spans(settings) for mark in span.marks]
    scripts = "".join(phase.script for phase in steps(settings) if phase.measures)
    for mark in marks:
        assert f"mark {mark}\n" in scripts or f"begin {mark.rpartition('_')[0]} ;;" in scripts, mark
    assert len({span.marks for span in workloads.get(tool).spans(settings)}) == len(workloads.get(tool).spans(settings))


@EACH
@pytest.mark.parametrize("cache", ["cold", "warm", "as_left"])
def test_every_script_is_bash(base: Settings, tool: str, cache: str) -> None:
    text = measure.PREAMBLE + "".join(phase.script for phase in steps(of(base, tool, cache=cache, background=BACKGROUND)))
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, timeout=20, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


@EACH
def test_a_procedure_follows_its_settings(base: Settings, tool: str) -> None:
    settings = of(base, tool)
    digest = measure.procedure_digest(settings)
    assert measure.procedure_digest(settings) == digest
    assert measure.procedure_digest(of(base, tool, workload={"runs": 7})) != digest or tool == "copy"


def test_runs_are_numbered_from_the_second_on() -> None:
    assert [Span("read", number).name for number in (1, 2)] == ["read", "read.2"]
    assert Span("read", 2).marks == ("read.2_start", "read.2_end")


@pytest.mark.parametrize(
    ("tool", "change", "words"),
    [
        ("fio", {"rw": "randwirte"}, ["settings.workload.rw", "did you mean randwrite?"]),
        ("fio", {"layout": "zeroes"}, ["settings.workload.layout", "did you mean zeros?"]),
        ("checksum-read", {"reader": "md5"}, ["settings.workload.reader", "did you mean md5sum?"]),
        ("parallel-writers", {"layout": "share"}, ["settings.workload.layout", "did you mean shared?"]),
    ],
)
def test_an_unknown_word_is_said_before_anything_boots(
    base: Settings, tool: str, change: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(Problem) as caught:
        steps(of(base, tool, workload=change))
    assert all(word in f"{caught.value.message}\n{caught.value.hint}" for word in words)


def test_an_unknown_cache_or_load_is_a_problem(base: Settings) -> None:
    with pytest.raises(Problem, match=r"settings\.cache"):
        steps(of(base, "fio", cache="hot"))
    with pytest.raises(Problem, match=r"settings\.background\.fsync"):
        steps(of(base, "checksum-read", background=BACKGROUND | {"fsync": "always"}))


# Job files of fio


def job_of(settings: Settings, name: str) -> dict[str, str]:
    script = next(phase.script for phase in steps(settings) if phase.name == name)
    text = script.split(f"fio.{name}.job <<END\n")[1].split("END\n")[0]
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.M))


def test_a_job_file_says_what_a_result_depends_on(base: Settings) -> None:
    found = job_of(of(base, "fio", workload={"randrepeat": 0}), "randread.2")
    expected = {
        "rw": "randread",
        "bs": "131072",
        "size": str(384 * MIB),
        "io_size": str(32 * MIB),
        "randrepeat": "0",
        "ioengine": "psync",
    }
    assert expected.items() <= found.items()
    assert found["invalidate"] == "0" and "runtime" not in found and "end_fsync" not in found
    assert job_of(of(base, "fio", workload={"randrepeat": 1}), "randread")["randrepeat"] == "1"


def test_time_instead_of_work(base: Settings) -> None:
    timed = of(base, "fio", workload={"seconds": 60})
    found = job_of(timed, "randread")
    assert (found["runtime"], found["time_based"]) == ("60", "1") and "io_size" not in found
    assert workloads.get("fio").wanted_bytes(timed) == {}, "nobody can say beforehand how much is moved in a minute"
    assert job_of(timed, "layout")["io_size"] == str(384 * MIB)


@pytest.mark.parametrize(
    ("change", "said", "band"),
    [
        ({"layout": "zeros"}, {"zero_buffers": "1"}, (1000.0, 1e9)),
        ({"layout": "buffers", "compress_percentage": 0}, {"refill_buffers": "1"}, (0.97, 1.02)),
        (
            {"layout": "buffers", "compress_percentage": 61},
            {"buffer_compress_percentage": "61", "refill_buffers": "1"},
            (1.92, 2.95),
        ),
    ],
)
def test_a_file_is_laid_out_as_the_settings_say(
    base: Settings, change: dict[str, Any], said: dict[str, str], band: tuple[float, float]
) -> None:
    settings = of(base, "fio", workload=change)
    found = job_of(settings, "layout")
    assert said.items() <= found.items() and (found["rw"], found["end_fsync"]) == ("write", "1")
    promised = workloads.get("fio").promise(settings)
    assert promised is not None
    assert promised[0] == pytest.approx(band[0], rel=0.01) and promised[1] >= band[1] * 0.99
    off = of(base, "fio", workload=change, properties={"compression": "off"})
    assert workloads.get("fio").promise(off) == (0.97, 1.02), "without compression nothing is left out"


# Readers of what the tools left


def test_runs_of_fio_are_read_one_by_one(tmp_path: Path) -> None:
    run = RunFiles(recorded("fio", tmp_path))
    found = [run.workload.metrics(run, number) for number in run.numbers]
    assert [each["bytes_moved"] for each in found] == [32 * MIB] * 5
    assert [round(each["hit_ratio"], 3) for each in found] == [0.414, 1.0, 1.0, 1.0, 1.0], "the replay of F1: the ARC knows them"
    assert found[0]["hit_ratio"] <= found[0]["arc_share"] + 0.05
    assert found[0]["device_share"] == pytest.approx(7833600 / (32 * MIB))
    assert 2.4 < 1 / found[0]["allocated_share"] < 2.6
    assert "clat_p50" in found[0] and "clat_p99" not in found[0], "256 reads have too few beyond the 99th percentile"
    assert set(found[0]) <= run.workload.names(run.plan)
    assert run.workload.names(run.plan) - set(found[0]) <= run.workload.may_lack


def test_holes_come_from_nowhere(tmp_path: Path) -> None:
    run = RunFiles(recorded("fio-holes", tmp_path))
    found = run.workload.metrics(run, 1)
    assert (found["pool_bytes_read"], found["device_share"], found["allocated_bytes"]) == (0, 0.0, 512)
    assert found["bandwidth"] > 0 and "hit_ratio" not in found, "the ARC was not even asked"


def test_phases_of_bonnie_are_told_apart(tmp_path: Path) -> None:
    run = RunFiles(recorded("bonnie", tmp_path))
    first, second = (run.workload.metrics(run, number) for number in (1, 2))
    assert set(first) == set(second) == run.workload.names(run.plan)
    assert first["seq_block_write"] == 11010 * 1024 and first["random_seeks"] == 737
    assert first["compressratio"] > 100 and first["ddt_core_bytes"] == 0
    assert run.elapsed(run.spans[0]) == pytest.approx(128 * MIB / first["seq_block_write"], rel=0.05)


def test_a_read_beside_writers_says_what_these_did(tmp_path: Path) -> None:
    run = RunFiles(recorded("checksum-read", tmp_path))
    found = run.workload.metrics(run, 1)
    assert found["read_time"] == pytest.approx(6.951, abs=0.001) and found["capped"] == 0
    assert found["read_rate"] == pytest.approx(64 * MIB / found["read_time"])
    assert found["writer_overlap"] == 1.0 and 1e7 < found["writer_rate"] < 6.3e7
    assert set(found) == run.workload.names(run.plan)


def test_a_read_that_was_cut_off_is_a_lower_bound(tmp_path: Path) -> None:
    record = recorded("checksum-read", tmp_path)
    (record / "guest" / "code.read").write_text("124\n")
    (record / "guest" / "md5.read").write_text("")
    run = RunFiles(record)
    found = run.workload.metrics(run, 1)
    assert found["capped"] == 1 and found["read_time"] == pytest.approx(6.951, abs=0.001)
    assert found["read_rate"] == pytest.approx(64 * MIB / 6.951, rel=0.01), "by the kernel's count, since md5sum says none"
    assert run.workload.differences(run) == []


def test_parallel_writers_tell_their_own_rates(tmp_path: Path) -> None:
    run = RunFiles(recorded("parallel-writers", tmp_path))
    found = run.workload.metrics(run, 1)
    assert found["compressratio"] == pytest.approx(3.934, abs=0.001)
    assert found["writer_rate_min"] <= found["writer_rate_max"] <= found["aggregate_rate"] <= 3 * found["writer_rate_max"] * 1.01


@pytest.mark.parametrize(
    ("text", "per_entry", "expected"),
    [
        (" dedup: DDT entries 2048, size 297B on disk, 176B in core\n", True, 2048 * 176),
        (" dedup: DDT entries 2048, size 1.2M on disk, 352K in core\n", False, 352 << 10),
        (" dedup: no DDT entries\n", True, 0),
    ],
)
def test_the_memory_of_a_dedup_table(text: str, per_entry: bool, expected: int) -> None:
    assert dedup_core_bytes(text, per_entry) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Total       2K    256M      2M      2M       2K    256M      2M      2M\n", 1.0),
        (" Total       12    1.5M    400K    400K      576     72M     19M     19M\n", 48.0),
        (" dedup: no DDT entries\n", 1.0),
    ],
)
def test_how_often_blocks_are_alike(text: str, expected: float) -> None:
    assert dedup_ratio(text) == expected


def test_a_pool_that_tells_no_dedup_table_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        dedup_core_bytes("  pool: tank\n", True)
    with pytest.raises(Unreadable):
        dedup_ratio("  pool: tank\n")


# bonnie++'s own data


def test_the_payload_is_what_bonnie_writes() -> None:
    """Looked at in the file that bonnie++ 2.00a had rewritten (8 MiB, default chunks)."""
    whole = payloads.get("bonnie").chunk(1, 0)
    assert [whole[at * 8192 : at * 8192 + 5] for at in range(3)] == [b"\2\0\0\0\0", b"\1\2\0\0\0", b"\1\1\2\0\0"]
    assert bonnie_payload.buffer(8192) == b"\3" + b"\1" + b"\1" * 8190
    assert payloads.get("bonnie").made_by_tool and not payloads.get("media").made_by_tool
