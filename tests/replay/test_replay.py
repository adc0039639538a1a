"""A recorded smoke campaign through every later stage: no virtual machine, the same verdicts as when it was recorded.

``compression-levels.tar.xz`` holds raw records of real guests (see README.md beside it for how to record it anew).
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import demo
import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
STUDY = "compression-levels"
DEADLINE_S = 300


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder whose results come from the recording; every later stage has been run in it, in order."""
    root = demo.project(tmp_path_factory.mktemp("replay") / "project")
    demo.unpack(root)
    study, claims = f"results/{STUDY}", f"studies/{STUDY}/claims.yaml"
    for command in (
        ["zassay", "parse", STUDY],
        ["zassay", "dataset", STUDY],
        ["analysis/exec/figures", "--study-dir", study, "--claims", claims, "--set", "data"],
        ["analysis/exec/estimate", "--study-dir", study, "--claims", claims, "--lint", f"{study}/figures/lint.json"],
        ["analysis/exec/figures", "--study-dir", study, "--claims", claims, "--set", "claims"],
        ["analysis/exec/report", "--results", "results", "--studies", STUDY, "--config", "config/config.yaml"],
        ["zassay", "pdf"],
        ["zassay", "bundle", "--root", str(root)],
    ):
        run(command, root)
    return root


def run(command: list[str], root: Path) -> str:
    environment = os.environ | {"ZASSAY_ROOT": str(root), "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
    environment.pop("ZASSAY_CONFIG", None)
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_every_run_of_the_plan_is_in_the_dataset(replayed: Path) -> None:
    plan = json.loads((replayed / "results" / STUDY / "plan.json").read_text())
    found = rows(replayed / "results" / STUDY / "dataset.csv")
    assert len(found) == len(plan["order"]) * len(plan["metrics"])
    assert len({(row["cell"], row["block"]) for row in found}) == len(plan["order"])


def test_real_guests_pass_the_gates(replayed: Path) -> None:
    statuses = Counter(row["status"] for row in rows(replayed / "results" / STUDY / "dataset.csv"))
    assert set(statuses) == {"ok"}


def test_the_verdicts_are_those_that_were_recorded(replayed: Path) -> None:
    now = {row["claim"]: (row["verdict"], row["detail"]) for row in rows(replayed / "results" / STUDY / "verdicts.csv")}
    assert now == {row["claim"]: (row["verdict"], row["detail"]) for row in rows(HERE / "verdicts.csv")}


def test_counts_are_decided_and_times_are_not(replayed: Path) -> None:
    found = {row["claim"]: row for row in rows(replayed / "results" / STUDY / "verdicts.csv")}
    for claim in ("S3-02", "S3-03", "S3-04", "S3-15"):
        assert found[claim]["verdict"] in ("REPLICATED", "NOT REPLICATED", "INCONCLUSIVE"), claim
    for claim, row in found.items():
        if row["min_class"] in "VB":
            assert row["verdict"] == "NOT TESTABLE HERE", claim


def test_figures_and_report_are_there(replayed: Path) -> None:
    figures = {path.name for path in (replayed / "results" / STUDY / "figures").iterdir()}
    assert {f"{name}.{kind}" for name in ("G3a", "G3b", "G3c", "GA") for kind in ("svg", "pdf", "png")} <= figures
    page = (replayed / "results" / "report.html").read_text(encoding="utf-8")
    assert "NOT TESTABLE HERE" in page and "<script src" not in page and "http-equiv" not in page.lower()


def test_the_bundle_verifies_and_a_changed_byte_does_not(replayed: Path) -> None:
    bundle = replayed / json.loads((replayed / "results" / "bundle.json").read_text())["path"]
    run(["zassay", "verify", str(bundle)], replayed)
    spoiled = replayed / "spoiled.zip"
    shutil.copy(bundle, spoiled)
    with spoiled.open("r+b") as handle:
        handle.seek(spoiled.stat().st_size // 2)
        byte = handle.read(1)
        handle.seek(-1, os.SEEK_CUR)
        handle.write(bytes([byte[0] ^ 1]))
    with pytest.raises(AssertionError):
        run(["zassay", "verify", str(spoiled)], replayed)


def test_the_same_records_give_the_same_bytes(replayed: Path) -> None:
    tables = ("dataset.csv", "estimates.csv", "verdicts.csv", "figures/G3b.svg", "figures/G3b.png")
    before = {name: (replayed / "results" / STUDY / name).read_bytes() for name in tables}
    study, claims = f"results/{STUDY}", f"studies/{STUDY}/claims.yaml"
    run(["zassay", "dataset", STUDY], replayed)
    run(["analysis/exec/figures", "--study-dir", study, "--claims", claims, "--set", "data"], replayed)
    run(["analysis/exec/estimate", "--study-dir", study, "--claims", claims, "--lint", f"{study}/figures/lint.json"], replayed)
    assert {name: (replayed / "results" / STUDY / name).read_bytes() for name in tables} == before
