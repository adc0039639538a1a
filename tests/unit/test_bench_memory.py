"""The bench leaves a guest's own memory out of what the host side needs, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

MIB = 1 << 20
PLACE = Path(__file__).resolve().parents[2] / "bench" / "memory.py"
SPEC = importlib.util.spec_from_file_location("bench_memory", PLACE)
assert SPEC and SPEC.loader
memory = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(memory)


def mapping(start: int, size: int, name: str, pss_kib: int, inode: int = 0) -> str:
    return f"{start:x}-{start + size:x} rw-p 00000000 00:00 {inode} {name}\nRss: 1 kB\nPss: {pss_kib} kB\nSwapPss: 9 kB\n"


SMAPS = (
    mapping(0x1000, 8 * MIB, "/usr/bin/qemu-system-x86_64", 100, inode=7)
    + mapping(0x7F0000000000, 64 * MIB, "", 3000)
    + mapping(0x7F1000000000, 48 * MIB, "", 20)
    + mapping(0x7F2000000000, 32 * MIB, "/dev/shm/zassay-block-x/template-y/ram", 5000, inode=9)
)


@pytest.mark.parametrize(("told", "expected"), [(64 * MIB, 120), (0, 3120), (48 * MIB, 3100)])
def test_the_guests_file_and_its_anonymous_memory_are_left_out(told: int, expected: int) -> None:
    assert memory.pss_without_guest(SMAPS, told) == expected * 1024


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["-m", "1024M"], 1024 * MIB), (["-m", "512"], 512 * MIB), (["-m", "size=2G"], 2048 * MIB), (["-smp", "2"], 0), ([], 0)],
)
def test_the_guests_memory_is_what_qemu_was_told(words: list[str], expected: int) -> None:
    assert memory.guest_memory(["qemu-system-x86_64", *words, "-display", "none"]) == expected
