"""The disks that a cell asks for: its pool's, those beside them (log, cache, special), each by role, with size and class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# The role of the disk that holds the payload; it is read and never under test.
SOURCE = "source"
# Kinds of devices beside the pool's own, in the order in which a filesystem is handed them.
BESIDE = ("log", "cache", "special")


@dataclass(frozen=True)
class Wanted:
    """A disk by role, its size in bytes, what it is for, and the device class asked for ("" = the machine's own)."""

    role: str
    size: int
    holds: str
    device_class: str = ""


def wanted(pool: dict[str, Any]) -> list[Wanted]:
    """Every disk under test, the pool's own first. A kind without a size of its own has the pool's."""
    found = [Wanted(role, pool["disk_size"], "pool", pool.get("class", "")) for role in pool["disks"]]
    for kind in BESIDE:
        size, device_class = pool.get(f"{kind}_size", pool["disk_size"]), pool.get(f"{kind}_class", "")
        found += [Wanted(role, size, kind, device_class) for role in pool.get(kind, [])]
    return found


def roles(pool: dict[str, Any]) -> list[str]:
    return [each.role for each in wanted(pool)]


def device(role: str) -> str:
    """Where a Linux guest finds the one partition of a disk."""
    return f"/dev/disk/by-id/virtio-{role}-part1"
