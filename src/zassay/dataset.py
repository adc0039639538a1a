"""Parsed runs become one tidy table: one row, one measurement, with all its circumstances."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zassay import files, workloads
from zassay.errors import Problem
from zassay.study import settings_of

HEAD = ["study", "campaign", "protocol", "cell", "block", "boot", "run", "position", "status", "reason", "flags"]
VALUE = ["metric", "unit", "higher_is_better", "value", "resolution"]
TAIL = ["bound", "validity_class", "synthetic", "mode", "image", "image_digest", "kernel", "zfs", "accel", "cpu_model"]
TAIL += ["host", "started_at", "duration_s", "prereg", "raw"]
UNKNOWN = "unknown"
BETTER = {"higher": "true", "lower": "false", "none": ""}


def columns(plan: dict[str, Any]) -> list[str]:
    return [*HEAD, *VALUE, *(f"f_{factor}" for factor in plan["factors"]), *TAIL]


def rows(study_dir: Path, plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows in plan order; a run of the plan that left nothing is a Problem: it was never made."""
    levels = {cell["id"]: cell["levels"] for cell in plan["cells"]}
    for turn in plan["order"]:
        path = study_dir / "parsed" / turn["cell"] / f"block-{turn['block']:02d}.json"
        if not path.is_file():
            raise Problem(f"{path} is missing", "the plan has this run; measure it: snakemake --cores 4")
        parsed = files.read_json(path)
        common = _head(plan, turn, parsed) | {f"f_{k}": v for k, v in levels[turn["cell"]].items()} | _tail(plan, turn, parsed)
        settings = settings_of(parsed["settings"])
        workload = workloads.get(str(settings.workload["tool"]))
        measured = [metric for metric in plan["metrics"] if metric["name"] in workload.names(settings)]
        for number in range(1, workloads.runs(settings) + 1):
            run: dict[str, Any] = next((each for each in parsed["runs"] if each["run"] == number), {})
            for metric in measured:
                if run and metric["name"] in workload.may_lack - set(run["measurements"]):
                    continue
                yield common | {"run": number} | _value(metric, parsed, run)


def _head(plan: dict[str, Any], turn: dict[str, Any], parsed: dict[str, Any]) -> dict[str, Any]:
    return {
        "study": plan["study"],
        "campaign": plan["campaign"],
        "protocol": parsed["settings"]["protocol"],
        "cell": turn["cell"],
        "block": turn["block"],
        "boot": f"{turn['cell']}/{turn['block']}",
        "run": 1,
        "position": parsed["facts"].get("position", turn["position"]),
        "status": parsed["status"],
        "reason": parsed["reason"],
        "flags": ";".join(parsed["flags"]),
    }


def _value(metric: dict[str, Any], parsed: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    name = metric["name"]
    value = run.get("measurements", {}).get(name)
    void = run.get("void", {}).get(name, "")
    if value is None and parsed["status"] == "ok" and not void:
        raise Problem(f"metric {name} is in the study, but its workload does not measure it")
    return {
        **({"status": "invalid", "reason": void} if void and parsed["status"] == "ok" else {}),
        "metric": name,
        "unit": metric["unit"],
        "higher_is_better": BETTER[metric["better"]],
        "value": "" if value is None else number(value),
        "resolution": "" if metric["resolution"] is None else number(metric["resolution"]),
        "bound": bound_of(name, {each["phase"]: each["bound"] for each in run.get("ledger", [])}),
    }


def bound_of(metric: str, bound: dict[str, str]) -> str:
    """The label of the phase that the metric is named after, or has in its name; others carry that of the first phase."""
    words = metric.split("_")
    named = [phase for phase in bound if phase == metric] + [phase for phase in bound if phase in words]
    return bound[(named or list(bound))[0]] if bound else UNKNOWN


def _tail(plan: dict[str, Any], turn: dict[str, Any], parsed: dict[str, Any]) -> dict[str, Any]:
    facts, run = parsed["facts"], parsed["run"]
    guest = facts.get("guest", {})
    return {
        "validity_class": facts.get("validity", {}).get("class", "E"),
        "synthetic": "false",
        "mode": facts.get("mode", ""),
        "image": facts.get("image", ""),
        "image_digest": run.get("image_digest", ""),
        "kernel": guest.get("kernel", ""),
        "zfs": guest.get("zfs_module", ""),
        "accel": facts.get("accelerator", {}).get("name", ""),
        "cpu_model": guest.get("cpu_model", ""),
        "host": facts.get("host", {}).get("id", ""),
        "started_at": run["started_at"],
        "duration_s": number(run["duration_s"]),
        "prereg": facts.get("plan_prereg", plan["prereg"]),
        "raw": f"raw/{turn['cell']}/block-{turn['block']:02d}",
    }


def number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))


def write(study_dir: Path, plan: dict[str, Any]) -> int:
    """Write ``dataset.csv`` and ``datapackage.json``; returns the number of rows."""
    names, found = columns(plan), list(rows(study_dir, plan))
    with files.atomic(study_dir / "dataset.csv") as handle:
        writer = csv.DictWriter(handle, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    files.write_json(study_dir / "datapackage.json", descriptor(plan, names))
    return len(found)


NUMBERS = {
    "block": "integer",
    "run": "integer",
    "position": "integer",
    "value": "number",
    "resolution": "number",
    "duration_s": "number",
}
BOOLEANS = {"higher_is_better", "synthetic"}


def descriptor(plan: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """A Frictionless data package with a Table Schema."""
    fields = [{"name": name, "type": NUMBERS.get(name, "boolean" if name in BOOLEANS else "string")} for name in names]
    schema = {"fields": fields, "missingValues": [""]}
    resource = {"name": "dataset", "path": "dataset.csv", "format": "csv", "mediatype": "text/csv", "encoding": "utf-8"}
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": plan["study"],
        "title": plan["title"],
        "licenses": [{"name": "CC-BY-4.0"}],
        "resources": [resource | {"type": "table", "schema": schema}],
    }
