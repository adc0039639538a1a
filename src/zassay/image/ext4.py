"""The root's tar as an ext4 file system with the same bytes each time."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path

from zassay import proc
from zassay.image.catalog import ImageSpec
from zassay.image.steps import Steps

DEADLINE_S = 1200
# images/base/files names it in fstab and grub.cfg.
LABEL = "zfsroot"
SHOWN_MEMBERS = 40
PARTITION_START = 2048 * 512
# Debian's users have no sbin on their PATH, where mke2fs and its like are.
PATH = f"{os.environ.get('PATH', '/usr/bin:/bin')}:/usr/sbin:/sbin"
NEUTRAL = {"LC_ALL": "C", "TZ": "UTC", "PATH": PATH}

# fakeroot keeps owners, devices and capabilities that the host's user may not set; root takes the same way, so that
# there is one way. mke2fs 1.47.0 copies the tree sorted by name in the C locale.
MAKE = """set -eu
umask 022
tar --extract --file "$1" --directory "$2" --numeric-owner --same-permissions --xattrs --xattrs-include='*'
mke2fs -q -t ext4 -F -L "$4" -U "$5" -O ^orphan_file \
    -E "hash_seed=$6,root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0" -d "$2" "$3" "$7"
"""


def make(spec: ImageSpec, tar: Path, root: Path, out: Path, steps: Steps) -> None:
    """Unpack ``tar`` to the empty folder ``root`` (kept: the kernel is read from it) and make ``out`` of it."""
    size_kib = (spec.disk_bytes - PARTITION_START) // 1024
    names = [str(tar), str(root), str(out), LABEL, spec.uuid, spec.hash_seed, f"{size_kib}k"]
    epoch = str(spec.source_date_epoch)
    env = {**NEUTRAL, "E2FSPROGS_FAKE_TIME": epoch, "SOURCE_DATE_EPOCH": epoch}
    steps.run("ext4", ["fakeroot", "sh", "-c", MAKE, "make-ext4", *names], deadline_s=DEADLINE_S, env=env)
    settle_times(out, spec.source_date_epoch, steps)
    steps.run("ext4", ["e2fsck", "-fn", str(out)], deadline_s=DEADLINE_S, env=env)


def settle_times(image: Path, epoch: int, steps: Steps) -> None:
    """Give every inode one ctime and atime: up to e2fsprogs 1.47.0 those of the unpacked tree leak in."""
    commands = []
    for inode in used_inodes(image):
        for field in ("ctime", "atime"):
            commands += [f"sif <{inode}> {field} @{epoch}", f"sif <{inode}> {field}_extra 0"]
    script = image.with_suffix(".debugfs")
    script.write_text("\n".join(commands) + "\n", encoding="utf-8")
    argv = ["debugfs", "-w", "-f", str(script), str(image)]
    proc.run(argv, deadline_s=DEADLINE_S, env={**NEUTRAL, "E2FSPROGS_FAKE_TIME": str(epoch)})
    script.unlink()


def used_inodes(image: Path) -> list[int]:
    """Numbers of the inodes in use: what ``dumpe2fs`` does not list as free."""
    out = proc.run(["dumpe2fs", str(image)], deadline_s=DEADLINE_S, env=NEUTRAL).out
    count = re.search(r"^Inode count:\s+(\d+)", out, re.MULTILINE)
    used = set(range(1, int(count[1]) + 1 if count else 1))
    for listed in re.findall(r"^  Free inodes: ?(.*)$", out, re.MULTILINE):
        for span in filter(None, listed.split(", ")):
            first, _, last = span.partition("-")
            used.difference_update(range(int(first), int(last or first) + 1))
    return sorted(used)


def differing_members(one: Path, two: Path) -> list[str]:
    """Names of tar members whose header or content differ, for the report of ``zassay image twice``."""
    first, second = _members(one), _members(two)
    names = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    return names[:SHOWN_MEMBERS]


def _members(path: Path) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    with tarfile.open(path) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            digest = hash(content.read()) if content else 0
            found[member.name] = (member.mode, member.uid, member.gid, member.mtime, member.linkname, digest)
    return found
