"""Existing devices: every way in which one could be somebody's is tried on a tree that looks like a host's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.machine import guard
from zassay.machine.guard import Host

SIZE = 4 << 20
ID = "/dev/disk/by-id/ata-DISK_1"
MARKED = "/dev/disk/by-id/virtio-zassay-1"


@dataclass(frozen=True)
class Tree(Host):
    """A host made of plain files: a device is a file below dev, its number stands in sysfs as on a real host."""

    def number(self, path: Path) -> str:
        found = self.sys / "block-numbers" / path.resolve().name
        return found.read_text() if found.is_file() else ""

    def add(self, name: str, number: str, serial: str = "", link: str = "", of: str = "", device: bool = True) -> Path:
        """A disk, or with ``of`` a partition of one."""
        folder = self.sys / "devices" / (f"{of}/{name}" if of else name)
        (folder / "holders").mkdir(parents=True)
        (folder / "dev").write_text(f"{number}\n")
        (folder / "ro").write_text("0\n")
        if of:
            (folder / "partition").write_text("1\n")
        elif device:
            (folder / "device").mkdir()
        if serial:
            (folder / "serial").write_text(f"{serial}\n")
        for table, key in (("dev/block", number), ("class/block", name)):
            (self.sys / table).mkdir(parents=True, exist_ok=True)
            (self.sys / table / key).symlink_to(folder)
        (self.sys / "block-numbers").mkdir(exist_ok=True)
        (self.sys / "block-numbers" / name).write_text(number)
        (self.dev / name).write_bytes(bytes(SIZE))
        if link:
            self.own(link).symlink_to(f"../../{name}")
        return folder

    def mount(self, number: str, where: str, source: str) -> None:
        line = f"36 35 {number} / {where} rw,noatime shared:1 - ext4 {source} rw\n"
        with (self.proc / "self" / "mountinfo").open("a") as table:
            table.write(line)


@pytest.fixture
def host(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "dev", tmp_path / "sys", tmp_path / "proc")
    for folder in (tree.dev / "disk" / "by-id", tree.proc / "self", tree.proc / "1"):
        folder.mkdir(parents=True)
    tree.add("sda", "8:0", serial="SYSTEM", link="/dev/disk/by-id/ata-SYSTEM")
    tree.add("sda1", "8:1", of="sda")
    tree.mount("8:1", "/", "/dev/sda1")
    tree.mount("0:22", "/sys", "sysfs")
    (tree.proc / "swaps").write_text("Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n")
    tree.add("sdb", "8:16", serial="DISK_1", link=ID)
    tree.add("vdc", "252:32", serial="zassay-1", link=MARKED)
    return tree


def refused(host: Tree, device: str, says: str, confirmed: list[str] | None = None) -> None:
    with pytest.raises(Problem) as caught:
        guard.check(device, [device] if confirmed is None else confirmed, host)
    assert says in caught.value.message, caught.value.message
    assert device in caught.value.message


def label(pool: str, hostname: str, magic: bytes = guard.MAGIC[0]) -> bytes:
    """A label's names and values as ZFS writes them, and one uberblock."""

    def pair(name: str, value: str) -> bytes:
        words = [(len(name)).to_bytes(4, "big") + name.encode().ljust(-(-len(name) // 4) * 4, b"\0")]
        words += [(9).to_bytes(4, "big"), (1).to_bytes(4, "big")]
        words += [len(value).to_bytes(4, "big") + value.encode().ljust(-(-len(value) // 4) * 4, b"\0")]
        return b"".join(words)

    said = bytes(16 << 10) + pair("name", pool) + pair("hostname", hostname)
    return said.ljust(128 << 10, b"\0") + bytes(4096) + magic.ljust((128 << 10) - 4096, b"\0")


def test_a_marked_disk_is_taken(host: Tree) -> None:
    assert guard.check(MARKED, [], host).name == "vdc"


def test_a_disk_whose_name_was_typed_is_taken(host: Tree) -> None:
    assert guard.check(ID, [ID], host).name == "sdb"


def test_a_disk_that_nobody_named_is_not(host: Tree) -> None:
    refused(host, ID, "its serial is DISK_1", confirmed=[])
    refused(host, ID, "is not marked as ours", confirmed=["/dev/disk/by-id/ata-DISK_2", "ata-DISK_1", "sdb", "/dev/sdb"])


def test_the_mark_has_to_begin_the_serial(host: Tree) -> None:
    host.add("vdd", "252:48", serial="not-zassay-1", link="/dev/disk/by-id/virtio-not-zassay-1")
    refused(host, "/dev/disk/by-id/virtio-not-zassay-1", "is not marked as ours", confirmed=[])


def test_a_link_that_says_it_is_ours_proves_nothing(host: Tree) -> None:
    host.own("/dev/disk/by-id/virtio-zassay-2").symlink_to("../../sdb")
    refused(host, "/dev/disk/by-id/virtio-zassay-2", "is not marked as ours", confirmed=[])


@pytest.mark.parametrize(
    "device",
    [
        "/dev/sdb",
        "sdb",
        "/dev/disk/by-path/pci-0000:00:1f.2-ata-1",
        "/dev/disk/by-id/../../sdb",
        "/dev/disk/by-id/..",
        "/dev/disk/by-id/",
        "/dev/disk/by-id/a/b",
        "/dev/disk/by-id/ata-DISK_1\n",
        " /dev/disk/by-id/ata-DISK_1",
        "/dev/disk/by-id/ata DISK_1",
        "/dev//disk/by-id/ata-DISK_1",
        "",
    ],
)
def test_only_stable_names_are_taken(host: Tree, device: str) -> None:
    refused(host, device, "is no stable name")


def test_a_partition_is_not_taken(host: Tree) -> None:
    host.add("sdb1", "8:17", of="sdb", link=f"{ID}-part1")
    refused(host, f"{ID}-part1", "is a partition")
    host.own("/dev/disk/by-id/ata-OTHER").symlink_to("../../sdb1")
    refused(host, "/dev/disk/by-id/ata-OTHER", "is a partition")


def test_a_name_without_a_device_is_told(host: Tree) -> None:
    refused(host, "/dev/disk/by-id/ata-GONE", "there is no such device")
    host.own("/dev/disk/by-id/ata-DANGLING").symlink_to("../../sdz")
    refused(host, "/dev/disk/by-id/ata-DANGLING", "there is no such device")
    (host.dev / "disk" / "by-id" / "ata-FILE").write_bytes(bytes(SIZE))
    refused(host, "/dev/disk/by-id/ata-FILE", "there is no such device")


def test_a_link_to_a_plain_file_is_not_taken(host: Tree) -> None:
    (host.dev / "image").write_bytes(bytes(SIZE))
    host.own("/dev/disk/by-id/ata-IMAGE").symlink_to("../../image")
    refused(host, "/dev/disk/by-id/ata-IMAGE", "is no block device")


@pytest.mark.parametrize("name", ["loop0", "dm-0", "md127", "zram0", "nbd0", "zd0"])
def test_what_has_no_hardware_behind_it_is_not_taken(host: Tree, name: str) -> None:
    host.add(name, "7:0", serial="zassay-x", link="/dev/disk/by-id/x", device=False)
    refused(host, "/dev/disk/by-id/x", "is no disk of its own")


def test_a_disk_that_cannot_be_written_is_not_taken(host: Tree) -> None:
    folder = host.sys / "devices" / "sdb"
    (folder / "ro").write_text("1\n")
    refused(host, ID, "cannot be written")
    (folder / "ro").unlink()
    refused(host, ID, "cannot be written, or does not say")


# In use


def test_the_host_s_own_disk_is_never_taken(host: Tree) -> None:
    refused(host, "/dev/disk/by-id/ata-SYSTEM", "is mounted at /")


def test_a_mounted_disk_is_not_taken(host: Tree) -> None:
    host.mount("8:16", "/data", "/dev/sdb")
    refused(host, ID, "is mounted at /data")


def test_a_disk_with_a_mounted_partition_is_not_taken(host: Tree) -> None:
    host.add("sdb3", "8:19", of="sdb")
    host.mount("8:19", "/data", "/dev/sdb3")
    refused(host, ID, "is mounted at /data")


def test_a_mount_under_another_name_and_number_is_seen(host: Tree) -> None:
    """Btrfs mounts have numbers of their own, and a table may name the device by any link."""
    host.mount("0:51", "/data", ID)
    refused(host, ID, "is mounted at /data")


def test_a_mount_in_another_namespace_is_seen(host: Tree) -> None:
    (host.proc / "1" / "mountinfo").write_text("36 35 8:16 / /srv rw - ext4 /dev/sdb rw\n")
    refused(host, ID, "is mounted at /srv")


def test_a_host_that_does_not_tell_its_mounts_gives_no_disk(host: Tree) -> None:
    (host.proc / "self" / "mountinfo").unlink()
    refused(host, ID, "does not tell what is mounted")


def test_a_partition_that_does_not_tell_its_number_gives_no_disk(host: Tree) -> None:
    (host.add("sdb1", "8:17", of="sdb") / "dev").unlink()
    with pytest.raises(Problem, match="does not say its number"):
        guard.check(ID, [ID], host)


@pytest.mark.parametrize("swap", ["/dev/sdb", "/dev/sdb2", ID])
def test_a_disk_that_is_swapped_on_is_not_taken(host: Tree, swap: str) -> None:
    host.add("sdb2", "8:18", of="sdb")
    with (host.proc / "swaps").open("a") as table:
        table.write(f"{swap}\tpartition\t1000\t0\t-2\n")
    refused(host, ID, "swaps on it")


@pytest.mark.parametrize("part", ["sdb", "sdb1"])
@pytest.mark.parametrize("holder", ["dm-0", "md0", "bcache0"])
def test_a_disk_that_another_device_is_made_of_is_not_taken(host: Tree, part: str, holder: str) -> None:
    folder = host.sys / "devices" / "sdb"
    if part == "sdb1":
        folder = host.add("sdb1", "8:17", of="sdb")
    (folder / "holders" / holder).mkdir()
    refused(host, ID, f"{part} is held by {holder}")


def test_a_marked_disk_that_is_in_use_is_not_taken_either(host: Tree) -> None:
    host.mount("252:32", "/mnt", "/dev/vdc")
    refused(host, MARKED, "is mounted at /mnt", confirmed=[])


# Pools


@pytest.mark.parametrize("magic", guard.MAGIC, ids=["little", "big"])
@pytest.mark.parametrize("at", [0, guard.LABEL, SIZE - 2 * guard.LABEL, SIZE - guard.LABEL])
@pytest.mark.parametrize("part", ["sdb", "sdb1"])
def test_a_disk_of_a_pool_is_not_taken_whichever_label_is_left(host: Tree, part: str, at: int, magic: bytes) -> None:
    host.add("sdb1", "8:17", of="sdb")
    data = bytearray(SIZE)
    data[at : at + guard.LABEL] = label("precious", "server", magic)
    (host.dev / part).write_bytes(data)
    refused(host, ID, f"{part} is part of the ZFS pool precious of server")


def test_a_pool_of_nobody_knows_whom_is_not_taken(host: Tree) -> None:
    spoiled = label("tank", "zassay").replace(b"hostname", b"h0stname")
    (host.dev / "sdb").write_bytes(spoiled.ljust(SIZE, b"\0"))
    refused(host, ID, "ZFS pool tank of an unknown host")


def test_what_a_guest_of_ours_left_may_be_overwritten(host: Tree) -> None:
    (host.dev / "vdc").write_bytes(label("tank", "zassay").ljust(SIZE, b"\0"))
    assert guard.check(MARKED, [], host).name == "vdc"


def test_a_host_whose_name_only_begins_like_a_guest_s_is_a_stranger(host: Tree) -> None:
    (host.dev / "sdb").write_bytes(label("tank", "zassay2").ljust(SIZE, b"\0"))
    refused(host, ID, "ZFS pool tank of zassay2")


# Serials


@pytest.mark.parametrize(
    ("where", "data"),
    [("serial", b"zassay-7\n"), ("device/serial", b"zassay-7            \n"), ("device/vpd_pg80", b"\0\x80\0\x08zassay-7")],
)
def test_the_mark_is_found_wherever_a_kind_of_disk_has_it(host: Tree, where: str, data: bytes) -> None:
    folder = host.add("sdq", "65:0", link="/dev/disk/by-id/scsi-Q")
    (folder / where).write_bytes(data)
    assert guard.serials(folder) == ["zassay-7"]
    assert guard.check("/dev/disk/by-id/scsi-Q", [], host).name == "sdq"


# Holding it


def test_a_device_is_held_while_it_is_used_and_let_go(host: Tree) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with guard.claimed(MARKED, [], SIZE, host) as path:
        assert path == host.dev / "disk" / "by-id" / "virtio-zassay-1"
        assert len(os.listdir("/proc/self/fd")) == before + 1
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_device_that_is_refused_is_let_go(host: Tree) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Problem, match="is not marked"), guard.claimed(ID, [], SIZE, host):
        pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_device_that_is_too_small_is_refused(host: Tree) -> None:
    with pytest.raises(Problem, match="has 4 MiB, and 8 MiB are wanted"), guard.claimed(MARKED, [], 2 * SIZE, host):
        pass


def test_what_the_kernel_will_not_give_is_refused(host: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    flags: list[int] = []

    def busy(path: Path, how: int) -> int:
        flags.append(how)
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(guard.os, "open", busy)
    with pytest.raises(Problem, match="cannot be held exclusively: Device or resource busy"):
        with guard.claimed(MARKED, [], SIZE, host):
            pass
    assert flags[0] & os.O_EXCL
