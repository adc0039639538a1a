"""What we boot: ``images/<name>.yaml`` as types."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay import schema, units
from zassay.errors import Problem, unknown

PROJECT = Path(__file__).resolve().parents[3]
SCHEMA = "image"


@dataclass(frozen=True)
class ImageSpec:
    """An image: its packages, versions, disk (bytes), modules. ``raw`` is the checked YAML, ``folder`` its folder."""

    name: str
    family: str
    release: str
    suite: str
    components: tuple[str, ...]
    status: str
    lock: Path
    source_date_epoch: int
    kernel: str
    zfs: str
    packages: tuple[str, ...]
    disk_bytes: int
    uuid: str
    hash_seed: str
    boot_modules: tuple[str, ...]
    initrd_modules: tuple[str, ...]
    masked_units: tuple[str, ...]
    tools: tuple[str, ...]
    folder: Path
    raw: dict[str, Any]


def names(root: Path = PROJECT) -> list[str]:
    return sorted(path.stem for path in (root / "images").glob("*.yaml"))


def load(name: str, root: Path = PROJECT) -> ImageSpec:
    """Read ``images/<name>.yaml``; raises Problem naming file and key."""
    path = root / "images" / f"{name}.yaml"
    if name not in names(root):
        raise unknown("images", "image", name, names(root))
    raw = schema.load_yaml(path, SCHEMA)
    if raw["name"] != name:
        raise Problem(f'{path}: name is "{raw["name"]}"', f'the file and its name agree: write "{name}"')
    return _spec(raw, path)


def _spec(raw: dict[str, Any], path: Path) -> ImageSpec:
    disk, expected = raw["disk"], raw["expected"]
    listed = ("components", "packages", "boot_modules", "initrd_modules", "masked_units", "tools")
    plain = ("name", "family", "release", "suite", "status", "source_date_epoch")
    same: dict[str, Any] = {key: raw[key] for key in plain} | {key: tuple(raw[key]) for key in listed}
    return ImageSpec(
        **same,
        lock=path.parent / raw["lock"],
        kernel=expected["kernel"],
        zfs=expected["zfs"],
        disk_bytes=_disk_bytes(disk["size"], path),
        uuid=disk["uuid"],
        hash_seed=disk["hash_seed"],
        folder=path.parent,
        raw=raw,
    )


def _disk_bytes(text: str, path: Path) -> int:
    """The size in bytes; whole MiB, since the partition starts and ends on such a border."""
    try:
        size = units.parse_bytes(text)
    except Problem as problem:
        raise Problem(f"{path}: disk.size: {problem.message}", problem.hint) from None
    if size % 2**20 or size < 2**30:
        raise Problem(f'{path}: disk.size is "{text}"', "a whole number of MiB, at least 1 GiB")
    return size
