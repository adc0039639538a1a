"""The payload ior: the words that ior writes, and the ratio that study S4 printed for them."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import struct

import pytest

from zassay import payloads
from zassay.payloads import CHUNK, ior, ratios


def records(seed: int) -> list[bytes]:
    """Of eight tasks."""
    whole = b"".join(payloads.get("ior").chunk(seed, index) for index in (0, 1))
    return [whole[start : start + ratios.RECORD] for start in range(0, len(whole), ratios.RECORD)]


def test_words_are_rank_and_time_then_the_offset() -> None:
    words = struct.unpack(f"<{ior.TRANSFER // 8}Q", ior.buffer(5, ior.STAMP))
    assert set(words[::2]) == {5 << 32 | ior.STAMP}
    assert list(words[1::2]) == list(range(8, ior.TRANSFER, 16))


def test_the_bytes_are_golden() -> None:
    digest = hashlib.sha256(b"".join(payloads.get("ior").pieces(4 * CHUNK, 1))).hexdigest()
    assert digest == "601e27dcab5115a0c5c2cff97b559dce0e070ff0fc1780f4241fb782f411af52"


def test_tasks_follow_each_other_by_rank_and_the_seed_is_in_the_time() -> None:
    payload = payloads.get("ior")
    assert payload.chunk(2, 1) == b"".join(ior.buffer(rank, ior.STAMP + 2) for rank in (4, 5, 6, 7))
    assert len({record for seed in range(3) for record in records(seed)}) == 3 * 2 * CHUNK // ratios.RECORD


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_promises_hold(seed: int) -> None:
    promise = payloads.get("ior").promise
    for setting, packed in ratios.packed_sizes(records(seed)).items():
        low, high = promise[setting]
        assert all(low <= ratios.ratio(packed, sector) <= high for sector in ratios.SECTORS), setting


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_lz4_packs_it_as_the_source_says(seed: int) -> None:
    found = ctypes.util.find_library("lz4")
    if found is None:
        pytest.skip("liblz4 is not on this host")
    packed = [lz4(found, record) for record in records(seed)]
    assert ratios.ratio(packed, 512) == pytest.approx(3.94, abs=0.01)
    assert ratios.ratio(packed, 4096) == pytest.approx(3.56, abs=0.01)


def lz4(library: str, record: bytes) -> int:
    """The packed size, with the four bytes of length that ZFS puts before it."""
    room = ctypes.create_string_buffer(2 * len(record))
    return int(ctypes.CDLL(library).LZ4_compress_default(record, room, len(record), len(room))) + 4
