"""zassay explain, and the predictions behind it: every study at every scale, from bytes and from this host's own runs."""

from __future__ import annotations

import dataclasses
import re

import pytest

from zassay import campaign, cli, predict, study
from zassay.progress import History
from zassay.study import Cell, Study
from zassay.units import show_bytes

ROOT = campaign.project_root()
EACH = [(name, scale) for name in study.known_studies(ROOT) for scale in campaign.known_scales(ROOT)]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZASSAY_CACHE", str(tmp_path))


def at(name: str, scale: str) -> Study:
    return study.load(ROOT, name, campaign.load_scale(ROOT, scale))


def explained(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["explain", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("name", "scale"), EACH)
def test_every_study_is_explained_at_every_scale(name: str, scale: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every cell is there, and every size, in bytes and as a ratio."""
    what = at(name, scale)
    said = explained(capsys, name, "--scale", scale, "--accel", "tcg")
    for cell in what.cells:
        assert re.search(rf"^    {re.escape(cell.id)}  ", said, re.MULTILINE), cell.id
    for size, value in what.sizes.items():
        line = next(line for line in said.splitlines() if line.startswith(f"  {size} "))
        assert show_bytes(value) in line
        assert f"{value} B" in line
        assert f"{value / what.sizes['arc']:.4g} " in line
    assert f"{len(what.cells)} cells" in said
    assert said.count("(a guess)") == len(what.cells)


def test_levels_that_a_scale_leaves_out_stand_in_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    smoke, paper = (explained(capsys, "zfs-on-linux", "--scale", scale, "--accel", "kvm") for scale in ("smoke", "paper"))
    assert re.search(r"protocol +improved, \(as_published\)$", smoke, re.MULTILINE)
    assert re.search(r"protocol +improved, as_published$", paper, re.MULTILINE)
    assert "left out at this scale" in smoke
    assert "left out at this scale" not in paper


def test_the_parts_of_a_study_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Cells stand under what they do, with amounts in bytes and as ratios."""
    said = explained(capsys, "zfs-on-linux", "--scale", "lab", "--accel", "kvm")
    headings = re.findall(r"^  (\S+): (.+)$", said, re.MULTILINE)
    assert [tool for tool, _ in headings] == ["bonnie", "parallel-writers", "fio", "fio"]
    assert "size 8 GiB (8 × arc)" in dict(headings[:1])["bonnie"]


def test_what_was_measured_is_no_guess(capsys: pytest.CaptureFixture[str]) -> None:
    cell = at("zfs-on-linux", "smoke").cells[0].id
    History(campaign.cache_dir(), "zfs-on-linux", "smoke", "tcg").note(cell, 12.5)
    said = explained(capsys, "zfs-on-linux", "--scale", "smoke", "--accel", "tcg")
    assert re.search(rf"^    {re.escape(cell)} +12.5 s$", said, re.MULTILINE)
    assert "1 of " in said.splitlines()[-1]


# Predictions


def cell_of(name: str, scale: str, word: str) -> Cell:
    return next(cell for cell in at(name, scale).cells if word in cell.id)


def test_more_bytes_take_longer_and_emulation_is_slower() -> None:
    smoke, lab = (cell_of("zfs-on-linux", scale, "bonnie_initial").settings for scale in ("smoke", "lab"))
    assert predict.prior_s(lab, "tcg") > predict.prior_s(smoke, "tcg") > predict.prior_s(smoke, "kvm") > 0


def test_each_run_counts() -> None:
    one = cell_of("compression-dedup", "smoke", "off_off").settings
    four = dataclasses.replace(one, workload={**one.workload, "runs": 4})
    spared = 3 * predict.OVERHEAD_S["tcg"]
    assert predict.prior_s(four, "tcg") == pytest.approx(4 * predict.prior_s(one, "tcg") - spared)


def test_no_disk_is_faster_than_its_limit() -> None:
    free = cell_of("compression-dedup", "smoke", "off_off").settings
    disks = {role: {**disk, "bytes_per_s": 1 << 20} for role, disk in free.machine["disks"].items()}
    slow = dataclasses.replace(free, machine={**free.machine, "disks": disks})
    assert predict.prior_s(slow, "kvm") > 20 * predict.prior_s(free, "kvm")


def test_a_rotating_disk_takes_its_time_for_each_place() -> None:
    """A 7200/min disk: half a turn and the mean seek are 12 ms, so 8192 random reads take a minute and a half and more."""
    disk = {"rotation": {"rpm": 7200, "track_seek_s": 0.001, "full_seek_s": 0.015}}
    assert predict.operation_s(disk) == pytest.approx(1 / 240 + 0.008)
    assert predict.operation_s({"operations_per_s": 500}) == pytest.approx(0.002)
    assert predict.operation_s({}) == 0
    turning = cell_of("zfs-on-linux", "lab", "slog").settings
    still = dataclasses.replace(turning, machine={**turning.machine, "disks": {}})
    assert predict.prior_s(turning, "kvm") - predict.prior_s(still, "kvm") > 8192 * 0.012


@pytest.mark.parametrize(("name", "scale"), EACH)
def test_every_workload_says_how_much_it_moves(name: str, scale: str) -> None:
    for cell in at(name, scale).cells:
        assert predict.prior_s(cell.settings, "tcg") > predict.OVERHEAD_S["tcg"] + 0.1, cell.id
