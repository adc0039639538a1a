"""Disks for one cell: made where their class says, or existing ones that the guard lets pass; given back with the block."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from zassay.machine import guard, leftovers, rotating
from zassay.machine.drives import Disk, make_raw_disk, partition
from zassay.machine.spec import DiskSpec

MEMORY = Path("/dev/shm")


def disk(stack: contextlib.ExitStack, spec: DiskSpec, size: int, base: Path, confirmed: Collection[str] = ()) -> Disk:
    """A disk of ``size`` bytes for a role; ``base`` is the folder on a file system where those of class file are kept."""
    if spec.device:
        return _existing(stack, spec, size, confirmed)
    in_memory = spec.device_class == "memory"
    base = MEMORY if in_memory else base
    base.mkdir(parents=True, exist_ok=True)
    folder, record = stack.enter_context(leftovers.scratch(base, "disk"))
    path = folder / f"{spec.role}.raw"
    make_raw_disk(path, size)
    if spec.rotation:
        return Disk(spec.role, path, socket=stack.enter_context(rotating.serving(spec, path, record)))
    # What is in memory is in the page cache itself: there is nothing to pass by, and older kernels refuse to.
    return Disk(spec.role, path, bytes_per_s=spec.bytes_per_s, operations_per_s=spec.operations_per_s, direct=not in_memory)


def _existing(stack: contextlib.ExitStack, spec: DiskSpec, size: int, confirmed: Collection[str]) -> Disk:
    path = stack.enter_context(guard.claimed(spec.device, confirmed, size))
    partition(path, size)
    return Disk(spec.role, path, partitioned=size)
