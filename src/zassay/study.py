"""A study file becomes cells by a pure function: factors × levels, each level a patch of settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from zassay import design, disks, files, schema, units, vocabulary
from zassay.campaign import Scale, known_scales
from zassay.errors import Problem, unknown

# Raised when the same settings come to mean something else (2: pool disks have one partition).
SETTINGS_VERSION = 2
# Settings that came later: where a study does not give them they are not there, so that older digests stay as they are.
OPTIONAL = ("background", "scheduler", "cache", "path")


@dataclass(frozen=True)
class Metric:
    """A named quantity: unit, which direction is better (higher, lower, none) and the resolution of its instrument or None."""

    name: str
    unit: str
    better: str
    resolution: float | None


@dataclass(frozen=True)
class Settings:
    """Everything that decides a measurement, sizes in bytes. Equal settings have equal digests, and are measured once."""

    image: str
    filesystem: str
    protocol: str
    pool: dict[str, Any]
    properties: dict[str, str]
    tunables: dict[str, str]
    payload: dict[str, Any]
    workload: dict[str, Any]
    collect: dict[str, Any]
    machine: dict[str, Any]
    background: dict[str, Any] = field(default_factory=dict)
    scheduler: str = ""
    cache: str = ""
    path: str = ""

    def as_dict(self) -> dict[str, Any]:
        given = {key: value for key, value in vars(self).items() if value or key not in OPTIONAL}
        return {**given, "settings_version": SETTINGS_VERSION}

    @property
    def digest(self) -> str:
        return files.sha256_json(self.as_dict())


def settings_of(raw: dict[str, Any]) -> Settings:
    """Settings from a record or a plan; what an older one does not have is not set."""
    known = {each.name for each in fields(Settings)}
    return Settings(**{key: value for key, value in raw.items() if key in known})


@dataclass(frozen=True)
class Cell:
    """One combination of levels: its id (a folder name), its level by factor, its settings."""

    id: str
    levels: dict[str, str]
    settings: Settings


@dataclass(frozen=True)
class Study:
    """A study at one scale."""

    name: str
    title: str
    source: str
    question: str
    sizes: dict[str, int]
    factors: tuple[str, ...]
    cells: tuple[Cell, ...]
    metrics: tuple[Metric, ...]
    unkept: tuple[str, ...]

    def cell(self, cell_id: str) -> Cell:
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise unknown(f"studies/{self.name}", "cell", cell_id, [cell.id for cell in self.cells])


def load(root: Path, name: str, scale: Scale) -> Study:
    """Read ``studies/<name>/study.yaml`` and expand it at ``scale``."""
    path = root / "studies" / check_name(root, name) / "study.yaml"
    raw = schema.load_yaml(path, "study")
    where = str(path.relative_to(root))
    whole = design.cells(raw, where)
    raw = design.at_scale(raw, scale.name, known_scales(root), where)
    scope = _sizes(raw["sizes"], scale, where)
    cells = _cells(raw, scope, scale, where)
    vocabulary.check(root, where, scale, cells)
    return Study(
        name=name,
        title=raw["title"],
        source=raw["source"],
        question=raw["question"],
        sizes=scope,
        factors=tuple(raw["factors"]),
        cells=cells,
        metrics=tuple(_metric(key, value) for key, value in raw["metrics"].items()),
        unkept=(*_unkept(raw, scale), *design.left_out(raw, whole, [cell.levels for cell in cells])),
    )


def check_name(root: Path, name: str) -> str:
    """The name again, if there is such a study."""
    if name not in known_studies(root):
        raise unknown("studies/", "study", name, known_studies(root))
    return name


def known_studies(root: Path) -> list[str]:
    return sorted(path.parent.name for path in (root / "studies").glob("*/study.yaml"))


def _metric(name: str, raw: dict[str, Any]) -> Metric:
    return Metric(name, raw["unit"], raw["better"], raw.get("resolution"))


def _sizes(raw: dict[str, int | str], scale: Scale, where: str) -> dict[str, int]:
    scope = dict(scale.scope)
    for name, value in raw.items():
        scope[name] = _resolve(value, scope, f"{where}: sizes.{name}")
    return scope


def _resolve(value: int | str, scope: dict[str, int], where: str) -> int:
    try:
        return units.resolve_size(value, scope)
    except Problem as problem:
        raise Problem(f"{where}: {problem.message}", problem.hint) from None


def _unkept(raw: dict[str, Any], scale: Scale) -> list[str]:
    return [each["what"] for each in raw.get("unkept", []) if each.get("scale", scale.name) == scale.name]


def _cells(raw: dict[str, Any], scope: dict[str, int], scale: Scale, where: str) -> tuple[Cell, ...]:
    factors = {factor: levels_of(factor, levels) for factor, levels in raw["factors"].items()}
    cells = []
    for levels in design.cells(raw, where):
        patches = [raw["settings"], *(factors[factor][level] for factor, level in levels.items())]
        cells.append(Cell("_".join(map(slug, levels.values())), levels, _settings(patches, scope, scale, where)))
    _unique(cells, where)
    return tuple(cells)


def _unique(cells: list[Cell], where: str) -> None:
    ids = [cell.id for cell in cells]
    twice = sorted({each for each in ids if ids.count(each) > 1})
    if twice:
        raise Problem(f"{where}: factors: two cells would both be called {', '.join(twice)}", "rename one of the levels")


def slug(level: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]", "-", level)


def levels_of(factor: str, levels: list[str] | dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A bare list is shorthand for the dataset property of the factor's name."""
    if isinstance(levels, dict):
        return levels
    return {level: {"properties": {factor: level}} for level in levels}


def _settings(patches: list[dict[str, Any]], scope: dict[str, int], scale: Scale, where: str) -> Settings:
    merged: dict[str, Any] = {}
    for patch in patches:
        merged = design.merge(merged, patch)
    vocabulary.needed(where, merged)
    pool = _pool(merged["pool"], scope, where)
    return Settings(
        image=merged["image"],
        filesystem=merged["filesystem"],
        protocol=merged.get("protocol", "improved"),
        pool=pool,
        properties=merged.get("properties", {}),
        tunables={
            key: _word(value, scope, f"{where}: settings.tunables.{key}") for key, value in merged.get("tunables", {}).items()
        },
        payload=merged["payload"],
        workload=_amounts(merged, "workload", scope, where),
        collect=merged["collect"],
        machine=scale.machine.as_settings({each.role: each.device_class for each in disks.wanted(pool)} | {disks.SOURCE: ""}),
        background=_amounts(merged, "background", scope, where),
        scheduler=merged.get("scheduler", ""),
        cache=merged.get("cache", ""),
        path=merged.get("path", ""),
    )


def _pool(raw: dict[str, Any], scope: dict[str, int], where: str) -> dict[str, Any]:
    sizes = {key: _resolve(raw[key], scope, f"{where}: settings.pool.{key}") for key in raw if key.endswith("_size")}
    return raw | sizes


def _amounts(merged: dict[str, Any], name: str, scope: dict[str, int], where: str) -> dict[str, int | str]:
    return {key: _amount(value, scope, f"{where}: settings.{name}.{key}") for key, value in merged.get(name, {}).items()}


def _amount(value: int | str, scope: dict[str, int], where: str) -> int | str:
    """A size (plain or relative) in bytes, or the word or count as it is."""
    try:
        return _resolve(value, scope, where)
    except Problem:
        if isinstance(value, str) and "*" in value:
            raise
        return value


def _word(value: str, scope: dict[str, int], where: str) -> str:
    return str(_amount(value, scope, where)) if "*" in value else value
