"""The payload ior: the words that ior writes, and the ratio that study S4 printed for them."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import struct

import pytest

from zassay import payloads
from zassay.payloads import CHUNK, ior, ratios

RECORDS = range(0, CHUNK, ratios.RECORD)


def records(rank: int) -> list[bytes]:
    whole = payloads.get("ior").chunk(rank, 0)
    return [whole[start : start + ratios.RECORD] for start in RECORDS]


def test_words_are_rank_and_time_then_the_offset() -> None:
    words = struct.unpack(f"<{ior.TRANSFER // 8}Q", ior.buffer(5))
    assert set(words[::2]) == {5 << 32 | ior.STAMP}
    assert list(words[1::2]) == list(range(8, ior.TRANSFER, 16))


def test_the_bytes_are_golden() -> None:
    digest = hashlib.sha256(b"".join(payloads.get("ior").pieces(4 * CHUNK, 1))).hexdigest()
    assert digest == "f8b2bf719bf79cfde1215cc51911282fedd64903dfb8110465105307fa061889"


def test_every_transfer_of_a_task_is_the_same_and_every_task_has_its_own() -> None:
    payload = payloads.get("ior")
    assert payload.chunk(2, 0) == payload.chunk(2, 77) == ior.buffer(2) * 4
    assert len({record for rank in range(6) for record in records(rank)}) == 6 * ior.TRANSFER // ratios.RECORD


@pytest.mark.parametrize("rank", [0, 1, 5])
def test_promises_hold(rank: int) -> None:
    promise = payloads.get("ior").promise
    for setting, packed in ratios.packed_sizes(records(rank)).items():
        low, high = promise[setting]
        assert all(low <= ratios.ratio(packed, sector) <= high for sector in ratios.SECTORS), setting


@pytest.mark.parametrize("rank", [0, 1, 5])
def test_lz4_packs_it_as_the_source_says(rank: int) -> None:
    found = ctypes.util.find_library("lz4")
    if found is None:
        pytest.skip("liblz4 is not on this host")
    packed = [lz4(found, record) for record in records(rank)]
    assert ratios.ratio(packed, 512) == pytest.approx(3.94, abs=0.01)
    assert ratios.ratio(packed, 4096) == pytest.approx(3.56, abs=0.01)


def lz4(library: str, record: bytes) -> int:
    """The packed size, with the four bytes of length that ZFS puts before it."""
    room = ctypes.create_string_buffer(2 * len(record))
    return int(ctypes.CDLL(library).LZ4_compress_default(record, room, len(record), len(room))) + 4
