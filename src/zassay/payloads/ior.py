"""ior: what the benchmark ior writes unless told otherwise, so that its data are at hand where ior itself is not packaged.

ior fills one buffer of a transfer's size per task and writes it again and again: 8-byte words, by turns the task's rank (upper
half) with a time stamp (lower half), and the word's own offset in the buffer. So each transfer of a task is the same, and LZ4
packs 128 KiB records of it 3.94:1 on 512-byte sectors, the 3.9 of study S4. (With ior's -l the offset is the file's instead.)
"""

from __future__ import annotations

import struct

from zassay.payloads import CHUNK, Payload

TRANSFER = 256 << 10  # ior's default -t
STAMP = 1459296000  # seconds: 2016-03-30, when the source was presented; any value packs the same


class Ior(Payload):
    """The buffers of the tasks, one after the other by rank: a file of one task is its buffer, again and again."""

    name = "ior"
    unique = False
    # On 4096- and 512-byte sectors lz4 gives 3.56 and 3.94, lzjb 4.57 and 4.83, gzip 10.67 and 11.64; below is room for metadata.
    promise = {
        "off": (0.97, 1.02),
        "lz4": (3.3, 4.0),
        "lzjb": (4.2, 4.9),
        **dict.fromkeys(("gzip-2", "gzip", "gzip-9"), (9.5, 11.7)),
    }

    def chunk(self, seed: int, index: int) -> bytes:
        first = index * (CHUNK // TRANSFER)
        return b"".join(buffer(rank, STAMP + seed) for rank in range(first, first + CHUNK // TRANSFER))


def buffer(rank: int, stamp: int) -> bytes:
    """One transfer: a word of rank and time, a word of its offset, and so on (little-endian, as on x86)."""
    tag = rank << 32 | stamp
    return b"".join(struct.pack("<QQ", tag, offset) for offset in range(8, TRANSFER, 16))
