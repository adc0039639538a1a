"""Which combinations of levels are cells: the design of a study, whole and at one scale. Pure functions of plain data."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from zassay.errors import Problem, unknown

Levels = dict[str, str]


def cells(raw: dict[str, Any], where: str) -> list[Levels]:
    """The level of every factor, cell by cell, in the order of the factors' levels."""
    known = {factor: list(levels) for factor, levels in raw["factors"].items()}
    design, excluded = _parts(raw, "design", known, where), _parts(raw, "exclude", known, where)
    only = _checked(raw.get("only", {}), known, f"{where}: only")
    found = []
    for combination in itertools.product(*known.values()):
        levels = dict(zip(known, combination, strict=True))
        wanted = not design or _in_any(levels, design)
        if wanted and _in_any(levels, [only]) and not _in_any(levels, excluded):
            found.append(levels)
    if not found:
        raise Problem(f"{where}: exclude: leaves no cell to measure")
    return found


def at_scale(raw: dict[str, Any], scale: str, known: Iterable[str], where: str) -> dict[str, Any]:
    """The study file as this scale reads it: its sizes and settings over the study's, its limits beside them."""
    for name in raw.get("scales", {}):
        if name not in known:
            raise unknown(f"{where}: scales", "scale", name, known)
    own = raw.get("scales", {}).get(scale, {})
    limits = {key: own[key] for key in ("only", "design", "why") if key in own}
    patched = {key: merge(raw[key], own.get(key, {})) for key in ("sizes", "settings")}
    return raw | limits | patched | {"exclude": raw.get("exclude", []) + own.get("exclude", [])}


def left_out(raw: dict[str, Any], whole: list[Levels], here: list[Levels]) -> list[str]:
    """What a scale does not measure of the whole design, in words; nothing when it measures all of it."""
    missing = [levels for levels in whole if levels not in here]
    if not missing:
        return []
    gone = [f"{factor} {_listed(factor, whole, here)}" for factor in raw["factors"] if _listed(factor, whole, here)]
    levels = f"; not at all: {', '.join(gone)}" if gone else ""
    return [f"{len(missing)} of the design's {len(whole)} cells, left out at this scale ({raw['why']}){levels}."]


def _listed(factor: str, whole: list[Levels], here: list[Levels]) -> str:
    measured = {levels[factor] for levels in here}
    return "/".join(dict.fromkeys(levels[factor] for levels in whole if levels[factor] not in measured))


def _parts(raw: dict[str, Any], key: str, known: dict[str, list[str]], where: str) -> list[dict[str, list[str]]]:
    return [_checked(part, known, f"{where}: {key}[{index}]") for index, part in enumerate(raw.get(key, []))]


def _checked(part: dict[str, str | list[str]], known: dict[str, list[str]], at: str) -> dict[str, list[str]]:
    """One part with lists of levels throughout; a typing error in it would silently name nothing."""
    wanted = {factor: [levels] if isinstance(levels, str) else levels for factor, levels in part.items()}
    for factor, levels in wanted.items():
        if factor not in known:
            raise unknown(at, "factor", factor, known)
        for level in levels:
            if level not in known[factor]:
                raise unknown(f"{at}.{factor}", "level", level, known[factor])
    return wanted


def _in_any(levels: Levels, parts: list[dict[str, list[str]]]) -> bool:
    return any(all(levels[factor] in wanted for factor, wanted in part.items()) for part in parts)


def merge(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The patch over the base, mappings merged key by key, everything else replaced."""
    merged = dict(base)
    for key, value in patch.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged
