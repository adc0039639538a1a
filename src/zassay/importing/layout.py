"""Runs from outside, laid out as our own stages leave theirs: plan, dataset, facts, raw files; and what is asked of them."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from zassay import __version__, dataset, files, gates, registry, tools
from zassay.errors import unknown
from zassay.importing.collect import Made, metrics_of
from zassay.importing.mapping import LOWEST_SAFE, Map

IMPORTED = "imported"
UNCHECKED = "unchecked"
DECLARED = "declared"
SOURCES = ["file", "sha256", "bytes", "tool", "version", "cell", "block", "run", "raw"]


def plan(study: str, mapping: Map, factors: dict[str, list[str]], made: list[Made]) -> dict[str, Any]:
    """As a plan of ours, except that nothing was fixed beforehand: no seed, no prediction, no pre-registration."""
    tool = tools.get(mapping.tool, f"{mapping.path}: tool")
    cells = {each.cell: each.levels for each in made}
    ranked = sorted(cells, key=lambda cell: [factors[factor].index(level) for factor, level in cells[cell].items()])
    kinds = {name: tool.kinds[name] for name in metrics_of(tool, made)}
    return {
        "study": study,
        "source": IMPORTED,
        "title": mapping.about.get("title", study),
        "question": mapping.about.get("question", "What do these measurements show?"),
        "campaign": study,
        "scale": IMPORTED,
        "unkept": list(mapping.about.get("not_kept", [])),
        "blocks": len({each.block for each in made}),
        "factors": list(factors),
        "metrics": [{"name": name, "unit": kind.unit, "better": kind.better, "resolution": None} for name, kind in kinds.items()],
        "cells": [{"id": cell, "levels": cells[cell], "settings": {}, "digest": ""} for cell in ranked],
        "order": [{"block": block, "position": at, "cell": cell} for block, at, cell in _order(made)],
        "zassay": __version__,
        "prereg": "",
    }


def _order(made: list[Made]) -> list[tuple[int, int, str]]:
    """Cells of each block by the time that their tool says they started; where it says none, by name."""
    first: dict[tuple[int, str], str] = {}
    for each in made:
        key = (each.block, each.cell)
        first[key] = min(first.get(key, each.told.started_at), each.told.started_at)
    found = []
    for block in sorted({block for block, _ in first}):
        cells = sorted((started, cell) for (at, cell), started in first.items() if at == block)
        found += [(block, position, cell) for position, (_, cell) in enumerate(cells, 1)]
    return found


def flags(mapping: Map) -> list[str]:
    """What nobody but the map's author vouches for, and what nobody can check any more."""
    known = registry.every(gates, gates.Gate)  # type: ignore[type-abstract]
    for name in mapping.gates:
        if name not in known:
            raise unknown(f"{mapping.path}: gates", "gate", name, known)
    stated = [] if mapping.validity == LOWEST_SAFE else [DECLARED]
    open_ones = sorted(set(known) - set(tools.CHECKED))
    return [*stated, *(f"{DECLARED if name in mapping.gates else UNCHECKED}:{name}" for name in open_ones)]


def rows(mapping: Map, planned: dict[str, Any], made: list[Made]) -> Iterator[dict[str, Any]]:
    """One row per metric of a run. A metric that a tool could not time is invalid; one that it does not know has no row."""
    position = {(turn["block"], turn["cell"]): turn["position"] for turn in planned["order"]}
    always = flags(mapping)
    for each in made:
        common = {
            "study": planned["study"],
            "campaign": planned["campaign"],
            "protocol": IMPORTED,
            "cell": each.cell,
            "block": each.block,
            "boot": f"{each.cell}/{each.block}",
            "run": each.run,
            "position": position[each.block, each.cell],
            "status": "failed" if each.told.failure else "ok",
            "reason": each.told.failure,
            "flags": ";".join([*each.told.flags, *always]),
            **{f"f_{factor}": level for factor, level in each.levels.items()},
            **_tail(mapping, each),
        }
        for metric in planned["metrics"]:
            if each.told.failure or metric["name"] in {*each.told.values, *each.told.too_fast}:
                yield common | _value(metric, each)


def _value(metric: dict[str, Any], each: Made) -> dict[str, Any]:
    name = metric["name"]
    too_fast = {"status": "invalid", "reason": "too fast for its tool to time"} if name in each.told.too_fast else {}
    value = each.told.values.get(name)
    return {
        **too_fast,
        "metric": name,
        "unit": metric["unit"],
        "higher_is_better": dataset.BETTER[metric["better"]],
        "value": "" if value is None else dataset.number(value),
        "resolution": "",
    }


def _tail(mapping: Map, each: Made) -> dict[str, Any]:
    return {
        "bound": dataset.UNKNOWN,
        "validity_class": mapping.validity,
        "synthetic": "false",
        "mode": IMPORTED,
        "image": IMPORTED,
        "image_digest": "",
        **{key: mapping.host.get(key, "") for key in ("kernel", "zfs", "accel", "cpu_model")},
        "host": mapping.host.get("id", ""),
        "started_at": each.told.started_at,
        "duration_s": dataset.number(each.told.duration_s) if each.told.duration_s else "",
        "prereg": "",
        "raw": raw_folder(each),
    }


def raw_folder(each: Made) -> str:
    return f"raw/{each.cell}/block-{each.block:02d}"


def write(folder: Path, mapping: Map, planned: dict[str, Any], made: list[Made]) -> int:
    """All of it into a new folder; returns the number of rows of the dataset."""
    folder.mkdir(parents=True)
    files.write_json(folder / "plan.json", planned)
    files.write_json(folder / "facts.json", {IMPORTED: facts(mapping, made)})
    files.write_json(folder / "timing.json", timing(made))
    names = dataset.columns(planned)
    found = list(rows(mapping, planned, made))
    _table(folder / "dataset.csv", names, found)
    files.write_json(folder / "datapackage.json", dataset.descriptor(planned, names))
    _table(folder / "sources.csv", SOURCES, [_source(mapping, each) for each in made])
    for path, to in {each.path: folder / _copy_of(each) for each in made}.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    return len(found)


def _table(path: Path, names: list[str], found: list[dict[str, Any]]) -> None:
    with files.atomic(path) as handle:
        writer = csv.DictWriter(handle, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def _copy_of(each: Made) -> str:
    """Names of two folders may be the same, so part of the digest goes in front."""
    return f"{raw_folder(each)}/{each.sha256[:8]}-{each.path.name}"


def _source(mapping: Map, each: Made) -> dict[str, Any]:
    place = {"cell": each.cell, "block": each.block, "run": each.run, "raw": _copy_of(each)}
    told = {"tool": mapping.tool, "version": each.told.version}
    return {"file": str(each.path), "sha256": each.sha256, "bytes": each.path.stat().st_size, **told, **place}


def facts(mapping: Map, made: list[Made]) -> dict[str, Any]:
    """What is stated about the host, and by whom; nothing here was measured by us."""
    return {
        "validity": {"class": mapping.validity, "evidence": {"stated": mapping.evidence or "nothing was stated"}},
        "gates": {
            "vouched_for": mapping.gates,
            "unchecked": [f.split(":")[1] for f in flags(mapping) if f.startswith(UNCHECKED)],
        },
        "host": mapping.host,
        "tool": {"name": mapping.tool, "versions": sorted({each.told.version for each in made if each.told.version})},
        "map_sha256": files.sha256_file(mapping.path),
    }


def timing(made: list[Made]) -> dict[str, Any]:
    """Only the tools' own durations are known; nothing was predicted, and what was not measuring nobody recorded."""
    seconds = [each.told.duration_s for each in made]
    total = round(sum(seconds), 1)
    return {
        "predicted_s": None,
        "actual_s": total,
        "runs": len(made),
        "median_s": {"measure": round(median(seconds), 3)},
        "stages_s": {"measure": total},
        "steps_median_s": {},
    }
