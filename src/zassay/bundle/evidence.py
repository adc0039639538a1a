"""What a campaign measured, read from its results folder: counts, circumstances, and reasons not to publish it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zassay.bundle.heading import Heading
from zassay.bundle.tables import records_of
from zassay.errors import Problem
from zassay.files import read_json

NEEDED = ("plan.json", "dataset.csv", "estimates.csv", "verdicts.csv")
CIRCUMSTANCES = ("validity_class", "mode", "image", "image_digest", "kernel", "zfs", "accel", "cpu_model", "host")
COLUMNS = (
    *("study", "cell", "block", "run", "status", "reason", "metric", "unit", "value", "synthetic"),
    *(*CIRCUMSTANCES, "started_at", "duration_s", "prereg", "raw"),
)


@dataclass
class Evidence:
    """One study's results; ``runs`` counts runs by status, ``reasons`` those that do not count by (status, reason)."""

    study: str
    folder: Path
    plan: dict[str, Any]
    rows: int = 0
    synthetic: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: dict[str, set[str]] = field(default_factory=dict)  # values of each circumstance
    start: float | None = None  # seconds since 1970 of the first run
    end: float | None = None

    @property
    def prereg(self) -> str:
        return str(self.plan.get("prereg", ""))

    @property
    def images(self) -> list[str]:
        return sorted(self.seen.get("image", set()) - {""})


def read_evidence(results: Path, heading: Heading) -> list[Evidence]:
    """The studies the campaign names, each complete; raises Problem for what is missing or not publishable."""
    found = [_read_study(results / study, study) for study in heading.studies]
    made_up = [item for item in found if item.synthetic or "S" in item.seen.get("validity_class", set())]
    if made_up and not heading.demo:
        item = made_up[0]
        raise Problem(
            f"{item.folder / 'dataset.csv'}: {item.synthetic or item.rows} of {item.rows} rows are synthetic (class S)",
            "a citable bundle holds measurements only\nto show the format all the same: zassay bundle --synthetic-demo",
        )
    if heading.demo and not made_up:
        raise Problem("--synthetic-demo: no row is synthetic", "leave the option out: these are measurements")
    return found


def _read_study(folder: Path, study: str) -> Evidence:
    for name in NEEDED:
        if not (folder / name).is_file():
            raise Problem(f"{folder / name}: missing", "run the pipeline to its end first: snakemake --cores 4")
    evidence = Evidence(study, folder, _plan(folder / "plan.json"))
    _scan(folder / "dataset.csv", evidence)
    return evidence


def _plan(path: Path) -> dict[str, Any]:
    try:
        plan = read_json(path)
    except ValueError as error:
        raise Problem(f"{path}: not JSON: {error}") from error
    if not isinstance(plan, dict):
        raise Problem(f"{path}: not a JSON object")
    return plan


def _scan(path: Path, evidence: Evidence) -> None:
    known: set[tuple[str, str, str]] = set()
    for record in records_of(path):
        if not evidence.rows:
            _check_columns(path, record)
        evidence.rows += 1
        evidence.synthetic += record["synthetic"].lower() == "true"
        _check_prereg(path, record["prereg"], evidence)
        run = (record["cell"], record["block"], record["run"])
        if run not in known:
            known.add(run)
            _count(path, record, evidence)
    if not evidence.rows:
        raise Problem(f"{path}: no rows", "even a run that failed has rows: run zassay dataset again")


def _check_columns(path: Path, record: dict[str, str]) -> None:
    missing = [name for name in COLUMNS if name not in record]
    if missing:
        raise Problem(f"{path}: column missing: {', '.join(missing)}")


def _check_prereg(path: Path, prereg: str, evidence: Evidence) -> None:
    if prereg and evidence.prereg and prereg != evidence.prereg:
        raise Problem(
            f"{path}: its rows were measured under plan {prereg[:16]}..., plan.json is {evidence.prereg[:16]}...",
            "the plan was changed after the runs: restore it, or measure again",
        )


def _count(path: Path, record: dict[str, str], evidence: Evidence) -> None:
    evidence.runs[record["status"]] += 1
    if record["status"] != "ok":
        evidence.reasons[record["status"], record["reason"]] += 1
    for name in CIRCUMSTANCES:
        evidence.seen.setdefault(name, set()).add(record[name])
    if record["started_at"]:
        start = _seconds(path, record["started_at"])
        end = start + float(record["duration_s"] or 0)
        evidence.start = min(start, evidence.start or start)
        evidence.end = max(end, evidence.end or end)


def _seconds(path: Path, text: str) -> float:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise Problem(f'{path}: started_at: "{text}" is not a time', "legal: 2026-11-21T08:00:00Z") from error


def validity_class(found: Iterable[Evidence]) -> str:
    """The classes of the runs, such as ``E`` or ``E, V``: part of the title, so that no one has to look for it."""
    return ", ".join(sorted({value for item in found for value in item.seen["validity_class"]} - {""})) or "unknown"
