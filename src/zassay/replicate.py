"""Measure a bundle's campaign again, here: the same plan on images rebuilt from the same locks, then claim against claim."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from zassay import campaign, files, plan, study
from zassay.bundle import comparison
from zassay.bundle.environment import dig
from zassay.bundle.opened import Opened
from zassay.errors import Problem
from zassay.image import cache, catalog, lock
from zassay.proc import follow
from zassay.study import Study
from zassay.units import show_seconds
from zassay.workspace import Workspace

DEADLINE_S = 24 * 3600.0
Say = Callable[[str], None]


def prepare(made: Workspace, trust: bool, say: Say) -> None:
    """Say what would be measured and how it differs from the original; refuse foreign recipes that nobody vouched for."""
    for line in (*trusted(made), *plans(made), *images(made)):
        say(line)
    if made.foreign and not trust:
        raise Problem(
            f"not our own recipes, and programs with root's rights would follow them: {', '.join(made.foreign[:5])}",
            f"look at them in {made.opened.data}; then say that you trust them: --trust",
        )


def trusted(made: Workspace) -> Iterator[str]:
    yield f"{made.opened.label}: sound, content id {made.opened.content_id}"
    yield f"workspace: {made.root}"
    yield "code: OURS; nothing of the bundle is executed. Its studies, machines, image recipes and package locks are followed."
    for place in made.foreign:
        yield f"  not as ours: {place}"
    if not made.foreign:
        yield "  all of these are our own, byte for byte"


def _setup(made: Workspace) -> campaign.Campaign:
    return campaign.load(made.root, made.config)


def _studies(made: Workspace) -> list[Study]:
    setup = _setup(made)
    return [study.load(made.root, name, setup.scale) for name in setup.studies]


def plans(made: Workspace) -> Iterator[str]:
    """The plan as it will be, against the original's."""
    setup = _setup(made)
    if made.scale != made.was_scale:
        yield f"SCALED: {made.scale} instead of the original's {made.was_scale}, as asked: its sizes are other ones"
    for what in _studies(made):
        ours, theirs = plan.make(setup, what), made.opened.json(f"results/{what.name}/plan.json")
        yield f"{what.name}: {len(ours['cells'])} cells × {ours['blocks']} blocks, about {show_seconds(ours['predicted_s'])}"
        differing = list(plan_difference(ours, theirs))
        yield from differing or [f"  the same plan: seed, order, settings and claims, preregistered as {ours['prereg'][:12]}"]


def plan_difference(ours: dict[str, Any], theirs: Any) -> Iterator[str]:
    """One line for each way in which two plans of a study differ."""
    for key in ("seed", "blocks"):
        if dig(theirs, key) != ours[key]:
            yield f"  {key}: {ours[key]}, in the original {dig(theirs, key)}"
    cells = {dig(each, "id"): each for each in dig(theirs, "cells") or []}
    other = [cell for cell in ours["cells"] if cell["digest"] != dig(cells.get(cell["id"]), "digest")]
    if other or len(cells) != len(ours["cells"]):
        keys = sorted({key for cell in other for key in setting_difference(cell, cells.get(cell["id"]))})
        yield f"  settings: {len(other)} of {len(ours['cells'])} cells (original: {len(cells)}) differ in: {', '.join(keys)}"
    if dig(theirs, "order") != ours["order"]:
        yield "  order: another one"
    if dig(theirs, "claims_sha256") != ours["claims_sha256"]:
        yield "  claims: not those that the original was planned with"


def setting_difference(ours: dict[str, Any], theirs: Any) -> list[str]:
    """The settings in which one cell differs; ``settings_version`` is what our procedure does with them."""
    return [key for key, value in ours["settings"].items() if dig(theirs, "settings", key) != value]


def images(made: Workspace) -> Iterator[str]:
    """For each image: is it here already, and does the lock name the packages that the original ran?"""
    for name in image_names(made):
        spec = catalog.load(name, made.root)
        here = (cache.path_of_entry(spec) / cache.MANIFEST).is_file()
        yield f"image {name}: {'built here already' if here else 'will be built from its lock'}"
        theirs = packages(_manifest(made.opened, name))
        if theirs:
            locked = {(each.name, each.version, each.arch, each.sha256) for each in lock.read(spec.lock).packages}
            yield f"  lock against the original's image: {set_words(locked, theirs)}"
        else:
            yield "  the bundle does not say what packages the original's image held"


def image_names(made: Workspace) -> list[str]:
    return sorted({cell.settings.image for what in _studies(made) for cell in what.cells})


def _manifest(opened: Opened, name: str) -> Any:
    place = f"environment/images/{name}/manifest.json"
    return opened.json(place) if opened.has(place) else None


Package = tuple[str, str, str, str]


def packages(manifest: Any) -> set[Package]:
    """The package set of a manifest: name, version, architecture and sha256 of each."""
    found = dig(manifest, "packages")
    rows = found if isinstance(found, list) else []
    return {(str(dig(row, "name")), str(dig(row, "version")), str(dig(row, "arch")), str(dig(row, "sha256"))) for row in rows}


def set_words(ours: set[Package], theirs: set[Package]) -> str:
    if ours == theirs:
        return f"the same {len(ours)} packages"
    odd = sorted({row[0] for row in ours ^ theirs})
    shown = ", ".join(odd[:5]) + (f" and {len(odd) - 5} more" if len(odd) > 5 else "")
    return f"ANOTHER PACKAGE SET: {len(odd)} packages differ ({shown})"


def built(made: Workspace) -> Iterator[str]:
    """The images that were measured on, against the original's: packages, and the base bit for bit."""
    for name in image_names(made):
        ours = cache.manifest(cache.path_of_entry(catalog.load(name, made.root)))
        theirs = _manifest(made.opened, name)
        same = dig(ours, "base", "tar_sha256") == dig(theirs, "base", "tar_sha256")
        base = "the same, bit for bit" if same else "other bytes"
        yield f"image {name}: {set_words(packages(ours), packages(theirs))}; base: {base}"


def command(cores: int) -> list[str]:
    return [sys.executable, "-m", "snakemake", "--cores", str(cores)]


def measure(made: Workspace, cores: int, say: Say) -> None:
    """The whole pipeline in the workspace; the run stage takes the host's lock itself, as ever."""
    there = {"ZASSAY_ROOT": str(made.root), "ZASSAY_CONFIG": str(made.config)}
    env = there | {"PYTHONPATH": str(made.root / "src"), "PATH": f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    code = follow(command(cores), deadline_s=DEADLINE_S, say=say, env=env, cwd=made.root)
    if code != 0:
        raise Problem(
            f"the replication ended with code {code}",
            f"logs: {made.root / 'results' / 'logs'}\nthe same command goes on from there",
        )


def conclude(made: Workspace, root: Path, work: Path, say: Say) -> Path:
    """Compare the new bundle with the old one; returns its path."""
    summary = files.read_json(made.root / "results" / "bundle.json")
    new: Path = made.root / summary["path"]
    say("")
    for line in (*built(made), *_scaled(made)):
        say(line)
    say("")
    pair: Sequence[Path] = (made.previous, new)
    comparison.compare(pair, work, made.root / "results" / "replication" / "comparison", root, say)
    say(f"\ncomparison: {made.root / 'results' / 'replication' / 'comparison'}")
    say(f"new bundle: {new}\n  {summary['content_id']}, which names as the one before it {made.opened.content_id}")
    return new


def _scaled(made: Workspace) -> Iterator[str]:
    if made.scale != made.was_scale:
        yield f"SCALED: {made.scale} here, {made.was_scale} in the original; what follows compares two scales"
