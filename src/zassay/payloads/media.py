"""media: bytes without structure, as of films and photographs: no compressor finds anything to save."""

from __future__ import annotations

import hashlib

from zassay.payloads import CHUNK, Payload

_ALL = ("off", "lzjb", "lz4", "gzip-2", "gzip", "gzip-9", "zstd")


class Media(Payload):
    """SHAKE-128 in counter mode, one label per 1 MiB: incompressible, and no two records are the same."""

    name = "media"
    promise = dict.fromkeys(_ALL, (0.97, 1.02))

    def chunk(self, seed: int, index: int) -> bytes:
        return hashlib.shake_128(f"zassay media 1 seed {seed} chunk {index}".encode()).digest(CHUNK)
