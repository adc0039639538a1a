"""Disks for a cell: each class's own way, and nothing left of any when the block ends."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.machine import drives, guard, leftovers, provide, qemu, spec
from zassay.machine.drives import Disk
from zassay.machine.spec import DiskSpec, Rotation

MIB = 1 << 20
ROOT = Path(__file__).resolve().parents[2]
ROTATION = Rotation(7200, 0.001, 0.015, 2 * MIB, "fifo")
DEVICE = "/dev/disk/by-id/virtio-zassay-1"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(provide, "MEMORY", tmp_path / "shm")


def nothing_left(tmp_path: Path) -> bool:
    return not [*tmp_path.glob("shm/*"), *tmp_path.glob("disk/*"), *leftovers.state_dir().glob("guest-*")]


def test_a_disk_of_a_file_is_on_the_file_system_and_passes_every_cache(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        made = provide.disk(stack, DiskSpec("pool0", "file", bytes_per_s=5), 4 * MIB, tmp_path / "disk")
        assert made.path.parent.parent == tmp_path / "disk" and made.direct and made.socket is None
        assert (made.size, made.bytes_per_s, made.path.stat().st_blocks * 512) == (4 * MIB, 5, 4 * MIB)
    assert nothing_left(tmp_path)


def test_a_disk_in_memory_is_there(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        made = provide.disk(stack, DiskSpec("log0", "memory", operations_per_s=7), 4 * MIB, tmp_path / "disk")
        assert made.path.parent.parent == tmp_path / "shm" and made.operations_per_s == 7
        assert "cache.direct=off" in drives.drive_word(made)
    assert nothing_left(tmp_path)


def test_a_rotating_disk_has_its_server(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        made = provide.disk(stack, DiskSpec("pool0", "memory", bytes_per_s=MIB, rotation=ROTATION), 4 * MIB, tmp_path)
        assert made.socket is not None and made.socket.is_socket()
        assert (made.bytes_per_s, made.operations_per_s) == (0, 0), "the model alone says how fast it is"
        words = drives.disk_words(made, 0)
        assert words[1] == f"driver=nbd,node-name=pool0,read-only=off,server.type=unix,server.path={made.socket}"
        assert len(words) == 4 and "serial=pool0" in words[3]
    assert nothing_left(tmp_path)


def test_what_was_made_goes_when_the_next_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(Problem), contextlib.ExitStack() as stack:
        provide.disk(stack, DiskSpec("pool0", "memory", bytes_per_s=MIB, rotation=ROTATION), 4 * MIB, tmp_path)
        provide.disk(stack, DiskSpec("raw0", "device", device="/dev/disk/by-id/none"), 4 * MIB, tmp_path)
    assert nothing_left(tmp_path)


def test_an_existing_device_is_taken_through_the_guard_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Collection[str], int]] = []
    held: list[str] = []
    (tmp_path / "device").write_bytes(bytes(16 * MIB))

    @contextlib.contextmanager
    def claimed(device: str, confirmed: Collection[str], size: int) -> Iterator[Path]:
        asked.append((device, confirmed, size))
        held.append(device)
        yield tmp_path / "device"
        held.remove(device)

    monkeypatch.setattr(guard, "claimed", claimed)
    with contextlib.ExitStack() as stack:
        made = provide.disk(stack, DiskSpec("raw0", "device", device=DEVICE), 8 * MIB, tmp_path, [DEVICE])
        assert asked == [(DEVICE, [DEVICE], 8 * MIB)] and held == [DEVICE]
        assert made == Disk("raw0", tmp_path / "device", partitioned=8 * MIB)
        # A study's disk has its size whatever the device has, and a template's placeholder looks the same.
        drives.make_placeholder(tmp_path / "empty", 16 * MIB, True, 8 * MIB)
        assert made.path.read_bytes() == (tmp_path / "empty").read_bytes()
        drives.make_placeholder(tmp_path / "whole", 16 * MIB, True)
        assert made.path.read_bytes() != (tmp_path / "whole").read_bytes()
    assert held == []


def test_virtual_time_counts_instructions_of_an_emulated_cpu() -> None:
    machine = spec.load(ROOT, "small-virtual-time")
    words = qemu.machine_words(qemu.launch_of(machine, "tcg", Path("/image")))
    assert "tcg,thread=single,tb-size=256" in words
    assert words[words.index("-icount") + 1] == "shift=1,sleep=on"
    with pytest.raises(Problem, match="virtual_time: only an emulated CPU has instructions to count, and this is kvm"):
        qemu.launch_of(machine, "kvm", Path("/image"))
    plain = qemu.machine_words(qemu.launch_of(spec.load(ROOT, "small"), "tcg", Path("/image")))
    assert "-icount" not in plain and "tcg,thread=multi,tb-size=256" in plain
