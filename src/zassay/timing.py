"""Where a study's time went: predicted against actual, and how much of it was neither preparing nor measuring."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from zassay import files

MEASURING, PREPARING = "measure.", "prepare."
PREPARE_STEPS = {"create"}


def kind(step: str) -> str:
    """measure, prepare or overhead."""
    if step.startswith(MEASURING):
        return "measure"
    return "prepare" if step.startswith(PREPARING) or step in PREPARE_STEPS else "overhead"


def split(status: dict[str, Any]) -> dict[str, float]:
    """Seconds of one run by kind; what no step accounts for is overhead."""
    shares = {"measure": 0.0, "prepare": 0.0, "overhead": 0.0}
    for step, seconds in status["seconds"].items():
        shares[kind(step)] += seconds
    shares["overhead"] += max(0.0, status["wall_s"] - sum(shares.values()))
    return shares


def statuses(study_dir: Path, plan: dict[str, Any]) -> Iterable[dict[str, Any]]:
    for turn in plan["order"]:
        yield files.read_json(study_dir / "raw" / turn["cell"] / f"block-{turn['block']:02d}" / "status.json")


def write(study_dir: Path, plan: dict[str, Any]) -> None:
    found = list(statuses(study_dir, plan))
    shares = [split(status) for status in found]
    steps = sorted({step for status in found for step in status["seconds"]})
    total = sum(status["wall_s"] for status in found)
    files.write_json(
        study_dir / "timing.json",
        {
            "predicted_s": plan["predicted_s"],
            "actual_s": round(total, 1),
            "runs": len(found),
            "median_s": {key: round(median(share[key] for share in shares), 3) for key in ("measure", "prepare", "overhead")},
            "stages_s": {key: round(sum(share[key] for share in shares), 1) for key in ("measure", "prepare", "overhead")},
            "steps_median_s": {s: round(median(st["seconds"].get(s, 0.0) for st in found), 3) for s in steps},
        },
    )
