"""bonnie++'s CSV in two formats; and the same cut or spoiled at any place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_output import changed, recorded, runs_or_none

from zassay.readers import Unreadable
from zassay.tools import bonnie

OLD, NEW = recorded("bonnie/1.96-six-hosts.csv"), recorded("bonnie/2.00a-table-and-csv.txt")
FAST, N0, S0 = (recorded(f"bonnie/2.00a-{kind}.csv") for kind in ("x2-too-fast", "n0", "s0"))
TOOL = bonnie.Bonnie()
LINE = NEW.splitlines()[-1] + "\n"
ONE_OLD = OLD.splitlines()[0] + "\n"


def test_a_line_of_2_00() -> None:
    (line,) = bonnie.read(NEW)
    assert (line.format, line.version, line.host, line.concurrency, line.size) == ("1.98", "2.00a", "rig", 1, 1000 << 20)
    put, seeks = line.phases["put_block"], line.phases["seeks"]
    assert (put.rate, put.cpu, put.latency) == (100868 * 1024, 0.32, pytest.approx(24967e-6))
    assert (seeks.rate, seeks.latency) == (13474, pytest.approx(48082e-6)), "operations, not KiB"
    assert line.phases["get_block"] == bonnie.Phase(None, True, None, pytest.approx(8123e-6))


def test_the_wrong_rates_in_the_table_for_people_are_not_read() -> None:
    (line,) = bonnie.read(NEW)
    assert " 16384 " in NEW
    assert [line.phases[name].rate for name in ("seq_create", "seq_del", "ran_create", "ran_del")] == [14604, 19169, 1010, 29642]


def test_lines_of_1_96_have_two_fields_less() -> None:
    lines = bonnie.read(OLD)
    assert [line.host for line in lines] == [f"host{number}" for number in range(1, 7)]
    assert (lines[0].size, lines[2].size) == (8096 << 20, 16 << 30)
    assert lines[0].phases["putc"] == bonnie.Phase(838 * 1024, False, 0.98, pytest.approx(9829e-6))
    assert lines[0].phases["seeks"] == bonnie.Phase(228.2, False, 0.01, pytest.approx(2.016))
    assert lines[5].phases["getc"].too_fast


def test_the_header_of_x_is_passed_over_though_it_lacks_two_names() -> None:
    header = FAST.splitlines()[0].split(",")
    assert [name for name in bonnie.columns("1.98") if name not in header] == list(bonnie.SEEKS)
    assert len(bonnie.read(FAST)) == 2


def test_phases_left_out_are_absent_and_too_fast_is_no_zero() -> None:
    first, second = TOOL.runs(FAST)
    assert "seq_char_write" not in first.values and "seq_char_write" not in first.too_fast
    assert first.values == {} and "rewrite" in first.too_fast
    assert second.values == {"seq_file_create": 2025, "random_file_create": 1652}
    assert [set(line.phases) for line in bonnie.read(N0)] == [set(bonnie.IO)] * 2
    assert set(bonnie.read(S0)[0].phases) == set(bonnie.FILES)
    assert bonnie.read(S0)[0].size is None


def test_every_metric_has_a_unit() -> None:
    for text in (OLD, NEW):
        for run in TOOL.runs(text):
            assert set(run.values) | set(run.too_fast) <= set(TOOL.kinds)
    assert TOOL.kinds["random_seeks"].unit == "1/s" and TOOL.kinds["rewrite"].unit == "B/s"


def with_field(name: str, value: str) -> str:
    names, values = bonnie.columns("1.98"), LINE.strip().split(",")
    values[names.index(name)] = value
    return ",".join(values) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line of CSV"),
        ("host,8096M,38449,67\n", "no line of CSV"),
        (LINE.replace("1.98,", "1.93c,", 1), "line 1, format_version: '1.93c'; expected 1.96, 1.97, 1.98"),
        (LINE.replace(",32M", ""), None),
        (",".join(LINE.split(",")[:-1]) + "\n", "49 fields; expected 50 in format 1.98"),
        (LINE.replace("rig", "a,b"), "51 fields; expected 50"),
        (with_field("put_block", "n/a"), "line 1, put_block: 'n/a'; expected a number above 0"),
        (with_field("put_block", "0"), "line 1, put_block: '0'; expected a number above 0"),
        (with_field("put_block", "-5"), "line 1, put_block: '-5'"),
        (with_field("put_block", "1e9"), "line 1, put_block: '1e9'"),
        (with_field("put_block", ""), "line 1, put_block: empty, but its CPU or latency is not"),
        (with_field("put_block_latency", "12"), "line 1, put_block_latency: '12'; expected a time with its unit"),
        (with_field("concurrency", ""), "line 1, concurrency: ''; expected a whole number"),
        (with_field("file_size", "1000X"), "line 1, file_size: '1000X'"),
        (",".join([*LINE.split(",")[:5], *[""] * 45]) + "\n", "no phase has a result"),
        (LINE.rstrip(), "the last line is cut off"),
    ],
)
def test_a_bad_line_names_line_and_field(text: str, said: str | None) -> None:
    if said is None:
        assert TOOL.runs(text)
        return
    with pytest.raises(Unreadable, match=said.replace("(", r"\(").replace("+", r"\+")):
        TOOL.runs(text)


@pytest.mark.parametrize("text", [OLD, FAST, N0, NEW], ids=["1.96", "x2", "n0", "table"])
def test_a_cut_file_is_refused_or_says_less(text: str) -> None:
    whole, readable = TOOL.runs(text), 0
    for end in range(len(text)):
        found = runs_or_none(TOOL, text[:end])
        if found is not None:
            readable += 1
            assert found == whole[: len(found)], end
    assert readable <= text.count("\n"), "only a cut between two runs may go unseen"


@pytest.mark.parametrize("line", [LINE, ONE_OLD], ids=["1.98", "1.96"])
@given(data=st.data(), char=st.sampled_from("0123456789.,+-musMG x\n"))
@settings(max_examples=600)
def test_a_spoiled_character_touches_one_field(line: str, data: st.DataObject, char: str) -> None:
    """No field is printed twice, so another digit cannot be seen; but no number moves into another field, and none appears."""
    at = data.draw(st.integers(0, len(line) - 1))
    (whole,), found = TOOL.runs(line), runs_or_none(TOOL, changed(line, at, char))
    if found is None:
        return
    assert len(found) == 1
    different = {name for name in whole.values | found[0].values if whole.values.get(name) != found[0].values.get(name)}
    assert len(different) <= 1
    if not (line[at].isdigit() and char in "0123456789.") and not (line[at] == "." and char.isdigit()):
        assert all(found[0].values.get(name) is None for name in different), "only a digit can make another number"
