"""The order is a seeded permutation per block; the registration covers what decides, and what people predicted is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from golden_record import STUDY, load, project, swap
from hypothesis import given
from hypothesis import strategies as st

from zassay import files, plan
from zassay.errors import Problem
from zassay.progress import History, Reporter

CELLS = ["a", "b", "c", "d", "e", "f", "g"]
# Python promises the same shuffle from the same string seed; if this ever changes, recorded plans cannot be made again.
GOLDEN = ["bdgafce", "gbacfed"]


@pytest.fixture(autouse=True)
def fresh_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No history of this host's own runs."""
    monkeypatch.setenv("ZASSAY_CACHE", str(tmp_path / "cache"))


def made(folder: Path, old: str = "", new: str = "") -> dict[str, Any]:
    return plan.make(*load(project(folder, swap(old, new) if old else str)))


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=12, unique=True), st.integers(1, 4), st.integers(0, 2**40))
def test_each_block_holds_each_cell_once(cells: list[str], blocks: int, seed: int) -> None:
    turns = plan.order("s", cells, blocks, seed)
    for block in range(1, blocks + 1):
        mine = [turn for turn in turns if turn.block == block]
        assert sorted(turn.cell for turn in mine) == sorted(cells)
        assert [turn.position for turn in mine] == list(range(1, len(cells) + 1))


def test_the_order_of_our_seed_never_changes() -> None:
    turns = plan.order(STUDY, CELLS, 2, 20261121)
    assert ["".join(turn.cell for turn in turns if turn.block == block) for block in (1, 2)] == GOLDEN


@given(st.permutations(CELLS))
def test_the_order_does_not_depend_on_how_the_cells_are_listed(cells: list[str]) -> None:
    assert plan.order("s", cells, 3, 1) == plan.order("s", CELLS, 3, 1)


def test_blocks_seeds_and_studies_have_orders_of_their_own() -> None:
    def one(study: str, block: int, seed: int) -> tuple[str, ...]:
        return tuple(turn.cell for turn in plan.order(study, CELLS, block, seed) if turn.block == block)

    assert len({one("s", 1, 1), one("s", 2, 1), one("s", 1, 2), one("t", 1, 1)}) == 4


def test_adding_a_block_keeps_the_earlier_ones() -> None:
    assert plan.order("s", CELLS, 3, 1)[: len(CELLS) * 2] == plan.order("s", CELLS, 2, 1)


def test_the_same_project_gives_the_same_plan(tmp_path: Path) -> None:
    one, two = made(tmp_path / "a"), made(tmp_path / "b")
    assert files.canonical_json(one) == files.canonical_json(two)
    assert len(one["order"]) == one["blocks"] * len(one["cells"]) == 84


def test_words_do_not_change_the_registration(tmp_path: Path) -> None:
    one, two = made(tmp_path / "a"), made(tmp_path / "b", "title: Compression levels", "title: Other words")
    assert one["title"] != two["title"]
    assert one["prereg"] == two["prereg"]


def test_settings_and_levels_change_the_registration(tmp_path: Path) -> None:
    found = {made(tmp_path / "a")["prereg"], made(tmp_path / "b", 'atime: "off"', 'atime: "on"')["prereg"]}
    found.add(made(tmp_path / "c", "lzjb, lz4,", "lz4,")["prereg"])
    assert len(found) == 3


def test_claims_and_seed_change_the_registration(tmp_path: Path) -> None:
    one = made(tmp_path / "a")["prereg"]
    root = project(tmp_path / "b")
    with (root / "studies" / STUDY / "claims.yaml").open("a", encoding="utf-8") as handle:
        handle.write("\n# a remark\n")
    two = plan.make(*load(root))["prereg"]
    config = project(tmp_path / "c") / "config" / "config.yaml"
    config.write_text(swap("seed: 20261121", "seed: 20261122")(config.read_text()))
    three = plan.make(*load(tmp_path / "c"))["prereg"]
    assert len({one, two, three}) == 3


def test_a_plan_that_is_not_there_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="there is no plan yet") as caught:
        plan.read(tmp_path / "s")
    assert caught.value.hint == "write it: zassay plan s"


def test_turns_of_a_block_come_in_order(tmp_path: Path) -> None:
    found = plan.turns_of(made(tmp_path), 2)
    assert [turn.position for turn in found] == list(range(1, 29))
    assert {turn.block for turn in found} == {2}


# What is predicted and told


def test_history_is_kept_for_the_next_time(tmp_path: Path) -> None:
    history = History(tmp_path, "s", "smoke", "tcg")
    assert history.predict({"a": 9.0}) == {"a": 9.0}
    history.note("a", 10.0)
    history.note("a", 20.0)
    again = History(tmp_path, "s", "smoke", "tcg")
    assert (again.predict({"a": 9.0}), again.measured({"a", "b"})) == ({"a": 15.0}, {"a"})
    assert History(tmp_path, "s", "smoke", "kvm").predict({"a": 9.0}) == {"a": 9.0}


def test_guesses_are_corrected_by_what_was_measured_and_keep_their_proportions(tmp_path: Path) -> None:
    """Two cells took half as long as was guessed: so will the others, a long one longer than a short one."""
    history = History(tmp_path, "s", "smoke", "tcg")
    history.note("a", 5.0)
    history.note("b", 15.0)
    found = history.predict({"a": 12.0, "b": 28.0, "short": 8.0, "long": 100.0})
    assert found == {"a": 5.0, "b": 15.0, "short": 4.0, "long": 50.0}


def test_the_plan_predicts_from_history(tmp_path: Path) -> None:
    config = project(tmp_path / "p") / "config" / "config.yaml"
    config.write_text(swap("accel: auto", "accel: tcg")(config.read_text()))
    before = plan.make(*load(tmp_path / "p"))["predicted_s"]
    history = History(tmp_path / "cache", STUDY, "smoke", "tcg")
    for cell in load(tmp_path / "p")[1].cells:
        history.note(cell.id, 2.0)
    after = plan.make(*load(tmp_path / "p"))["predicted_s"]
    assert before > after == 3 * 28 * 2.0


def test_progress_counts_predicts_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reporter = Reporter(tmp_path / "logs" / "x.log", total=84, done=3)
    reporter.start("study, block 1: lz4", 245.0)
    reporter.end({"status": "ok"})
    reporter.start("study, block 1: off", 60.0)
    reporter.end({"status": "failed", "step": "create", "reason": "exit code 1", "hint": "| zpool create\nmore"})
    said = capsys.readouterr().err
    assert said.splitlines() == [
        "[4/84] study, block 1: lz4 · about 4 min 05 s left",
        "[5/84] study, block 1: off · about 1 min 00 s left",
        "    FAILED (create): exit code 1",
        "      | zpool create",
        "      more",
    ]
    logged = (tmp_path / "logs" / "x.log").read_text(encoding="utf-8")
    assert all(line in logged for line in said.splitlines())
