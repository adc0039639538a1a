"""bonnie: what bonnie++ writes by itself, chunks of 8192 bytes that are nearly all alike; no data are like that.

bonnie++ 2.00 counts one byte of its zeroed buffer up by one before each chunk that it writes, the next byte each time, and
when it rewrites, the same byte of the chunk once more. The ratios of the promise are of such records, measured on them.
"""

from __future__ import annotations

from zassay.payloads import CHUNK, Payload

BUFFER = 8192


class Bonnie(Payload):
    """The file as it is after bonnie++ has rewritten it; the seed changes nothing, as bonnie++ has none for it."""

    name = "bonnie"
    made_by_tool = True
    # On 4096-byte sectors no record can show more than 32:1; on 512-byte sectors LZ4 comes to 128:1, and gzip to 256:1 at best.
    promise = {"off": (0.97, 1.02), "lzjb": (10.0, 64.0), "lz4": (20.0, 260.0)} | dict.fromkeys(
        ("gzip-2", "gzip", "gzip-9", "zstd"), (20.0, 1100.0)
    )

    def chunk(self, seed: int, index: int) -> bytes:
        first = index * (CHUNK // BUFFER)
        return b"".join(map(buffer, range(first, first + CHUNK // BUFFER)))


def buffer(number: int) -> bytes:
    """The ``number``-th chunk (from 0) of the file."""
    rounds, at = divmod(number, BUFFER)
    whole = bytearray(bytes([(rounds + 1) % 256]) * (at + 1) + bytes([rounds % 256]) * (BUFFER - at - 1))
    whole[at] = (rounds + 2) % 256
    return bytes(whole)
