"""What an entry says of itself: versions, packages with digests, files with digests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zassay import files
from zassay.errors import Problem
from zassay.image.catalog import ImageSpec
from zassay.image.lock import Lock

Record = dict[str, Any]


def packages(listed: Path, lock: Lock) -> list[dict[str, str]]:
    """The guest's own package list (``name<TAB>version<TAB>architecture``) with the lock's digests.

    Raises Problem when the guest has other packages than the lock.
    """
    locked = {(package.name, package.version, package.arch): package.sha256 for package in lock.packages}
    rows = [tuple(line.split("\t")) for line in listed.read_text(encoding="utf-8").splitlines()]
    odd = sorted(set(rows) ^ set(locked))
    if odd:
        lines = "\n".join(f"{row[0]}={row[1]} ({row[2]})" for row in odd[:10] if len(row) == 3)
        raise Problem(f"the finished image and the lock differ in {len(odd)} packages", lines)
    return [{"name": n, "version": v, "arch": a, "sha256": locked[n, v, a]} for n, v, a in sorted(locked)]


def describe(path: Path, name: str) -> dict[str, object]:
    return {"sha256": files.sha256_file(path / name), "size": (path / name).stat().st_size}


def make(spec: ImageSpec, key: str, base: Record, disk: Record, described: Record) -> Record:
    """The manifest; ``base`` and ``disk`` are the records of the layers, ``described`` the entry's files."""
    test = disk["selftest"]
    return {
        "name": spec.name,
        "family": spec.family,
        "release": spec.release,
        "suite": spec.suite,
        "status": spec.status,
        "key": key,
        "built_at": disk["built_at"],
        "accelerator": disk["accelerator"],
        "packer": disk["packer"],
        "kernel": test["kernel"],
        "zfs": test["zfs"],
        "selftest": test,
        "base": {name: base[name] for name in ("tar_sha256", "ext4_sha256", "disk_sha256", "source_date_epoch")},
        "lock_sha256": base["lock_sha256"],
        "seconds": {"base": base["seconds"], "disk": disk["seconds"]},
        "files": described,
        "packages": disk["packages"],
    }


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
