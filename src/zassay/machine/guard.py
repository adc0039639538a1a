"""Existing block devices: what is on one is lost, so each has to be ours beyond doubt before anything opens it for writing.

A device is taken only by its stable name in /dev/disk/by-id; only if its serial carries our mark, or the user typed that very
name in the campaign (config: devices: confirm); and never if it, or a part of it, is mounted, swapped on, held by another
device (LVM, md, dm-crypt), in a ZFS pool that is not a guest's of ours, or is no whole disk. While it is in use it is held
exclusively, so that nobody can mount it meanwhile; whatever a check overlooks, the kernel refuses then.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from zassay.errors import Problem

MARK = "zassay-"
# The name that a guest of ours gives itself, and so what a pool says that one of them made.
GUEST = "zassay"
BY_ID = re.compile(r"/dev/disk/by-id/([A-Za-z0-9][A-Za-z0-9_.:+@=,#-]*)", re.ASCII)
LABEL, UBERBLOCKS = 256 << 10, 128 << 10
MAGIC = (bytes.fromhex("0cb1ba0000000000"), bytes.fromhex("0000000000bab10c"))


@dataclass(frozen=True)
class Host:
    """Where this host tells of its devices; tests have trees of their own."""

    dev: Path = Path("/dev")
    sys: Path = Path("/sys")
    proc: Path = Path("/proc")

    def number(self, path: Path) -> str:
        """``major:minor`` of a block device, or nothing."""
        found = path.stat()
        return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}" if stat.S_ISBLK(found.st_mode) else ""

    def own(self, path: str) -> Path:
        """A path below /dev as this host has it."""
        return self.dev / Path(path).relative_to("/dev")


HOST = Host()


@contextlib.contextmanager
def claimed(device: str, confirmed: Collection[str], size: int, host: Host = HOST) -> Iterator[Path]:
    """Hold a device for ourselves alone as long as the block lasts; gives its stable path."""
    path = _link(device, host)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        raise Problem(f"{device}: cannot be held exclusively: {error.strerror}", "something on this host uses it") from None
    try:
        # Checked after it was opened: what was found cannot be another device any more.
        check(device, confirmed, host)
        if (actual := os.lseek(descriptor, 0, os.SEEK_END)) < size:
            raise Problem(f"{device}: has {actual >> 20} MiB, and {size >> 20} MiB are wanted")
        yield path
    finally:
        os.close(descriptor)


def check(device: str, confirmed: Collection[str], host: Host = HOST) -> Path:
    """The sysfs folder of a device that may be overwritten; raises Problem for any other."""
    path = _link(device, host)
    number = host.number(path)
    if not number:
        raise Problem(f"{device}: is no block device")
    folder = (host.sys / "dev" / "block" / number).resolve()
    _whole(device, folder)
    _ours(device, folder, confirmed)
    parts = [folder, *sorted(each.parent for each in folder.glob("*/partition"))]
    for part in parts:
        _unheld(device, part)
        _no_pool(device, host.dev / part.name)
    names = {part.name for part in parts}
    _unmounted(device, names, {_number(part) for part in parts}, host)
    return folder


def _link(device: str, host: Host) -> Path:
    match = BY_ID.fullmatch(device)
    if not match:
        raise Problem(f"{device}: is no stable name of a device", "legal: /dev/disk/by-id/NAME, as `ls /dev/disk/by-id` shows it")
    if re.search(r"-part\d+$", device):
        raise Problem(f"{device}: is a partition", "name the whole disk")
    path = host.own(device)
    if not path.is_symlink() or not path.exists():
        raise Problem(f"{device}: there is no such device", "`ls -l /dev/disk/by-id` shows what there is")
    return path


def _whole(device: str, folder: Path) -> None:
    """A disk with hardware (or a hypervisor) behind it, that can be written: no partition, loop, mapping or array."""
    if (folder / "partition").exists():
        raise Problem(f"{device}: is a partition", "name the whole disk")
    if not (folder / "device").exists():
        raise Problem(f"{device}: {folder.name} is no disk of its own", "loop devices, mappings and arrays are not taken")
    if _read(folder / "ro") != "0":
        raise Problem(f"{device}: cannot be written, or does not say that it can")


def _ours(device: str, folder: Path, confirmed: Collection[str]) -> None:
    found = serials(folder)
    if device not in confirmed and not any(serial.startswith(MARK) for serial in found):
        raise Problem(
            f"{device}: is not marked as ours: its serial is {', '.join(found) or 'unknown'}",
            f"a serial that begins with {MARK}, or type the name in the campaign: devices: {{confirm: [{device}]}}."
            " All that is on it will be lost",
        )


def serials(folder: Path) -> list[str]:
    """What the device says: virtio at the disk, NVMe at the controller, SCSI in a page whose first 4 bytes are a head."""
    plain = [_read(folder / "serial"), _read(folder / "device" / "serial")]
    page = folder / "device" / "vpd_pg80"
    scsi = page.read_bytes()[4:].decode("ascii", "replace").strip("\0 ") if page.is_file() else ""
    return [each for each in (*plain, scsi) if each]


def _unheld(device: str, part: Path) -> None:
    holders = sorted(each.name for each in (part / "holders").glob("*"))
    if holders:
        raise Problem(f"{device}: {part.name} is held by {', '.join(holders)}", "LVM, md and dm-crypt are not taken apart")


def _number(part: Path) -> str:
    number = _read(part / "dev")
    if not number:
        raise Problem(f"{part}: does not say its number, so nobody can tell whether it is mounted")
    return number


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip("\0 \n")
    except OSError:
        return ""


def _unmounted(device: str, names: set[str], numbers: set[str], host: Host) -> None:
    tables = [host.proc / "self" / "mountinfo", host.proc / "1" / "mountinfo"]
    lines = {line for table in tables for line in _lines(table)}
    if not lines:
        raise Problem(f"{device}: this host does not tell what is mounted")
    for line in sorted(lines):
        words, _, rest = line.partition(" - ")
        fields, source = words.split(" "), rest.split(" ")[1]
        if fields[2] in numbers or _name_of(source, host) in names:
            raise Problem(f"{device}: is mounted at {fields[4]}")
    for line in _lines(host.proc / "swaps")[1:]:
        if _name_of(line.split()[0], host) in names:
            raise Problem(f"{device}: this host swaps on it")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _name_of(source: str, host: Host) -> str:
    """The kernel's name of a device that a table names in whatever way."""
    return host.own(source).resolve().name if source.startswith("/dev/") else ""


def _no_pool(device: str, path: Path) -> None:
    """Two labels at the front, two at the end; each has room for the newest uberblocks and says whose pool it is."""
    with path.open("rb") as handle:
        end = handle.seek(0, os.SEEK_END) // LABEL * LABEL
        for at in (0, LABEL, end - 2 * LABEL, end - LABEL):
            if at >= 0:
                handle.seek(at)
                _no_label(device, path.name, handle.read(LABEL))


def _no_label(device: str, part: str, label: bytes) -> None:
    rings = label[UBERBLOCKS:]
    if not any(rings[at : at + 8] in MAGIC for at in range(0, len(rings), 1024)):
        return
    host, pool = _string(label, b"hostname"), _string(label, b"name")
    if host != GUEST:
        raise Problem(
            f"{device}: {part} is part of the ZFS pool {pool or '(unknown)'} of {host or 'an unknown host'}",
            "zpool labelclear takes a device out of a pool that is no more",
        )


def _string(label: bytes, name: bytes) -> str:
    """A string of a label's list of names and values (XDR): length and name, type 9, one element, length and value."""
    padded = name + b"\0" * (-len(name) % 4)
    match = re.search(
        re.escape(len(name).to_bytes(4, "big") + padded + b"\0\0\0\x09\0\0\0\x01") + b"(.{4})", label[:UBERBLOCKS], re.S
    )
    if not match:
        return ""
    length = int.from_bytes(match.group(1), "big")
    return label[match.end() : match.end() + min(length, 256)].decode("utf-8", "replace")
