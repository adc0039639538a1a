"""A real guest with disks of several kinds, for tests and benches that look at one thing and need no study."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zassay import campaign, disks, filesystems, measure, payloads
from zassay.image import cache
from zassay.machine import accel, hostlock, leftovers, provide, qemu, spec, template
from zassay.machine.drives import Disk
from zassay.machine.qemu import Guest
from zassay.study import Settings

MIB = 1 << 20
ROOT = Path(__file__).resolve().parents[1]
IMAGE = "debian-12"
ARC = 64 * MIB
TUNABLES = {
    "zfs_arc_max": str(ARC),
    "zfs_arc_min": str(ARC // 2),
    "zio_taskq_batch_pct": "75",
    "vm.dirty_background_bytes": str(MIB),
}


def settings(filesystem: str, **changes: Any) -> Settings:
    """Settings of one disk of 384 MiB with everything else small."""
    pool = {"layout": "single", "disks": ["pool0"], "disk_size": 384 * MIB, "properties": {"ashift": "12"}}
    made = Settings(
        image=IMAGE,
        filesystem=filesystem,
        protocol="improved",
        pool=pool | changes.pop("pool", {}),
        properties={"recordsize": "128K", "compression": "off", "atime": "off"},
        tunables=TUNABLES,
        payload={"name": "media"},
        workload={"tool": "copy", "size": 32 * MIB, "block": MIB},
        collect={"interval_s": 1, "names": []},
        machine={},
    )
    return dataclasses.replace(made, **changes)


@contextlib.contextmanager
def guest(
    roles: Sequence[tuple[str, str]],
    size: int,
    machine: str = "small",
    warm: Sequence[str] = ("zfs", "ext4"),
    source: Path | None = None,
) -> Iterator[Guest]:
    """A guest booted from power-on with a disk of each (role, class); it takes the host's lock like any measurement."""
    entry = cache.entry(IMAGE)
    hardware = spec.load(ROOT, machine)
    base = campaign.cache_dir() / "scratch"
    with contextlib.ExitStack() as stack:
        stack.enter_context(hostlock.alone(print))
        folder, record = stack.enter_context(leftovers.scratch(provide.MEMORY, "test"))
        made = [provide.disk(stack, hardware.disk(role, kind), size, base) for role, kind in roles]
        made += [Disk(disks.SOURCE, source, read_only=True, direct=False)] if source else []
        words = "".join(filesystems.get(name).warm(settings(name)) for name in warm)
        found = accel.choose("auto", entry / "vmlinux")
        start = qemu.launch_of(hardware, found.name, entry, tuple(made))
        yield stack.enter_context(template.boot(start, entry / "disk.qcow2", folder, words, record))


def run(guest: Guest, script: str, deadline_s: float = 120) -> str:
    """What a script prints that has to succeed, with everything at hand that a run has."""
    return guest.must(f"{measure.PREAMBLE}mkdir -p $OUT\n{script}", deadline_s).text


def payload(size: int) -> Path:
    """Data that no compressor makes smaller, made once per host."""
    path = campaign.cache_dir() / "payloads" / f"media-1-{size}.raw"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        payloads.get("media").write(path, size, 1)
    return path


def fetch(guest: Guest, name: str) -> str:
    return run(guest, f"cat $OUT/{name}\n")


def devices(of: Settings) -> list[str]:
    return [disks.device(role) for role in disks.roles(of.pool)]
