"""fio's JSON of five versions, read as bytes and seconds; and the same cut or spoiled at any place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_output import changed, recorded, runs_or_none

from zassay.readers import Unreadable
from zassay.tools import Run, fio, fio_bins

SINGLE, PLUS, GROUPED, TAIL = (recorded(f"fio/3.33-{kind}.json") for kind in ("single", "jobs-plus", "grouped-plus", "tail-plus"))
OLD, OLDEST = recorded("fio/2.2.10-grouped.json"), recorded("fio/2.1.11-three-jobs.json")
TOOL = fio.Fio()


def only(text: str) -> Run:
    (run,) = TOOL.runs(text)
    return run


def jobs(text: str) -> list[dict[str, Any]]:
    return list(json.loads(text[text.index("{\n") :])["jobs"])


# What each version printed


@pytest.mark.parametrize("version", ["3.25", "3.33"])
def test_one_job_of_version_3_counts_bytes_and_nanoseconds(version: str) -> None:
    text = recorded(f"fio/{version}-single.json")
    read = jobs(text)[0]["read"]
    run = only(text)
    assert run.version == f"fio-{version}"
    assert run.values["bytes_moved"] == 8 << 20
    assert run.values["bandwidth"] == pytest.approx((8 << 20) / (read["runtime"] / 1000))
    assert run.values["iops"] == pytest.approx(read["iops"], abs=1e-3)
    assert run.values["clat_p50"] == pytest.approx(read["clat_ns"]["percentile"]["50.000000"] / 1e9)


def test_version_2_counts_kib_and_microseconds() -> None:
    run = only(OLD)
    assert run.values["bytes_moved"] == 37500272 * 1024
    assert run.values["bandwidth"] / 1024 == pytest.approx(62499, rel=1e-4)
    assert run.values["iops"] == pytest.approx(15624.70, abs=0.01)
    assert run.values["clat_p50"] == pytest.approx(8160e-6)
    assert run.values["clat_p999"] == pytest.approx(14912e-6)
    assert run.started_at == "2017-11-17T23:48:31Z", "the time stamp is of the end"


def test_version_2_1_tells_no_operations() -> None:
    direction = fio.read(OLDEST).merged["read"]
    assert direction.operations is None and direction.latency is None
    assert direction.moved == (44920 + 44992 + 45024) * 1024
    assert direction.iops == 15, "as fio printed them, added up"


@pytest.mark.parametrize("version", ["3.25", "3.33"])
def test_jobs_are_added_up_and_their_histograms_too(version: str) -> None:
    text = recorded(f"fio/{version}-jobs-plus.json")
    output = fio.read(text)
    assert [job.name for job in output.jobs] == ["mixed", "mixed"]
    for way, direction in output.merged.items():
        parts = [job[way] for job in jobs(text)]
        assert direction.moved == sum(part["io_bytes"] for part in parts)
        assert direction.runtime_s == max(part["runtime"] for part in parts) / 1000
        assert direction.latency is not None
        assert sum(direction.latency.bins.values()) == sum(part["total_ios"] for part in parts)
        assert direction.latency.most == max(part["clat_ns"]["max"] for part in parts) / 1e9
        pooled = [(part["clat_ns"]["mean"], part["clat_ns"]["N"]) for part in parts]
        assert direction.latency.mean == pytest.approx(sum(m * n for m, n in pooled) / sum(n for _, n in pooled) / 1e9)


def test_a_mixed_run_names_its_directions() -> None:
    values = only(PLUS).values
    assert values["read_bytes_moved"] + values["write_bytes_moved"] == 2 * (4 << 20)
    assert "bandwidth" not in values
    assert set(values) <= set(TOOL.kinds)


def test_a_group_is_one_job() -> None:
    output = fio.read(GROUPED)
    assert len(output.jobs) == 1 and output.jobs[0].options["numjobs"] == "4"
    assert output.merged["write"].moved == 4 * (4 << 20)


def test_unified_directions() -> None:
    assert set(fio.read(recorded("fio/3.33-unified.json")).merged) == {"mixed"}


@pytest.mark.parametrize("version", ["3.25", "3.33"])
def test_percentiles_of_one_job_are_those_fio_prints(version: str) -> None:
    for job, said in zip(
        fio.read(recorded(f"fio/{version}-tail-plus.json")).jobs, jobs(recorded(f"fio/{version}-tail-plus.json")), strict=True
    ):
        latency = job.directions["read"].latency
        assert latency is not None
        for key, value in said["read"]["clat_ns"]["percentile"].items():
            assert fio_bins.percentile(latency.bins, float(key)) == pytest.approx(value / 1e9), key


def test_a_percentile_needs_thirty_samples_beyond_it() -> None:
    assert {"clat_p50", "clat_p99", "clat_p999"} <= set(only(TAIL).values)
    (grouped,) = fio.read(GROUPED).merged.values()
    assert grouped.latency is not None and grouped.latency.count == 1024
    assert grouped.latency.percentile(97) is not None
    assert grouped.latency.percentile(99) is None, "ten beyond it"


def test_without_histograms_no_percentile_of_several_jobs() -> None:
    parts = [job.directions["read"] for job in fio.read(SINGLE).jobs] * 2
    merged = fio._together(parts)
    assert merged.latency is not None and not merged.latency.bins
    assert merged.latency.percentile(50) is None


def test_text_for_people_around_the_json_is_passed_over() -> None:
    assert only(recorded("fio/3.33-normaljson.json")).values["bytes_moved"] == 1 << 20


def test_a_failed_job_has_a_reason_and_no_values() -> None:
    run = only(recorded("fio/3.33-enospc.json"))
    assert run.failure == "jobs[0] (full): fio error 28"
    assert run.values == {}


def test_groups_that_ran_one_after_another_are_not_added_up() -> None:
    with pytest.raises(Unreadable, match="2 groups ran one after another; expected one group"):
        TOOL.runs(recorded("fio/3.33-stonewall.json"))


def test_a_run_below_a_millisecond_is_too_fast() -> None:
    spoiled = json.loads(SINGLE)
    spoiled["jobs"][0]["read"] |= {"runtime": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0}
    run = only(json.dumps(spoiled))
    assert run.too_fast == ("bandwidth", "iops")
    assert "bandwidth" not in run.values


# Bins: known answers


@pytest.mark.parametrize(
    ("value", "index", "middle"),
    [
        (127, 127, 127),
        (128, 128, 129),
        (129, 128, 129),
        (256, 192, 258),
        (1000, 317, 1004),
        (10000, 526, 10048),
        (23766, 604, 23680),
        (1000000, 954, 1003520),
        (1000000000, 1591, 1002438656),
    ],
)
def test_known_bins(value: int, index: int, middle: int) -> None:
    assert (fio_bins.index(value), fio_bins.middle(index)) == (index, middle)


@given(st.integers(0, 10**12))
def test_the_middle_of_a_bin_is_near_everything_in_it(value: int) -> None:
    middle = fio_bins.middle(fio_bins.index(value))
    assert abs(middle - value) <= value / 128
    assert fio_bins.index(middle) == fio_bins.index(value)


def test_percentiles_of_merged_bins_are_no_average() -> None:
    one, two = {1000.0: 99, 100000.0: 1}, {1000.0: 50, 100000.0: 50}
    assert (fio_bins.percentile(one, 95), fio_bins.percentile(two, 95)) == (1000, 100000)
    both = fio_bins.merged([one, two])
    assert [fio_bins.percentile(both, percent) for percent in (74, 75, 95)] == [1000, 100000, 100000]


# Bad files


def broken(path: str, value: object, text: str = SINGLE) -> str:
    """The text with the value at a path of keys replaced (or taken away, with None)."""
    whole = json.loads(text)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    place = whole
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("fio version", None, "fio version is missing"),
        ("jobs", [], "jobs: empty; expected at least one job"),
        ("jobs", {}, "jobs: '{}'; expected a list"),
        ("jobs/0/error", None, r"jobs\[0\].error is missing"),
        ("jobs/0/read/io_bytes", "8388608", r"jobs\[0\].read.io_bytes: '8388608'; expected a whole number from 0"),
        ("jobs/0/read/io_bytes", -1, "expected a whole number from 0"),
        ("jobs/0/read/io_bytes", True, "expected a whole number from 0"),
        ("jobs/0/read/io_bytes", 838860, "io_kbytes: 8192 does not follow from io_bytes"),
        ("jobs/0/read/runtime", 700, "does not follow from io_bytes and runtime"),
        ("jobs/0/read/iops", 1.0, "iops: 1 does not follow from total_ios and runtime"),
        ("jobs/0/read/clat_ns/mean", 1e12, "expected them in this order"),
        ("jobs/0/read/clat_ns/percentile/50.000000", 1, "the values fall"),
        ("jobs/0/read", 5, r"jobs\[0\].read: '5'; expected an object"),
    ],
)
def test_a_bad_value_names_its_key_and_what_was_expected(path: str, value: object, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        TOOL.runs(broken(path, value))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("jobs/0/read/clat_ns/N", 3, "does not follow from N"),
        ("jobs/0/read/clat_ns/bins/130", 3, "no bin of fio's, or out of order"),
        ("jobs/0/read/clat_ns/bins/x", 3, "no bin of fio's, or out of order"),
        ("jobs/0/read/clat_ns/mean", 80000.0, "bins: .* does not follow from mean"),
    ],
)
def test_a_bad_histogram_is_refused(path: str, value: object, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        TOOL.runs(broken(path, value, PLUS))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("fio: command not found\n", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"fio version" : "fio-3.33", "jobs" : NaN}', "NaN is no number"),
        (SINGLE + SINGLE, "two JSON objects in one file"),
        ('{"fio version" : "fio-3.33", "client_stats" : []}', "output of a fio client"),
    ],
)
def test_what_is_no_output_of_fio_is_refused(text: str, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        TOOL.runs(text)


@given(st.integers(0, len(PLUS.rstrip()) - 1))
@settings(max_examples=300)
def test_a_cut_file_is_refused(end: int) -> None:
    assert runs_or_none(TOOL, PLUS[:end]) is None


@pytest.mark.parametrize("text", [SINGLE, OLD], ids=["3.33", "2.2.10"])
def test_a_file_cut_at_any_line_is_refused(text: str) -> None:
    lines = text.rstrip().splitlines(keepends=True)
    for end in range(len(lines)):
        assert runs_or_none(TOOL, "".join(lines[:end])) is None, end


# Totals and rates are printed more than once, so a spoiled digit shows; it may hide only in the last digits.
CHECKED = ("bandwidth", "iops", "bytes_moved")


def check_spoiled(text: str, at: int, char: str) -> None:
    whole, found = only(text), runs_or_none(TOOL, changed(text, at, char))
    if found is None or found[0].failure:
        return
    for metric in [name for name in whole.values if name.endswith(CHECKED)]:
        mine = found[0].values.get(metric)
        assert mine is not None and math.isclose(mine, whole.values[metric], rel_tol=0.02), metric


@given(st.integers(0, len(PLUS) - 1), st.sampled_from('0123456789.-e,"{}[]: x\n'))
@settings(max_examples=600)
def test_a_spoiled_character_makes_no_other_rate(at: int, char: str) -> None:
    # Names of keys may change: then the key is missing, or it is one that we do not read.
    check_spoiled(PLUS, at, char)


@given(st.data())
@settings(max_examples=400)
def test_a_spoiled_digit_of_a_total_is_found(data: st.DataObject) -> None:
    digits = [at for at, char in enumerate(SINGLE) if char.isdigit()]
    check_spoiled(SINGLE, data.draw(st.sampled_from(digits)), data.draw(st.sampled_from("0123456789")))
