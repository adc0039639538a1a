"""What a pool is built of: a layout over its disks, and log, cache and special devices beside them, as words of zpool."""

from __future__ import annotations

import re
import shlex
from typing import Any

from zassay.disks import BESIDE
from zassay.errors import Problem

# Layout -> how many disks it takes at least; single takes one and no more.
LAYOUTS = {"single": 1, "stripe": 2, "mirror": 2, "mirrors": 4, "raidz1": 2, "raidz2": 3, "raidz3": 4}
_DRAID = re.compile(r"draid([123]?)(?::(\d+)d)?(?::(\d+)c)?(?::(\d+)s)?", re.ASCII)
MOST_DATA = 8
# What zpool calls them, in the order in which it shows them.
SECTIONS = {"special": "special", "log": "logs", "cache": "cache"}


def words(pool: dict[str, Any], devices: list[str]) -> str:
    """The vdevs for ``zpool create``: ``devices`` are the pool's own, then those of log, cache and special."""
    own, rest = devices[: len(pool["disks"])], devices[len(pool["disks"]) :]
    found = _vdevs("settings.pool.layout", pool["layout"], own)
    for kind in BESIDE:
        taken, rest = rest[: len(pool.get(kind, []))], rest[len(pool.get(kind, [])) :]
        if taken:
            found += f" {kind} {_vdevs(f'settings.pool.{kind}_layout', layout_beside(pool, kind), taken).strip()}"
    return found


def layout_beside(pool: dict[str, Any], kind: str) -> str:
    """Several devices beside the disks are a stripe unless the study says otherwise; a cache can be nothing else."""
    count = len(pool[kind])
    layout = str(pool.get(f"{kind}_layout", "single" if count == 1 else "stripe"))
    allowed = ("single", "stripe") if kind == "cache" else ("single", "stripe", "mirror", "mirrors")
    if layout not in allowed:
        raise Problem(f'settings.pool.{kind}_layout: "{layout}" is not known', f"legal values: {', '.join(allowed)}")
    return layout


def _vdevs(where: str, layout: str, devices: list[str]) -> str:
    if layout == "mirrors":
        return _mirrors(where, devices)
    return f"{_head(where, layout, len(devices))} {shlex.join(devices)}"


def _head(where: str, layout: str, count: int) -> str:
    if _DRAID.fullmatch(layout):
        draid(where, layout, count)
        return layout
    if layout not in LAYOUTS:
        legal = f"legal values: {', '.join(LAYOUTS)}, or a draid such as draid2:4d:8c:1s"
        raise Problem(f'{where}: "{layout}" is not known', legal)
    least = LAYOUTS[layout]
    if count < least or (layout == "single" and count > least):
        raise Problem(f"{where}: {layout} of {count} disks", "it takes 1" if layout == "single" else f"it takes {least} or more")
    return "" if layout in ("single", "stripe") else layout


def _mirrors(where: str, devices: list[str]) -> str:
    """Pairs, as the source of ten disks in five mirrors had them."""
    if len(devices) < LAYOUTS["mirrors"] or len(devices) % 2:
        raise Problem(f"{where}: mirrors of {len(devices)} disks", "it takes 4, 6, 8 ... disks: each two are one mirror")
    return " ".join(f"mirror {shlex.join(devices[at : at + 2])}" for at in range(0, len(devices), 2))


def draid(where: str, layout: str, count: int) -> tuple[int, int, int]:
    """(parity, data disks of a group, spares) of a distributed RAID of ``count`` disks, as zpool would take it."""
    match = _DRAID.fullmatch(layout)
    if not match:
        raise Problem(f'{where}: "{layout}" is no draid', "such as draid2:4d:8c:1s")
    parity, spares = int(match.group(1) or 1), int(match.group(4) or 0)
    children = int(match.group(3) or count)
    data = int(match.group(2) or min(MOST_DATA, children - parity - spares))
    if children != count or data < 1 or data + parity + spares > count:
        raise Problem(
            f"{where}: {layout} of {count} disks",
            "the number before c is that of the disks, and data (d), parity and spares (s) are not more together",
        )
    return parity, data, spares


def expected(pool: dict[str, Any]) -> str:
    """What a pool of this kind says of itself: vdevs without their numbers, and disks by role."""
    found = [_vdevs("settings.pool.layout", pool["layout"], pool["disks"])]
    beside = [kind for kind in SECTIONS if pool.get(kind)]
    found += [f"{SECTIONS[kind]} {_vdevs('', layout_beside(pool, kind), pool[kind]).strip()}" for kind in beside]
    return " ".join(found).strip()


def pressed(pool: dict[str, Any]) -> float:
    """Bytes on the disks for one byte used: copies of a mirror, parity of the others (of whole stripes)."""
    layout, count = str(pool["layout"]), len(pool["disks"])
    if layout.startswith("mirror"):
        return 2.0 if layout == "mirrors" else float(count)
    if layout.startswith("raidz"):
        parity = int(layout.removeprefix("raidz"))
        return count / (count - parity)
    if layout.startswith("draid"):
        parity, data, _ = draid("settings.pool.layout", layout, count)
        return (data + parity) / data
    return 1.0
