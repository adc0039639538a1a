"""The names a study may use: an unknown image, plug-in or disk is said before anything is planned, built or booted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zassay import disks, registry
from zassay.errors import Problem, unknown

if TYPE_CHECKING:
    from zassay.campaign import Scale
    from zassay.study import Cell, Settings

NEEDED = {
    "pool": ("layout", "disks", "disk_size"),
    "workload": ("tool",),
    "payload": ("name",),
    "collect": ("names", "interval_s"),
}


def check(root: Path, where: str, scale: Scale, cells: Iterable[Cell]) -> None:
    """Raise Problem for the first name in the cells' settings that nobody answers to; ``where`` is the study's file."""
    for cell in cells:
        for one in (_images, _disks, _plug_ins):
            one(root, where, scale, cell.settings)


def needed(where: str, merged: dict[str, Any]) -> None:
    """Raise Problem for a setting that no cell can do without."""
    missing = [key for key in ("image", "filesystem", *NEEDED) if key not in merged]
    missing += [f"{key}.{part}" for key, parts in NEEDED.items() for part in parts if part not in merged.get(key, parts)]
    if missing:
        raise Problem(f"{where}: settings: {', '.join(missing)} is not given")


def _images(root: Path, where: str, scale: Scale, settings: Settings) -> None:
    known = [path.stem for path in (root / "images").glob("*.yaml")]
    if settings.image not in known:
        raise unknown(where, "image", settings.image, known)


def _disks(root: Path, where: str, scale: Scale, settings: Settings) -> None:
    known, asked = [disk.role for disk in scale.machine.disks], disks.wanted(settings.pool)
    for each in asked:
        if each.role not in known:
            key = "disks" if each.holds == "pool" else each.holds
            raise unknown(f"{where}: settings.pool.{key} on machine {scale.machine.name}", "disk role", each.role, known)
    twice = sorted({each.role for each in asked if disks.roles(settings.pool).count(each.role) > 1})
    if twice:
        raise Problem(f"{where}: settings.pool: {', '.join(twice)} is asked for twice")


def _plug_ins(root: Path, where: str, scale: Scale, settings: Settings) -> None:
    # Plug-ins know the types of a study, so a study can look for them only once it is there itself.
    from zassay import collectors, filesystems, payloads, workloads

    filesystem = _named(where, lambda: filesystems.of(settings))
    _named(where, lambda: workloads.get(str(settings.workload["tool"])))
    _named(where, lambda: payloads.get(str(settings.payload["name"])))
    known = registry.every(collectors, collectors.Collector)
    for name in settings.collect["names"]:
        if name not in known:
            raise unknown(f"{where}: settings.collect.names", "collector", name, known)
    # Their scripts are values: what a plug-in does not know of its own settings, it says while it makes them.
    devices = ["DEVICE", *disks.roles(settings.pool)[1:]]
    _named(where, lambda: (filesystem.create(settings, devices), workloads.steps(settings, filesystem, "SOURCE")))


def _named(where: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Problem as problem:
        raise Problem(f"{where}: {problem.message}", problem.hint) from None
    except KeyError as error:
        raise Problem(f"{where}: settings: {error.args[0]} is not given") from None
