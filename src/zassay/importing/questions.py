"""What is asked of data from outside: the claims of its author, or each metric against each factor, exploratory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from zassay import files
from zassay.errors import Problem

STUDIES, CONFIG = "studies", "config.yaml"
SOURCE = "S99"
NO_SOURCE = {"title": "data from outside", "author": "not stated", "date": "not stated"}
COUNTS = ("B", "count", "x")


def write(folder: Path, planned: dict[str, Any], about: dict[str, Any], claims: Path | None) -> None:
    """The folder of the study: study.yaml, claims.yaml, figures.yaml."""
    folder.mkdir(parents=True)
    unkept = [{"what": what} for what in planned["unkept"]]
    _yaml(folder / "study.yaml", {"title": planned["title"], "question": planned["question"], "unkept": unkept})
    _yaml(folder / "figures.yaml", figures(planned))
    if claims is None:
        _yaml(folder / "claims.yaml", exploratory(planned, about))
        return
    if not claims.is_file():
        raise Problem(f"{claims}: no such file", "expected a claims.yaml, as in studies/")
    shutil.copyfile(claims, folder / "claims.yaml")


def write_config(path: Path, planned: dict[str, Any], about: dict[str, Any]) -> None:
    """What the report says of the campaign."""
    authors = [about.get("source", {}).get("author", NO_SOURCE["author"])]
    _yaml(path, {"campaign": {"name": planned["study"], "version": "0.1.0", "title": planned["title"], "authors": authors}})


def _yaml(path: Path, value: object) -> None:
    files.write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120))


def exploratory(planned: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Every metric compared along every factor: intervals and no verdict, since nothing was claimed beforehand."""
    levels = {factor: _levels(planned, factor) for factor in planned["factors"]}
    asked = [(metric, factor) for metric in planned["metrics"] for factor in planned["factors"] if len(levels[factor]) > 1]
    if not asked:
        raise Problem("no factor has two levels", "name what differs between the files: levels, or {name} in a pattern")
    claims = [_claim(number, metric, factor, levels[factor]) for number, (metric, factor) in enumerate(asked, 1)]
    source = {"id": SOURCE, **NO_SOURCE, **about.get("source", {})}
    return {"study": planned["study"], "source": source, "claims": claims}


def _levels(planned: dict[str, Any], factor: str) -> list[str]:
    return list(dict.fromkeys(cell["levels"][factor] for cell in planned["cells"]))


def _claim(number: int, metric: dict[str, Any], factor: str, levels: list[str]) -> dict[str, Any]:
    return {
        "id": f"{SOURCE}-{number:02d}",
        "type": "dir",
        "min_class": "E" if metric["unit"] in COUNTS else "V",
        "statement": f"{metric['name'].replace('_', ' ')} by {factor.replace('_', ' ')}, against {levels[0]}",
        "family": SOURCE,
        "exploratory": True,
        "direction": "two-sided",
        "published": "nothing was claimed",
        "published_effect": None,
        "null_value": 1,
        "margin": None,
        "delta0": None,
        "estimator": {
            "kind": "contrast",
            "metric": metric["name"],
            "scale": "log",
            "pairs": {"over": factor, "levels": levels, "reference": levels[0]},
        },
        "notes": None,
    }


def figures(planned: dict[str, Any]) -> dict[str, Any]:
    """A look at the order of runs, and the estimates as a forest; more is for a study of one's own."""
    first = planned["metrics"][0]["name"]
    factor = planned["factors"][0]
    design = {"id": "GD", "kind": "design", "title": f"Design check on {first.replace('_', ' ')}", "size_mm": [182, 120]}
    forest = {"id": "GA", "kind": "forest", "title": "What was asked, and what came out", "size_mm": [182, 240]}
    return {"study": planned["study"], "figures": [design | {"metric": first, "colour": factor}, forest]}
