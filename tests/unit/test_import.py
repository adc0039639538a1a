"""Outputs from outside become a dataset like our own: placed by a map, marked as unchecked, refused whole when one is bad."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tool_output import GOLDEN, recorded

from zassay import cli, gates, registry, tools
from zassay.errors import Problem
from zassay.importing import collect, layout, mapping, questions

LEVELS = ("off", "gzip-9")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_map(place: Path, **keys: Any) -> Path:
    """A map of fio files LEVEL/bB-rR.json, changed by keys."""
    base = {"tool": "fio", "files": [{"match": "{compression}/b{block}-r{run}.json"}]}
    path = place / "map.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in {**base, **keys}.items() if value is not None}))
    return path


def outputs(place: Path, text: str = recorded("fio/3.33-tail-plus.json"), blocks: int = 2, runs: int = 2) -> list[Path]:
    found = []
    for level in LEVELS:
        for block in range(1, blocks + 1):
            for run in range(1, runs + 1):
                path = place / level / f"b{block}-r{run}.json"
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                found.append(path)
    return found


def take_in(place: Path, paths: list[Path], *words: str) -> int:
    return cli.main(
        [
            "import",
            *map(str, paths),
            "--study",
            "outside",
            "--map",
            str(place / "map.yaml"),
            "--out",
            str(place / "outside"),
            *words,
        ]
    )


def rows_of(place: Path) -> list[dict[str, str]]:
    with (place / "outside" / "outside" / "dataset.csv").open(newline="") as handle:
        return list(csv.DictReader(handle))


def refused(capsys: pytest.CaptureFixture[str], *said: str) -> None:
    error = capsys.readouterr().err
    for text in said:
        assert text in error, error


# What comes in


def test_files_become_rows_of_their_cells_blocks_and_runs(place: Path) -> None:
    write_map(place)
    paths = outputs(place)
    assert take_in(place, paths) == 0
    found = rows_of(place)
    assert len(found) == len(paths) * 6
    assert {(row["cell"], row["block"], row["run"]) for row in found} == {
        (level, str(block), str(run)) for level in LEVELS for block in (1, 2) for run in (1, 2)
    }
    assert {row["f_compression"] for row in found} == set(LEVELS)
    bandwidth = next(row for row in found if row["metric"] == "bandwidth")
    assert (bandwidth["unit"], bandwidth["higher_is_better"], bandwidth["status"]) == ("B/s", "true", "ok")
    assert float(bandwidth["value"]) == pytest.approx(2 * 209715200 / 0.011)
    assert (bandwidth["validity_class"], bandwidth["synthetic"], bandwidth["mode"]) == ("E", "false", "imported")


def test_every_gate_is_marked_as_unchecked_or_vouched_for(place: Path) -> None:
    write_map(place, gates={"cold": "exported and imported before each run"})
    assert take_in(place, outputs(place)) == 0
    every = registry.every(gates, gates.Gate)  # type: ignore[type-abstract]
    marks = set(rows_of(place)[0]["flags"].split(";"))
    assert "declared:cold" in marks and "unchecked:cold" not in marks
    assert {mark.removeprefix("unchecked:") for mark in marks if mark.startswith("unchecked:")} == set(every) - {
        "cold",
        *tools.CHECKED,
    }
    assert set(tools.CHECKED) <= set(every), "a gate has another name now"
    assert "declared" not in marks, "class E needs no declaration"


@pytest.mark.parametrize("stated", ["V", "B"])
def test_a_class_above_e_is_stated_with_evidence_and_marked(place: Path, stated: str) -> None:
    write_map(place, validity={"class": stated, "evidence": "systemd-detect-virt says so"})
    assert take_in(place, outputs(place)) == 0
    row = rows_of(place)[0]
    assert row["validity_class"] == stated and "declared" in row["flags"].split(";")
    facts = json.loads((place / "outside" / "outside" / "facts.json").read_text())["imported"]
    assert facts["validity"]["evidence"] == {"stated": "systemd-detect-virt says so"}


def test_a_class_above_e_without_evidence_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_map(place, validity={"class": "B"})
    assert take_in(place, outputs(place)) == 1
    refused(capsys, "map.yaml: validity.evidence is missing for class B")


def test_raw_files_are_kept_with_their_digests(place: Path) -> None:
    write_map(place)
    paths = outputs(place)
    assert take_in(place, paths) == 0
    with (place / "outside" / "outside" / "sources.csv").open(newline="") as handle:
        sources = list(csv.DictReader(handle))
    assert len(sources) == len(paths)
    for source in sources:
        assert (place / "outside" / "outside" / source["raw"]).read_bytes() == Path(source["file"]).read_bytes()
    assert {row["raw"] for row in rows_of(place)} == {source["raw"].rpartition("/")[0] for source in sources}


def test_a_failed_run_stays_with_its_reason(place: Path) -> None:
    write_map(place)
    paths = outputs(place)
    paths[0].write_text(recorded("fio/3.33-enospc.json"))
    assert take_in(place, paths) == 0
    lost = [row for row in rows_of(place) if row["status"] != "ok"]
    assert {(row["status"], row["reason"], row["value"]) for row in lost} == {("failed", "jobs[0] (full): fio error 28", "")}


def test_a_file_of_several_runs_counts_its_own_and_too_fast_is_invalid(place: Path) -> None:
    write_map(place, tool="bonnie", files=[{"match": "{setting}-{block}.csv"}])
    paths = []
    for setting, text in {"a": recorded("bonnie/1.96-six-hosts.csv"), "b": recorded("bonnie/2.00a-table-and-csv.txt")}.items():
        paths.append(place / f"{setting}-1.csv")
        paths[-1].write_text(text)
    assert take_in(place, paths) == 0
    found = rows_of(place)
    assert {row["run"] for row in found if row["cell"] == "a"} == {str(run) for run in range(1, 7)}
    fast = [row for row in found if row["cell"] == "b" and row["metric"] == "seq_block_read"]
    assert [(row["status"], row["reason"], row["value"]) for row in fast] == [("invalid", "too fast for its tool to time", "")]


def test_ior_comes_in(place: Path) -> None:
    write_map(
        place,
        tool="ior",
        files=[
            {"match": "3.3.0-*.txt", "levels": {"access": "own file"}, "block": 1},
            {"match": "4.0.0-*.txt", "levels": {"access": "shared"}, "block": 1},
        ],
    )
    assert take_in(place, sorted((GOLDEN / "ior").glob("*.txt"))) == 0
    assert {row["metric"] for row in rows_of(place)} == {"aggregate_rate", "aggregate_read_rate"}


def test_the_order_inside_a_block_is_that_of_the_tool_s_clock(place: Path) -> None:
    write_map(place)
    paths = outputs(place, blocks=1, runs=1)
    early = json.loads(recorded("fio/3.33-tail-plus.json"))
    early["timestamp"] -= 3600
    paths[1].write_text(json.dumps(early))
    assert take_in(place, paths) == 0
    order = json.loads((place / "outside" / "outside" / "plan.json").read_text())["order"]
    assert [(turn["position"], turn["cell"]) for turn in order] == [(1, paths[1].parent.name), (2, paths[0].parent.name)]


# Reading paths


def placed(place: Path, path: str, **keys: Any) -> mapping.Place:
    return mapping.load(write_map(place, **keys)).place(Path(path))


def test_a_pattern_is_the_end_of_a_path(place: Path) -> None:
    found = placed(place, "/data/2026/lz4/b03-r12.json")
    assert found == mapping.Place({"compression": "lz4"}, 3, 12)


def test_a_path_that_can_be_read_two_ways_needs_its_levels_listed(place: Path) -> None:
    one = [{"match": "{compression}-{op}.json", "block": 1}]
    with pytest.raises(Problem, match="can be read in two ways") as found:
        placed(place, "gzip-9-read.json", files=one)
    assert "compression gzip, op 9-read, or as compression gzip-9, op read" in found.value.hint
    listed = placed(place, "gzip-9-read.json", files=one, factors={"compression": ["off", "gzip-9"], "op": ["read"]})
    assert listed.levels == {"compression": "gzip-9", "op": "read"}


@pytest.mark.parametrize(
    ("path", "keys", "said"),
    [
        ("other.txt", {}, "other.txt: no pattern of"),
        (
            "off/b1-r1.json",
            {"files": [{"match": "{compression}/*", "block": 1}, {"match": "off/*", "block": 1}]},
            "2 patterns of",
        ),
        ("off/b0-r1.json", {}, 'block "0" of'),
        ("off/bx-r1.json", {}, 'block "x" of'),
        ("off/r1.json", {"files": [{"match": "{compression}/r{run}.json"}]}, "block is not given"),
        ("off/b1-r1.json", {"files": [{"match": "{a}/{a}.json", "block": 1}]}, "a is given twice"),
        ("off/b1-r1.json", {"files": [{"match": "{a}/*", "levels": {"a": "x"}, "block": 1}]}, "a is given twice"),
        ("off/b1-r1.json", {"tol": "fio"}, "unknown key: tol"),
        ("off/b1-r1.json", {"files": []}, "files"),
        ("off/b1-r1.json", {"validity": {"class": "S"}}, "class"),
    ],
)
def test_a_bad_map_or_path_is_told(place: Path, path: str, keys: dict[str, Any], said: str) -> None:
    with pytest.raises(Problem) as found:
        placed(place, path, **keys)
    assert said in f"{found.value}"


# What is refused


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "not whole JSON"),
        (lambda text: "", "no JSON object; expected one"),
        (
            lambda text: text.replace('"io_bytes" : 209715200', '"io_bytes" : "many"'),
            "jobs[0].read.io_bytes: 'many'; expected a whole number",
        ),
    ],
)
def test_one_bad_file_names_itself_and_its_key_and_nothing_is_written(
    place: Path, capsys: pytest.CaptureFixture[str], spoil: Any, said: str
) -> None:
    write_map(place)
    paths = outputs(place)
    paths[3].write_text(spoil(paths[3].read_text()))
    assert take_in(place, paths) == 1
    refused(capsys, str(paths[3]), said)
    assert not (place / "outside").exists() and not list(place.glob(".outside*"))


def test_bytes_that_are_no_text_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_map(place)
    paths = outputs(place)
    paths[0].write_bytes(b"\x1f\x8b\x08\xff")
    assert take_in(place, paths) == 1
    refused(capsys, f"{paths[0]}: byte 1 is no text")


def test_two_files_of_one_run_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_map(place, files=[{"match": "{compression}/b{block}-*.json"}])
    assert take_in(place, outputs(place)) == 1
    refused(capsys, "are both run 1 of cell", "{run} or {block} in the pattern")


def test_a_file_of_several_runs_cannot_be_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_map(place, tool="bonnie", files=[{"match": "{setting}.csv", "block": 1, "run": 2}])
    path = place / "a.csv"
    path.write_text(recorded("bonnie/1.96-six-hosts.csv"))
    assert take_in(place, [path]) == 1
    refused(capsys, "holds 6 runs, the map calls it run 2")


def test_files_without_a_level_of_some_factor_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = [{"match": "off/*", "levels": {"a": "1"}, "block": 1}, {"match": "gzip-9/*", "levels": {"b": "1"}, "block": 1}]
    write_map(place, files=entries)
    assert take_in(place, outputs(place, blocks=1, runs=1)) == 1
    refused(capsys, "have no b")


def test_names_are_checked_before_anything_is_read(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert take_in(place, [place / "none"], "--study", "Outside") == 1
    refused(capsys, "--study Outside", "expected small letters")


def test_nothing_is_overwritten(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_map(place)
    paths = outputs(place)
    assert take_in(place, paths) == 0
    assert take_in(place, paths) == 1
    refused(capsys, "exists already")


def test_a_name_with_a_star_may_be_given_twice_by_mistake(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_map(place)
    paths = outputs(place)
    assert take_in(place, [*paths, paths[0]]) == 1
    refused(capsys, "is given twice")


# What is asked


def test_every_metric_is_asked_about_along_every_factor(place: Path) -> None:
    known = mapping.load(write_map(place, factors={"compression": ["gzip-9", "off"]}))
    factors, made = collect.collect(known, outputs(place), print)
    planned = layout.plan("outside", known, factors, made)
    claims = questions.exploratory(planned, known.about)["claims"]
    assert [claim["estimator"]["metric"] for claim in claims] == [metric["name"] for metric in planned["metrics"]]
    assert {claim["estimator"]["pairs"]["reference"] for claim in claims} == {"gzip-9"}, "the first that is listed"
    assert {claim["min_class"] for claim in claims if claim["estimator"]["metric"] == "bytes_moved"} == {"E"}
    assert {claim["min_class"] for claim in claims if claim["estimator"]["metric"] != "bytes_moved"} == {"V"}


def test_claims_of_one_s_own_are_taken(place: Path) -> None:
    write_map(place)
    own = place / "claims.yaml"
    own.write_text("study: outside\n")
    assert take_in(place, outputs(place), "--claims", str(own)) == 0
    assert (place / "outside" / "studies" / "outside" / "claims.yaml").read_text() == "study: outside\n"
