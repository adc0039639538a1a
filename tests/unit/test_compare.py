"""zassay compare: circumstances ranked by what matters, claims with what the original predicts, a summary over three."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import demo
import pytest

from zassay import cli
from zassay.bundle import environment
from zassay.bundle.comparison import open_one

V = {"validity_class": "V", "accel": "kvm"}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Four campaigns: an original, one with other circumstances and costs, one much the same, and an emulated one."""
    place = tmp_path_factory.mktemp("campaigns")

    def make(seed: int, scale: float = 1.0, direct: str = "on", **guest: str) -> Path:
        root = demo.project(place / str(seed))
        demo.invented(root, seed=seed, scale=scale, direct=direct, **guest)
        return demo.bundle(demo.decide(root)).written.path

    return {
        "original": make(1, **V),
        "other": make(2, scale=1.4, direct="off", zfs="2.3.9-1", kernel="6.12.1", **V),
        "alike": make(3, **V),
        "emulated": make(4),
    }


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return {row["claim"]: row for row in csv.DictReader(handle)}


def compare(tmp_path: Path, *paths: Path) -> tuple[int, Path]:
    return cli.main(["compare", *map(str, paths), "--out", str(tmp_path / "out")]), tmp_path / "out"


def test_circumstances_come_first_and_the_weightiest_of_them_first(
    bundles: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = compare(tmp_path, bundles["original"], bundles["other"])
    told = capsys.readouterr().out
    assert code == 0
    assert told.index("1 ZFS") < told.index("2 kernel") < told.index("4 cache mode") < told.index("16 claims")
    assert "zfs: A 2.1.11-1+deb12u1 | B 2.3.9-1" in told
    assert "disks of the pool on the host: A cache.direct=on aio=native | B cache.direct=off aio=native" in told
    assert "the same: plan, accelerator, memory : ARC, CPU" in told
    assert (out / "comparison.txt").read_text() == told
    with (out / "environment.csv").open(newline="") as handle:
        ranks = [int(row["rank"]) for row in csv.DictReader(handle)]
    assert ranks == sorted(ranks)


def test_a_claim_that_held_twice_agrees_and_its_other_size_is_said(bundles: dict[str, Path], tmp_path: Path) -> None:
    found = rows(compare(tmp_path, bundles["original"], bundles["other"])[1] / "claims.csv")
    assert (found["S3-02"]["replication"], found["S3-02"]["why"]) == ("agree", "")
    assert found["S3-08"]["replication"] == "agree"
    assert "the size differs" in found["S3-08"]["why"]
    assert found["S3-08"]["published"] == "3.468"
    assert found["S3-08"]["original"].startswith("3.4") and found["S3-08"]["ours"] != found["S3-08"]["original"]
    assert found["S3-08"]["prediction"].startswith("outside [")
    assert found["S3-15"]["original"].startswith("-")  # no apostrophe of the bundle's


def test_what_is_alike_lies_inside_the_prediction(bundles: dict[str, Path], tmp_path: Path) -> None:
    found = rows(compare(tmp_path, bundles["original"], bundles["alike"])[1] / "claims.csv")
    assert found["S3-08"]["prediction"].startswith("inside [")
    assert found["S3-08"]["why"] == ""
    assert not [claim for claim, row in found.items() if row["replication"] == "disagree"]


def test_validity_classes_are_not_mixed(bundles: dict[str, Path], tmp_path: Path) -> None:
    found = rows(compare(tmp_path, bundles["original"], bundles["emulated"])[1] / "claims.csv")
    assert found["S3-08"]["replication"] == "cannot be compared"
    assert found["S3-08"]["why"] == "not testable in the replication (class)"
    assert (found["S3-02"]["replication"], found["S3-02"]["why"]) == ("agree", "by outcome, counts of class V and E; ")


def test_three_have_a_summary_that_is_labelled(
    bundles: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = compare(tmp_path, bundles["original"], bundles["other"], bundles["alike"])
    assert "random-effects summary: DerSimonian and Laird" in capsys.readouterr().out
    found = rows(out / "summary.csv")
    assert found["S3-08"]["method"].startswith("random-effects summary")
    assert found["S3-08"]["bundles"] == "A B C"
    assert float(found["S3-08"]["lo"]) < float(found["S3-08"]["estimate"]) < float(found["S3-08"]["hi"])
    assert (found["S3-02"]["method"], found["S3-02"]["why"]) == ("none", "decided by counts: see the verdicts")


def test_a_summary_keeps_to_one_class(bundles: dict[str, Path], tmp_path: Path) -> None:
    _, out = compare(tmp_path, bundles["original"], bundles["alike"], bundles["emulated"])
    with (out / "summary.csv").open(newline="") as handle:
        found = [row for row in csv.DictReader(handle) if row["claim"] == "S3-08"]
    assert {row["class"] for row in found} == {"V", "E"}
    assert {row["method"] for row in found} == {"none"}


def test_a_folder_will_do(bundles: dict[str, Path], tmp_path: Path) -> None:
    shutil.unpack_archive(bundles["other"], tmp_path)
    assert compare(tmp_path, bundles["original"], tmp_path / bundles["other"].stem)[0] == 0


def test_one_bundle_twice_is_refused(bundles: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(tmp_path, bundles["original"], bundles["original"])[0] == 1
    assert "are the same bundle" in capsys.readouterr().err
    assert compare(tmp_path, bundles["original"])[0] == 1
    assert "legal: 2 to 26" in capsys.readouterr().err


def test_of_a_thousand_runs_one_tells_how_disks_were_cached(bundles: dict[str, Path], tmp_path: Path) -> None:
    opened = open_one(bundles["original"], tmp_path / "a")
    assert len(list(opened.data.rglob("raw/*/*/facts.json"))) == 1
    assert not list(opened.data.rglob("*.R"))


def test_missing_records_are_said_and_odd_ones_do_no_harm(bundles: dict[str, Path], tmp_path: Path) -> None:
    first, second = (open_one(bundles[name], tmp_path / name) for name in ("original", "other"))
    for place, text in (("plan.json", '{"cells": [3], "sizes": []}'), ("facts.json", "[1]")):
        (second.data / "results" / demo.STUDY / place).write_text(text)
    found = {row.name: row for row in environment.compare([first, second], [demo.STUDY])}
    assert found["memory / ARC"].values == ("8", environment.NO_VALUE)
    assert found["QEMU"].values == ("7, 2, 22", environment.NO_VALUE)
