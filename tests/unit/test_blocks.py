"""zassay blocks asks the statistics; and the simulator's plans are those that zassay itself would make."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from zassay import cli, study
from zassay.campaign import load, project_root

ROOT = project_root()
NAME = "compression-levels"


def simulate(folder: Path, name: str, *words: str, **environment: str) -> None:
    argv = [str(ROOT / "analysis/exec/simulate"), "--study", name, "--out", str(folder), "--no-raw", *words]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment}, timeout=120)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with this one's analysis and studies, and results of its own."""
    for part in ("analysis", "studies", "config", "machines", "images", "workflows", "src"):
        (tmp_path / part).symlink_to(ROOT / part)
    monkeypatch.setenv("ZASSAY_ROOT", str(tmp_path))
    return tmp_path


def test_blocks_says_how_many_more_and_records_why(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project / "results" / NAME
    simulate(folder, NAME, "--blocks", "4", "--class", "V", ZASSAY_PRETEND="1")
    assert cli.main(["blocks", NAME]) == 0
    assert "6 further blocks after 4 (fewer than 10 blocks" in capsys.readouterr().out
    made = json.loads((folder / "blocks.json").read_text())
    assert made["further"] == 6
    assert "never p-values or verdicts" in made["rule"]
    assert all(len(each["half_widths"]) == len(each["blocks"]) == 3 for each in made["contrasts"])


def test_a_plan_from_a_pilot(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project / "results" / NAME
    simulate(folder, NAME, "--blocks", "4", "--class", "V", ZASSAY_PRETEND="1")
    assert cli.main(["blocks", NAME, "--plan"]) == 0
    assert "S3-07: sd" in capsys.readouterr().out
    assert (folder / "blocks-plan.csv").read_text().startswith("claim,link,pilot_blocks,sd")


def test_without_data_it_says_what_to_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["blocks", NAME]) == 1
    assert "dataset.csv is missing" in capsys.readouterr().err


def test_bounds_that_do_not_go_together_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(project / "results" / NAME, NAME)
    assert cli.main(["blocks", NAME, "--least", "9", "--most", "4"]) == 1
    assert "--least 9 and --most 4 do not go together" in capsys.readouterr().err


@pytest.mark.parametrize("name", study.known_studies(ROOT))
def test_the_simulator_expands_a_study_as_zassay_does(tmp_path: Path, name: str) -> None:
    scale = load().scale
    simulate(tmp_path, name, "--blocks", "1", "--scale", scale.name)
    made, ours = json.loads((tmp_path / "plan.json").read_text()), study.load(ROOT, name, scale)
    assert [cell["id"] for cell in made["cells"]] == [cell.id for cell in ours.cells]
    assert [cell["levels"] for cell in made["cells"]] == [cell.levels for cell in ours.cells]
    assert [metric["name"] for metric in made["metrics"]] == [metric.name for metric in ours.metrics]
    assert made["factors"] == list(ours.factors)


def test_simulated_rows_of_another_class_are_refused(tmp_path: Path) -> None:
    argv = [str(ROOT / "analysis/exec/simulate"), "--study", NAME, "--class", "V", "--out", str(tmp_path / "made")]
    environment = {key: value for key, value in os.environ.items() if key != "ZASSAY_PRETEND"}
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 1
    assert "simulated rows are class S" in done.stderr
    assert not (tmp_path / "made").exists()
