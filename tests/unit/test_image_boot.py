"""Boot artefacts: module order, the initrd's bytes, the kernel inside vmlinuz, the disk's sectors."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.image import disk, initrd, kernel

KERNEL = "6.1.0-test"
DEPENDS = """kernel/ext4.ko: kernel/mbcache.ko kernel/jbd2.ko
kernel/jbd2.ko:
kernel/mbcache.ko:
kernel/crc-fast.ko:
kernel/crc_generic.ko:
kernel/virtio-rng.ko: kernel/virtio.ko kernel/ring.ko
kernel/virtio.ko: kernel/ring.ko
kernel/ring.ko:
kernel/packed.ko.xz:
"""
NOTE = struct.pack("<III", 4, 8, 18) + b"Xen\0"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A root with busybox and the modules of ``DEPENDS``; returns the root."""
    modules = tmp_path / "modules" / "lib" / "modules" / KERNEL
    (modules / "kernel").mkdir(parents=True)
    for line in DEPENDS.splitlines():
        path = modules / line.split(":")[0]
        plain = path.name.split(".ko")[0].encode()
        path.write_bytes(lzma.compress(plain) if path.suffix == ".xz" else plain)
    (modules / "modules.dep").write_text(DEPENDS)
    (modules / "modules.softdep").write_text("# remark\nsoftdep ext4 pre: crypto-crc\nsoftdep ext4 pre: absent\n")
    (modules / "modules.alias").write_text("alias crypto-crc crc_fast\nalias crypto-crc crc_generic\nalias pci:v1* ext4\n")
    (modules / "modules.builtin").write_text("kernel/drivers/block/loop.ko\n")
    (tmp_path / "modules" / "bin").mkdir()
    (tmp_path / "modules" / "bin" / "busybox").write_bytes(b"box")
    return tmp_path / "modules"


@pytest.fixture
def guest(tmp_path: Path) -> Path:
    folder = tmp_path / "guest"
    (folder / "sub").mkdir(parents=True)
    (folder / "init").write_text("#!/bin/busybox sh\n")
    (folder / "agent").write_text("agent\n")
    return folder


def order(tree: Path, *wanted: str) -> list[str]:
    return [path.name for path in initrd.insmod_order(initrd.kernel_tree(tree), wanted)]


def test_what_a_module_needs_comes_before_it(tree: Path) -> None:
    assert order(tree, "virtio_rng") == ["ring.ko", "virtio.ko", "virtio-rng.ko"]


def test_soft_dependencies_come_first_and_by_their_generic_module(tree: Path) -> None:
    assert order(tree, "ext4") == ["crc_generic.ko", "jbd2.ko", "mbcache.ko", "ext4.ko"]


def test_no_module_is_loaded_twice_and_built_in_ones_never(tree: Path) -> None:
    assert order(tree, "virtio", "loop", "virtio_rng", "virtio") == ["ring.ko", "virtio.ko", "virtio-rng.ko"]


def test_an_unknown_module_is_named(tree: Path) -> None:
    with pytest.raises(Problem, match='no module "zsf"'):
        order(tree, "zsf")


def test_two_kernels_are_refused(tree: Path) -> None:
    shutil.copytree(tree / "lib/modules" / KERNEL, tree / "lib/modules" / "6.2")
    with pytest.raises(Problem, match="2 kernels"):
        initrd.kernel_tree(tree)


def test_the_initrd_holds_guest_files_and_modules_without_compression(tree: Path, guest: Path) -> None:
    found = {member.name: member for member in initrd.members(tree, guest, ["packed", "virtio"])}
    assert found["init"].data == found["zassay/init"].data == (guest / "init").read_bytes()
    assert found["zassay/agent"].mode == initrd.MODE_EXECUTABLE
    assert found["zassay/modules"].data == b"/lib/modules/packed.ko\n/lib/modules/ring.ko\n/lib/modules/virtio.ko\n"
    assert found["lib/modules/packed.ko"].data == b"packed"
    assert "zassay/sub" not in found


def test_a_guest_folder_without_init_is_refused(tree: Path, guest: Path) -> None:
    (guest / "init").unlink()
    with pytest.raises(Problem, match="no file init"):
        initrd.build(tree, guest, ["virtio"], guest / "out")


def test_the_initrd_has_the_same_bytes_whenever_it_is_built(tree: Path, guest: Path, tmp_path: Path) -> None:
    initrd.build(tree, guest, ["ext4"], tmp_path / "one")
    for path in guest.iterdir():
        os.utime(path, (1, 1))
        path.chmod(0o700)
    initrd.build(tree, guest, ["ext4"], tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_cpio_can_read_the_initrd(tree: Path, guest: Path, tmp_path: Path) -> None:
    initrd.build(tree, guest, ["ext4"], tmp_path / "out")
    with (tmp_path / "out").open("rb") as handle:
        names = subprocess.run(["cpio", "-t", "--quiet"], stdin=handle, capture_output=True, text=True, check=True, timeout=20)
    listed = names.stdout.split()
    assert listed == sorted(listed)
    assert {"init", "bin/busybox", "dev/console", "zassay/modules", "lib/modules/ext4.ko"} <= set(listed)


@pytest.mark.parametrize("compress", [lzma.compress, gzip.compress])
def test_the_kernel_is_found_behind_a_false_start(tmp_path: Path, compress: object) -> None:
    assert callable(compress)
    elf = kernel.ELF + b"rest" + NOTE
    image = b"MZ" + kernel.XZ + b"no" + kernel.GZIP + b"no" + compress(elf) + b"trailer"
    (tmp_path / "vmlinuz").write_bytes(image)
    kernel.extract(tmp_path / "vmlinuz", tmp_path / "vmlinux")
    assert (tmp_path / "vmlinux").read_bytes() == elf


@pytest.mark.parametrize(("data", "word"), [(b"MZ", "no compressed kernel"), (lzma.compress(kernel.ELF), "no PVH entry")])
def test_a_kernel_that_cannot_be_started_is_refused(tmp_path: Path, data: bytes, word: str) -> None:
    (tmp_path / "vmlinuz").write_bytes(data)
    with pytest.raises(Problem, match=word):
        kernel.extract(tmp_path / "vmlinuz", tmp_path / "vmlinux")
    assert not (tmp_path / "vmlinux").exists()


def test_boot_code_leaves_the_partition_table_alone(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    path.write_bytes(b"T" * 2048)
    disk.write_boot_code(path, b"B" * 512, b"C" * 600)
    data = path.read_bytes()
    assert data[:440] == b"B" * 440
    assert data[440:512] == b"T" * 72
    assert data[512:1112] == b"C" * 600


def test_a_sparse_copy_is_the_same_and_stays_sparse(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as handle:
        handle.write(b"begin")
        handle.seek(64 << 20)
        handle.write(b"end")
    with target.open("wb") as handle:
        handle.truncate(66 << 20)
    disk.copy_sparse(source, target, 1 << 20)
    with target.open("rb") as handle:
        handle.seek(1 << 20)
        assert handle.read(source.stat().st_size) == source.read_bytes()
    assert target.stat().st_blocks * 512 < 4 << 20
