"""Sizes and YAML at the edge: what is read is what was written, and each trap has one clear message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zassay import schema, units
from zassay.errors import Problem

MIB = 1 << 20
SCOPE = {"arc": 64 * MIB, "memory": 512 * MIB}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64 MiB", 64 * MIB),
        ("1.5 GiB", 3 << 29),
        ("128K", 128 << 10),
        (" 7 B ", 7),
        ("2TiB", 2 << 40),
        (4096, 4096),
        ("4096", 4096),
    ],
)
def test_sizes_become_bytes(text: int | str, size: int) -> None:
    assert units.parse_bytes(text) == size


@pytest.mark.parametrize("text", ["64 MB", "MiB", "-1 MiB", "1,5 MiB", "", "1e3 B", "0x10", "1 mib"])
def test_what_is_no_size_lists_the_legal_units(text: str) -> None:
    with pytest.raises(Problem, match="not a size") as caught:
        units.parse_bytes(text)
    assert "KiB, MiB, GiB" in caught.value.hint


@given(st.integers(0, 2**50), st.sampled_from(["B", "KiB", "MiB"]))
def test_whole_sizes_are_exact(number: int, suffix: str) -> None:
    assert units.parse_bytes(f"{number} {suffix}") == number * units.SUFFIXES[suffix]


@pytest.mark.parametrize(
    ("text", "size"),
    [("1/8 * memory", 64 * MIB), ("2 * arc", 128 * MIB), ("1.5*arc", 96 * MIB), ("1/3 * arc", 21 * MIB), ("5 MiB", 5 * MIB)],
)
def test_sizes_may_be_relative_and_are_whole_mebibytes_then(text: str, size: int) -> None:
    assert units.resolve_size(text, SCOPE) == size


@given(st.integers(1, 64), st.integers(1, 64))
def test_a_relative_size_never_exceeds_its_ratio(factor: int, divisor: int) -> None:
    found = units.resolve_size(f"{factor}/{divisor} * memory", SCOPE)
    assert found % MIB == 0
    assert 0 <= SCOPE["memory"] * factor / divisor - found < MIB


def test_a_relative_size_of_something_unknown_lists_the_known() -> None:
    with pytest.raises(Problem, match='relative to "ark"') as caught:
        units.resolve_size("2 * ark", SCOPE)
    assert caught.value.hint == "known: arc, memory"


@pytest.mark.parametrize("value", [64, "64", "1.5"])
def test_a_size_in_a_file_needs_its_unit(value: int | str) -> None:
    with pytest.raises(Problem, match="size without a unit") as caught:
        units.resolve_size(value, SCOPE)
    assert caught.value.hint == "write the unit, as in 64 MiB"


def test_a_bad_size_says_where_it_stands() -> None:
    with pytest.raises(Problem, match=r'^machines/x\.yaml: memory: not a size: "1 MB"'):
        units.with_unit("1 MB", "machines/x.yaml: memory")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536 * MIB, "1.5 GiB"), (2**41, "2 TiB"), (2**52, "4096 TiB")],
)
def test_bytes_for_people(value: int, shown: str) -> None:
    assert units.show_bytes(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.04, "0.0 s"), (59.9, "59.9 s"), (60, "1 min 00 s"), (245.2, "4 min 05 s"), (3600, "1 h 00 min"), (7859, "2 h 10 min")],
)
def test_seconds_for_people(value: float, shown: str) -> None:
    assert units.show_seconds(value) == shown


# YAML, against a schema of this test's own

SCHEMA = """
type: object
additionalProperties: false
required: [machine, blocks]
properties:
  machine: {type: string, description: "a file of machines/"}
  arc: {type: [string, integer]}
  blocks: {type: integer, minimum: 1}
  levels: {anyOf: [{type: array, uniqueItems: true, items: {type: string}}, {type: object}]}
"""
GOOD = "machine: small\narc: 64 MiB\nblocks: 3\n"


@pytest.fixture(autouse=True)
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The schema, as ``trap``."""
    (tmp_path / "trap.schema.yaml").write_text(SCHEMA)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "SCHEMAS", tmp_path)
        schema.validator.cache_clear()
        yield
    schema.validator.cache_clear()


def problem_of(tmp_path: Path, text: str) -> str:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Problem) as caught:
        schema.load_yaml(path, "trap")
    return str(caught.value).removeprefix(f"{path}: ")


def test_a_good_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(GOOD)
    assert schema.load_yaml(tmp_path / "x.yaml", "trap") == {"machine": "small", "arc": "64 MiB", "blocks": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "block: 3\n", "has an unknown key: block\n  known keys: arc, blocks, levels, machine\n  (did you mean blocks?)"),
        (GOOD + "arc: 1 MiB\n", "line 4: key 'arc' is given twice"),
        (GOOD.replace("small", "off"), 'machine is the boolean false; write "off" in quotes\n  a file of machines/'),
        (GOOD.replace("small", "on"), 'machine is the boolean true; write "on" in quotes\n  a file of machines/'),
        (GOOD + "levels: [a, off]\n", 'levels[1] is the boolean false; write "off" in quotes'),
        (GOOD + "levels: [a, b, a]\n", "levels says twice: a"),
        (GOOD + "off: 1\n", 'line 4: a key is the boolean false; write "off" in quotes'),
        (GOOD + "50: 1\n", 'line 4: a key is the number 50; write "50" in quotes'),
        (GOOD + "1:30: 1\n", 'line 4: a key is the number 90; write "1:30" in quotes'),
        (GOOD + "[a]: 1\n", "line 4: a key is the value ['a']; write \"['a']\" in quotes"),
        (GOOD + "levels: {a: {b: 1, b: 2}}\n", "line 4: key 'b' is given twice"),
        (GOOD.replace("3", "0"), "blocks 0 is less than the minimum of 1"),
        ("machine: small\n", "'blocks' is a required property"),
        ("[]\n", "[] is not of type 'object'"),
    ],
)
def test_each_trap_of_yaml_has_one_message(tmp_path: Path, text: str, message: str) -> None:
    assert problem_of(tmp_path, text) == message


def test_a_file_that_is_not_yaml_or_not_there_is_named(tmp_path: Path) -> None:
    assert problem_of(tmp_path, "a: [1").startswith("not YAML:")
    with pytest.raises(Problem, match=r"none\.yaml: No such file"):
        schema.read_yaml(tmp_path / "none.yaml")


def test_files_below_this_folder_are_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert schema.shown(tmp_path / "studies" / "x.yaml") == "studies/x.yaml"
    assert schema.shown(tmp_path.parent / "y.yaml") == str(tmp_path.parent / "y.yaml")


@pytest.mark.parametrize("path", sorted(schema.SCHEMAS.glob("*.schema.yaml")), ids=lambda path: path.name)
def test_the_schemas_are_schemas(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema.read_yaml(path))
