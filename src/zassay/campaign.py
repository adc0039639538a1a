"""The campaign: config/config.yaml and the scale it names, as types; and where the project's files are."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay import schema, units
from zassay.errors import unknown
from zassay.machine import spec
from zassay.machine.spec import MachineSpec

SHM = Path("/dev/shm")
SHM_NEEDED = 4 << 30


@dataclass(frozen=True)
class Scale:
    """A scale: its machine, and the sizes in bytes that relative sizes may name."""

    name: str
    machine: MachineSpec
    blocks: int
    scope: dict[str, int]


@dataclass(frozen=True)
class Campaign:
    """What config/config.yaml asks for; ``root`` is the project's folder."""

    root: Path
    name: str
    version: str
    studies: tuple[str, ...]
    scale: Scale
    seed: int
    accel: str
    scratch: Path
    raw: dict[str, Any]

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def confirmed_devices(self) -> list[str]:
        """Existing block devices that the user typed out, so that all that is on them may be overwritten."""
        return list(self.raw.get("devices", {}).get("confirm", []))

    def study_dir(self, study: str) -> Path:
        return self.results / study


def project_root() -> Path:
    return Path(os.environ.get("ZASSAY_ROOT") or Path(__file__).resolve().parents[2])


def cache_dir() -> Path:
    return Path(os.environ.get("ZASSAY_CACHE") or Path.home() / ".cache" / "zassay")


def config_path(root: Path) -> Path:
    return Path(os.environ.get("ZASSAY_CONFIG") or root / "config" / "config.yaml")


def load(root: Path | None = None, config: Path | None = None, scale: str | None = None) -> Campaign:
    """Read the campaign; ``scale`` overrides the file's."""
    root = root or project_root()
    path = config or config_path(root)
    raw = schema.load_yaml(path, "config")
    return Campaign(
        root=root,
        name=raw["campaign"]["name"],
        version=raw["campaign"]["version"],
        studies=tuple(raw["studies"]),
        scale=load_scale(root, scale or raw["scale"], raw.get("blocks")),
        seed=raw["seed"],
        accel=raw["accel"],
        scratch=_scratch(raw["scratch"]),
        raw=raw,
    )


def known_scales(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / "config" / "scales").glob("*.yaml"))


def load_scale(root: Path, name: str, blocks: int | None = None) -> Scale:
    path = root / "config" / "scales" / f"{name}.yaml"
    if not path.is_file():
        raise unknown("config/config.yaml", "scale", name, known_scales(root))
    raw = schema.load_yaml(path, "scale")
    machine = spec.load(root, raw["machine"], f"config/scales/{name}.yaml")
    scope = {"memory": machine.memory}
    for size in ("arc", "dirty"):
        scope[size] = units.resolve_size(raw[size], scope)
    return Scale(name, machine, blocks or raw["blocks"], scope)


def _scratch(configured: str) -> Path:
    """Guests' memory and small files belong in memory when there is room; the data disks' class decides for themselves."""
    if configured:
        return Path(configured)
    if SHM.is_dir() and os.access(SHM, os.W_OK) and shutil.disk_usage(SHM).free >= SHM_NEEDED:
        return SHM
    return cache_dir() / "scratch"
