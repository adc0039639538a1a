"""ior's table for people and its JSON; and the same cut or spoiled at any place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_output import changed, recorded, runs_or_none

from zassay.readers import Unreadable
from zassay.tools import ior

OLD, NEW = recorded("ior/3.3.0-file-per-process.txt"), recorded("ior/4.0.0-shared-file.txt")
TOOL = ior.Ior()
MIB = 1 << 20


def as_json(seconds: tuple[float, ...] = (8.0688, 8.1), **changes: Any) -> str:
    """The form that ior prints with summaryFormat=JSON: 4 tasks, 4096 segments of 1 MiB each, one write per time given."""
    rates = [round(16384 / each, 4) for each in seconds]
    given = {"blockSize": MIB, "segmentCount": 4096, "filePerProc": 1, "repetitions": len(seconds), "deadlineForStonewall": 0}
    results = [{"access": "write", "bwMiB": rate, "totalTime": each} for rate, each in zip(rates, seconds, strict=True)]
    test = {
        "TestID": 0,
        "Parameters": given | changes,
        "Options": {"tasks": 4, "aggregate filesize": "16 GiB"},
        "Results": [*results, {"access": "remove", "totalTime": 0.0014}],
    }
    head = {"Version": "4.0.0", "Began": "Wed Jan 19 07:04:22 2022", "Command line": "ior"}
    summary = [{"operation": "write", "bwMaxMIB": max(rates), "MeanTime": sum(seconds) / len(seconds)}]
    return json.dumps({**head, "tests": [test], "summary": summary, "Finished": "Wed Jan 19 07:04:38 2022"}, indent=1)


def test_the_table_of_3_3() -> None:
    output = ior.read(OLD)
    assert (output.version, output.tasks, output.file_per_process, output.repetitions) == ("3.3.0", 4, True, 1)
    assert output.moved == 16384 * MIB
    assert output.results == (ior.Result("write", 2030.54 * MIB, 8.07), ior.Result("read", 1968.99 * MIB, 8.32))


def test_the_table_of_4_0() -> None:
    output = ior.read(NEW)
    assert (output.version, output.tasks, output.file_per_process) == ("4.0.0", 10, False)
    (run,) = TOOL.runs(NEW)
    assert run.values == {"aggregate_rate": 101.04 * MIB, "aggregate_read_rate": 30912.0 * MIB}
    assert run.started_at == "2026-03-19T17:42:44"
    assert set(run.values) <= set(TOOL.kinds)


def test_repetitions_in_json_are_runs() -> None:
    runs = TOOL.runs(as_json())
    assert [run.values["aggregate_rate"] for run in runs] == pytest.approx([16384 * MIB / 8.0688, 16384 * MIB / 8.1], rel=1e-4)
    nested = json.loads(as_json())
    nested["tests"][0]["Results"] = [[row] for row in nested["tests"][0]["Results"]]
    assert [run.values for run in TOOL.runs(json.dumps(nested))] == [run.values for run in runs]


def test_stopped_at_a_deadline_the_bytes_are_not_known() -> None:
    assert ior.read(as_json(deadlineForStonewall=30)).moved is None


def test_ior_s_own_error_is_a_failed_run() -> None:
    (run,) = TOOL.runs(
        OLD.replace(
            "remove    -", "ior ERROR: write() failed, errno 28, No space left on device (aiori-POSIX.c:500)\nremove    -"
        )
    )
    assert run.failure.startswith("ior ERROR: write() failed") and run.values == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the last line is cut off"),
        ("make: no rule\n", "0 lines 'IOR-...: MPI Coordinated Test'"),
        (OLD.replace("Began", "began", 1), "Began is missing"),
        (OLD + OLD, "2 lines 'IOR-...: MPI Coordinated Test'; expected one in a file"),
        (OLD[: OLD.index("Summary")], "Summary of all tests is missing"),
        (OLD.replace("write     2030.54 ", "write     2o30.54 "), "line 32, bw(MiB/s): '2o30.54'; expected a number"),
        (
            OLD.replace("write     2030.54 ", "write     1030.54 "),
            "line 32, bw(MiB/s): 8.72044e+09 does not follow from total(s)",
        ),
        (OLD.replace("write     2030.54 ", "write     "), "line 32: 10 columns; expected 11"),
        (OLD.replace("repetitions         : 1", "repetitions         : 2"), "expected 2, one for each repetition"),
        (OLD.replace("tasks               : 4", "tasks               : x"), "tasks: 'x'; expected a whole number"),
        (as_json(blockSize="1m"), "tests[0].Parameters.blockSize: '1m'; expected a whole number"),
        (as_json(blockSize=MIB // 2), "does not follow from totalTime and the bytes moved"),
        (as_json(repetitions=3), "Results: 2 of write; expected 3"),
        (as_json().replace('"tests"', '"test"'), "tests is missing"),
        (as_json().replace('"operation": "write"', '"operation": "read"'), "summary: of ['read']; expected ['write']"),
    ],
)
def test_a_bad_output_names_place_and_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(Unreadable) as found:
        TOOL.runs(text)
    assert said in str(found.value)


@pytest.mark.parametrize("text", [OLD, NEW, as_json()], ids=["3.3.0", "4.0.0", "json"])
def test_a_cut_output_is_refused_until_all_numbers_are_there(text: str) -> None:
    whole = [run.values for run in TOOL.runs(text)]
    for end in range(len(text)):
        found = runs_or_none(TOOL, text[:end])
        assert found is None or [run.values for run in found] == whole, end


@pytest.mark.parametrize("text", [OLD, as_json()], ids=["3.3.0", "json"])
@given(data=st.data(), char=st.sampled_from('0123456789.,-e "[]{}x\n'))
@settings(max_examples=500)
def test_a_spoiled_character_makes_no_other_rate(text: str, data: st.DataObject, char: str) -> None:
    """Each rate is printed beside its time, the bytes and the fastest of all: only the last digits can hide."""
    at = data.draw(st.integers(0, len(text) - 1))
    whole, found = TOOL.runs(text), runs_or_none(TOOL, changed(text, at, char))
    if found is None or found[0].failure:
        return
    assert len(found) == len(whole)
    for mine, theirs in zip(found, whole, strict=True):
        assert set(mine.values) == set(theirs.values)
        assert all(math.isclose(mine.values[name], value, rel_tol=0.02) for name, value in theirs.values.items())
