"""The demonstration bundle: this repository's own smoke campaign, from raw records to a figure that a stranger can make again.

Until a campaign is recorded (README.md) one made up by arithmetic takes its place, so that the path itself is always tested.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import demo
import pytest

from zassay import cli
from zassay.bundle.build import Built

LIMIT_S = 180
FIGURES = [f"{name}.{kind}" for name in ("G3a", "G3b", "G3c", "GA") for kind in ("svg", "pdf", "png")]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = demo.project(tmp_path_factory.mktemp("demonstration") / "project")
    return demo.analyse(demo.recorded(root) if demo.RECORDING.is_file() else demo.invented(root))


@pytest.fixture(scope="module")
def bundle(campaign: Path) -> Built:
    return demo.bundle(campaign)


@pytest.fixture(scope="module")
def again(bundle: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `zassay reanalyse` made of it."""
    out = tmp_path_factory.mktemp("reanalysed") / "again"
    start = time.monotonic()
    assert cli.main(["reanalyse", str(bundle.written.path), "--out", str(out)]) == 0
    assert time.monotonic() - start < LIMIT_S
    return out


def test_it_verifies(bundle: Built) -> None:
    assert cli.main(["verify", str(bundle.written.path)]) == 0


def test_it_is_rebuilt_byte_for_byte(bundle: Built, campaign: Path) -> None:
    assert demo.bundle(campaign).written == bundle.written


def test_tables_figures_and_report_are_the_bundles_own(again: Path, campaign: Path) -> None:
    names = ["estimates.csv", "verdicts.csv", *(f"figures/{name}" for name in FIGURES)]
    for name in names:
        path = Path("results", demo.STUDY, name)
        assert (again / path).read_bytes() == (campaign / path).read_bytes(), name
    for name in ("report.html", "report.pdf", "cited/claims.csv", "cited/audit.csv"):
        assert (again / "results" / name).read_bytes() == (campaign / "results" / name).read_bytes(), name


def test_nothing_it_was_made_from_is_raw(again: Path) -> None:
    """The tables suffice: no raw record and no code of the bundle is even unpacked."""
    assert not list(again.rglob("raw")) and not list(again.rglob("*.R")) and not list(again.rglob("*.py"))


@pytest.mark.skipif(not demo.RECORDING.is_file(), reason="no campaign is recorded yet")
def test_the_documented_command_makes_it(tmp_path: Path) -> None:
    path = demo.run([str(demo.ROOT / "tools" / "demonstrate"), str(tmp_path)], tmp_path).splitlines()[-1]
    assert Path(path).parent == tmp_path
    assert cli.main(["verify", path]) == 0


def test_it_may_be_cited(bundle: Built, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cite", "--format", "apa", str(bundle.written.path)]) == 0
    assert "[Data set]" in capsys.readouterr().out


def test_an_unpacked_bundle_with_another_verdict_is_told(
    bundle: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever publishes verdicts that do not follow from the tables is found out."""
    forged = tmp_path / "project"
    demo.run(["cp", "-r", str(bundle.written.path.parents[2]), str(forged)], tmp_path)
    table = forged / "results" / demo.STUDY / "verdicts.csv"
    with table.open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert rows[1]["verdict"] == "REPLICATED"
    table.write_text(table.read_text().replace(",REPLICATED,", ",NOT REPLICATED,", 1))
    path = demo.bundle(forged).written.path
    assert cli.main(["verify", str(path)]) == 0
    assert cli.main(["reanalyse", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"differs  results/{demo.STUDY}/verdicts.csv" in told
    assert f"{rows[1]['claim']}: NOT REPLICATED there, REPLICATED here" in told
