"""A bootable raw disk around the root file system: one partition and GRUB, made without mounts or loop devices."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from zassay.image.catalog import ImageSpec
from zassay.image.ext4 import NEUTRAL, PARTITION_START
from zassay.image.steps import Steps

DEADLINE_S = 300
GRUB = Path("/usr/lib/grub/i386-pc")
BOOT_CODE_BYTES = 440
SECTOR = 512
MODULES = "biosdisk part_msdos ext2 normal linux search search_label configfile serial terminal boot minicmd".split()


def make(spec: ImageSpec, root: Path, out: Path, steps: Steps) -> None:
    """Make ``out`` from the ext4 image ``root``, which becomes the first partition."""
    with out.open("wb") as disk:
        disk.truncate(spec.disk_bytes)
    table = "label: dos\nlabel-id: 0x7a617373\nstart=2048, type=83, bootable\n"
    steps.run("disk", ["sfdisk", "-q", str(out)], deadline_s=DEADLINE_S, env=NEUTRAL, stdin=table.encode())
    core = out.with_suffix(".core")
    image = ["grub-mkimage", "-O", "i386-pc", "-d", str(GRUB), "-p", "(hd0,msdos1)/boot/grub", "-o", str(core)]
    steps.run("disk", [*image, *MODULES], deadline_s=DEADLINE_S, env=NEUTRAL)
    write_boot_code(out, (GRUB / "boot.img").read_bytes(), core.read_bytes())
    core.unlink()
    copy_sparse(root, out, PARTITION_START)


def write_boot_code(disk: Path, boot: bytes, core: bytes) -> None:
    """GRUB's first sector keeps the partition table; its core follows in the gap before the first partition."""
    if SECTOR + len(core) > PARTITION_START:
        raise ValueError("GRUB's core does not fit before the first partition")
    with disk.open("r+b") as handle:
        handle.write(boot[:BOOT_CODE_BYTES])
        handle.seek(SECTOR)
        handle.write(core)


def copy_sparse(source: Path, target: Path, offset: int) -> None:
    """Copy only what is not a hole of ``source`` into the (empty) place at ``offset``."""
    with source.open("rb") as reader, target.open("r+b") as writer:
        end = source.stat().st_size
        begin = _next_data(reader.fileno(), 0, end)
        while begin < end:
            stop = os.lseek(reader.fileno(), begin, os.SEEK_HOLE)
            reader.seek(begin)
            writer.seek(offset + begin)
            _copy(reader, writer, stop - begin)
            begin = _next_data(reader.fileno(), stop, end)


def _next_data(descriptor: int, position: int, end: int) -> int:
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError:
        return end


def _copy(reader: IO[bytes], writer: IO[bytes], count: int) -> None:
    while count:
        chunk = reader.read(min(count, 1 << 20))
        writer.write(chunk)
        count -= len(chunk)
