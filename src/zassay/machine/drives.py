"""Data disks: their bytes on this host, and what QEMU is told of them.

Raw, preallocated and opened with O_DIRECT, so that no cache below the guest can answer for the device.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from zassay import proc

FIRST_DISK_SLOT = 0x6


@dataclass(frozen=True)
class Disk:
    """A data disk as QEMU sees it: found in the guest by ``serial``; limits in bytes/s and operations/s, 0 = none.

    A read-only disk is bare bytes, every other one has one partition. With ``socket`` a server of ours beside QEMU has the
    bytes of ``path`` and decides how fast they come. Of an existing device only the first ``partitioned`` bytes are used.
    """

    serial: str
    path: Path
    read_only: bool = False
    bytes_per_s: int = 0
    operations_per_s: int = 0
    direct: bool = True
    socket: Path | None = None
    partitioned: int = 0

    @property
    def size(self) -> int:
        return size_of(self.path)


def disk_words(disk: Disk, index: int) -> list[str]:
    node, words = disk.serial, ["-blockdev", drive_word(disk)]
    if disk.bytes_per_s or disk.operations_per_s:
        words += throttle_words(disk, node)
        node = f"{node}-slow"
    device = f"virtio-blk-pci,drive={node},serial={disk.serial},addr={FIRST_DISK_SLOT + index:#x}"
    return [*words, "-device", device]


def drive_word(disk: Disk) -> str:
    mode = "on" if disk.read_only else "off"
    if disk.socket:
        return f"driver=nbd,node-name={disk.serial},read-only={mode},server.type=unix,server.path={disk.socket}"
    driver = "host_device" if disk.path.is_block_device() else "file"
    cache = "file.cache.direct=on,file.aio=native" if disk.direct else "file.cache.direct=off"
    return f"driver=raw,node-name={disk.serial},read-only={mode},file.driver={driver},file.filename={disk.path},{cache}"


def throttle_words(disk: Disk, node: str) -> list[str]:
    limits = f"x-bps-total={disk.bytes_per_s},x-iops-total={disk.operations_per_s}"
    group = f"throttle-group,id={node}-limit,{limits}"
    return [
        "-object",
        group,
        "-blockdev",
        f"driver=throttle,node-name={node}-slow,throttle-group={node}-limit,file={node}",
    ]


# One partition over the whole disk, the same on each: a guest that knew the placeholder knows its replacement, and no
# filesystem tool has to write a table and wait for udev, which costs seconds on an emulated CPU.
PARTITION_TABLE = """label: gpt
label-id: 7A5A5A41-0000-4000-8000-000000000001
start=1MiB, {size}uuid=7A5A5A41-0000-4000-8000-000000000002
"""


def make_raw_disk(path: Path, size: int) -> None:
    """A preallocated, partitioned raw disk of ``size`` bytes (no holes: the first write must not allocate on the host)."""
    with path.open("wb") as handle:
        os.posix_fallocate(handle.fileno(), 0, size)
    partition(path)


def make_placeholder(path: Path, size: int, partitioned: bool, first: int = 0) -> None:
    with path.open("wb") as handle:
        handle.truncate(size)
    if partitioned:
        partition(path, first)


def size_of(path: Path) -> int:
    """Bytes of a file or of a block device."""
    with path.open("rb") as handle:
        return handle.seek(0, os.SEEK_END)


def partition(path: Path, first: int = 0) -> None:
    """One partition over the whole, or over the ``first`` bytes of it."""
    # Of what is used a MiB lies before the partition, and another behind it, as a smaller disk's second table would.
    table = PARTITION_TABLE.format(size=f"size={(first >> 20) - 2}MiB, " if first else "")
    words = ["sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", str(path)]
    proc.run(words, stdin=table.encode(), deadline_s=30)
