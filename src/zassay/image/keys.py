"""What an image's layers are made of, as digests: equal keys mean there is nothing to build."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zassay import files
from zassay.image.catalog import ImageSpec

# Raise one of these when the code of a layer makes other bytes of the same input.
BASE_VERSION = 1
DISK_VERSION = 1
INITRD_VERSION = 1
ENTRY_VERSION = 1

KEY_LENGTH = 16
BASE_SETTINGS = ("suite", "components", "source_date_epoch", "packages", "disk", "boot_modules", "masked_units")
DISK_SETTINGS = ("name", "family", "release", "expected", "tools")


@dataclass(frozen=True)
class Keys:
    """A key per layer: base (from packages), disk (Packer's), initrd (for measuring); ``entry`` is them all."""

    base: str
    disk: str
    initrd: str
    entry: str


def of(spec: ImageSpec) -> Keys:
    base = _key(
        version=BASE_VERSION,
        settings={key: spec.raw[key] for key in BASE_SETTINGS},
        lock=_locked(spec.lock),
        hooks=digests(spec.folder / "base"),
    )
    disk = _key(
        version=DISK_VERSION,
        base=base,
        settings={key: spec.raw[key] for key in DISK_SETTINGS},
        template=files.sha256_file(spec.folder / "image.pkr.hcl"),
        provision=digests(spec.folder / "provision"),
    )
    initrd = _key(version=INITRD_VERSION, base=base, modules=spec.initrd_modules, guest=digests(spec.folder / "guest"))
    return Keys(base, disk, initrd, _key(version=ENTRY_VERSION, base=base, disk=disk, initrd=initrd))


def digests(folder: Path) -> dict[str, list[object]]:
    """Digest and executable bit of every file below a folder, by its path in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): [files.sha256_file(path), bool(path.stat().st_mode & 0o100)] for path in paths}


def _locked(path: Path) -> list[str]:
    """The lock's rows without its comments: the time it was made at changes nothing."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [line for line in lines if not line.startswith("#")]


def _key(**inputs: object) -> str:
    return files.sha256_json(inputs)[:KEY_LENGTH]
