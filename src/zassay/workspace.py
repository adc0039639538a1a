"""A folder in which a bundle's campaign is measured again: our own code, the bundle's questions, machines and locks.

The bundle's code is never run. What it says about guests and images is data, but data that programs with root's rights
act on; where it is not our own data, byte for byte, somebody has to say that it is trusted.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from zassay import files, schema
from zassay.bundle.heading import DEMO_SUFFIX, NAME
from zassay.bundle.opened import Opened, open_bundle, read_json
from zassay.bundle.source import read_source
from zassay.errors import Problem
from zassay.proc import run

# Below results/, which is no part of the workflow that the new bundle packs.
MARK = "results/replication/made-for.json"
ORIGINAL = "results/replication/original"
SUFFIX = "-replication"
GIT_S = 120.0
PLAIN = re.compile(r"[a-z0-9][a-z0-9.-]*\.(yaml|tsv|csv|md)")
# Name in the bundle -> place in the workspace. Recipes are what decides about guests and images.
RECIPES = (
    ("workflow/machines/", "machines/"),
    ("workflow/images/", "images/"),
    ("workflow/images/locks/", "images/locks/"),
)
QUESTIONS = "config/studies/"
SCALES = "config/scales/"


@dataclass(frozen=True)
class Workspace:
    """Where it is measured again, from what: ``foreign`` are the recipes that are not our own."""

    root: Path
    opened: Opened
    foreign: tuple[str, ...]
    scale: str
    was_scale: str

    @property
    def config(self) -> Path:
        return self.root / "config" / "config.yaml"

    @property
    def previous(self) -> Path:
        return self.root / "results" / "bundles" / f"{self.opened.label}.zip"


def wanted(name: str) -> bool:
    """Configuration, recipes and the records of the original that a replication is held against."""
    parts = name.split("/")
    if parts[0] == "results":
        return len(parts) == 3 and parts[2] == "plan.json"
    recipe = name.startswith(tuple(place for place, _ in RECIPES)) and PLAIN.fullmatch(parts[-1]) is not None
    return parts[0] == "config" or recipe or (parts[:2] == ["environment", "images"] and parts[-1] == "manifest.json")


def make(bundle: Path, root: Path, into: Path, scale: str | None) -> Workspace:
    """Make the workspace in the new folder ``into``, or take up the one there if it was made for the same."""
    mark = into / MARK
    if into.exists() and not mark.is_file():
        raise Problem(f"{into}: exists and is no workspace of a replication", "name another: --workspace DIR")
    aside = into.with_name(f".{into.name}.bundle")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        opened = open_bundle(bundle, aside, wanted)
        raw = schema.load_yaml(aside / "config" / "config.yaml", "config")
        chosen = scale or raw["scale"]
        made = Workspace(into, opened, tuple(foreign(opened, chosen, root)), chosen, raw["scale"])
        _check(made, raw)
        if not into.exists():
            _fill(made, raw, bundle, root)
        elif (found := read_json(mark)) != _mark(made):
            raise Problem(f"{into}: was made for {found}", "name another: --workspace DIR")
        shutil.rmtree(into / ORIGINAL, ignore_errors=True)
        shutil.move(aside, into / ORIGINAL)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return _moved(made)


def _moved(made: Workspace) -> Workspace:
    opened = made.opened
    there = Opened(opened.path, opened.label, opened.content_id, opened.info, opened.digests, made.root / ORIGINAL)
    return Workspace(made.root, there, made.foreign, made.scale, made.was_scale)


def _mark(made: Workspace) -> dict[str, str]:
    return {"of": made.opened.content_id, "scale": made.scale}


def _check(made: Workspace, raw: Mapping[str, Any]) -> None:
    for study in raw["studies"]:
        if not NAME.fullmatch(study) or not made.opened.has(f"{QUESTIONS}{study}/study.yaml"):
            raise Problem(f"{made.opened.path}: study {study!r} is not in the bundle")
    if made.opened.label.endswith(DEMO_SUFFIX):
        raise Problem(f"{made.opened.path}: a demonstration with synthetic data has nothing to replicate")


def foreign(opened: Opened, scale: str, root: Path) -> Iterator[str]:
    """Recipes of the bundle that are not ours, byte for byte: places in the workspace."""
    for name, place in placed(opened, scale):
        ours = root / place
        if _recipe(place) and not (ours.is_file() and files.sha256_file(ours) == opened.digests[name]):
            yield place


def _recipe(place: str) -> bool:
    """Does it decide about a guest or an image? Scales, claims, figures and texts do not."""
    kind = place.partition("/")[0]
    return place.endswith("/study.yaml") if kind == "studies" else kind != "config"


def placed(opened: Opened, scale: str) -> Iterator[tuple[str, str]]:
    """Every file of the bundle that goes into the workspace: its name there and here. Recipes only if they are used."""
    used = used_recipes(opened, scale)
    for path in sorted(path for path in opened.data.rglob("*") if path.is_file()):
        name = path.relative_to(opened.data).as_posix()
        if name.startswith(QUESTIONS):
            yield name, f"studies/{name.removeprefix(QUESTIONS)}"
        elif name.startswith(SCALES):
            yield name, name
        else:
            for source, place in RECIPES:
                if name.startswith(source) and name.removeprefix(source) in used:
                    yield name, place + name.removeprefix(source)


def used_recipes(opened: Opened, scale: str) -> set[str]:
    """File names of the machine of the scale, of the images that were booted, and of their locks."""
    booted = {name.split("/")[2] for name in opened.digests if name.startswith("environment/images/")}
    used = {f"{image}.{kind}" for image in booted for kind in ("yaml", "tsv")}
    sized = opened.data / SCALES / f"{scale}.yaml"
    return used | ({f"{schema.load_yaml(sized, 'scale')['machine']}.yaml"} if sized.is_file() else set())


def _fill(made: Workspace, raw: Mapping[str, Any], bundle: Path, root: Path) -> None:
    """Our files, the bundle's over them, the configuration, the old bundle; the mark last, so that a half is none."""
    making = made.root.with_name(f".{made.root.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    try:
        _copy_source(root, making)
        for study in raw["studies"]:
            shutil.rmtree(making / "studies" / study, ignore_errors=True)
        for name, place in placed(made.opened, made.scale):
            (making / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made.opened.data / name, making / place)
        there = Workspace(making, made.opened, made.foreign, made.scale, made.was_scale)
        there.previous.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if bundle.is_dir() else shutil.copyfile)(bundle, there.previous)
        ours = schema.load_yaml(root / "config" / "config.yaml", "config")
        files.write_text(there.config, yaml.safe_dump(config(made, raw, ours), sort_keys=False, allow_unicode=True))
        files.write_json(making / MARK, _mark(made))
        making.rename(made.root)
    except OSError as error:
        raise Problem(f"{error.filename or making}: {error.strerror}") from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _copy_source(root: Path, to: Path) -> None:
    """Our own files as they are; with git also its history, so that the new bundle can name its commit."""
    source = read_source(root)
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.commit:
        run(["git", "clone", "--quiet", "--no-checkout", str(root), str(to)], deadline_s=GIT_S, check=False)
        run(["git", "-C", str(to), "reset", "--quiet", source.commit], deadline_s=GIT_S, check=False)
    for name in source.files:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, to / name, follow_symlinks=False)


def config(made: Workspace, raw: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """The same studies, seed and scale; name, authors, accelerator and scratch folder are of who measures again."""
    theirs = raw["campaign"]
    again = theirs["name"].endswith(SUFFIX)
    campaign = {
        "name": theirs["name"] if again else f"{theirs['name']}{SUFFIX}",
        "version": _next_minor(theirs["version"]) if again else "0.1.0",
        "title": theirs["title"] if again else f"Replication of: {theirs['title']}",
        "authors": list(ours["campaign"]["authors"]),
        "previous": f"results/bundles/{made.opened.label}.zip#{made.opened.content_id}",
    }
    same = {key: raw[key] for key in ("studies", "seed")} | {"scale": made.scale}
    if "blocks" in raw and made.scale == made.was_scale:
        same["blocks"] = raw["blocks"]
    return {"campaign": campaign, **same, "accel": ours["accel"], "scratch": ours["scratch"]}


def _next_minor(version: str) -> str:
    major, minor, _ = version.split(".")
    return f"{major}.{int(minor) + 1}.0"
