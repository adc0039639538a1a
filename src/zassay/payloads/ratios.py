"""What ZFS would store of 128 KiB records, and the compressratio (logicalused/used) that follows, without a pool."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from zassay.errors import Problem
from zassay.payloads import lzjb

RECORD = 128 << 10
# ZFS keeps a packed record only if it saves an eighth; packers get this much room and no more.
ROOM = RECORD - (RECORD >> 3)
SECTORS = (4096, 512)


def _lzjb(record: bytes) -> int:
    packed = lzjb.compress(record, ROOM)
    return RECORD if packed is None else len(packed)


def _gzip(level: int) -> Callable[[bytes], int]:
    return lambda record: len(zlib.compress(record, level))


PACKERS: Mapping[str, Callable[[bytes], int]] = {
    "lzjb": _lzjb,
    "gzip-2": _gzip(2),
    "gzip": _gzip(6),
    "gzip-9": _gzip(9),
}


def stored(packed: int, sector: int) -> int:
    """Bytes on disk of a record that packs into ``packed`` bytes: whole sectors, or the record as it is."""
    if packed > ROOM:
        return RECORD
    return min(RECORD, -(-packed // sector) * sector)


def packed_sizes(records: Iterable[bytes]) -> dict[str, list[int]]:
    """Per setting, the packed size of every record (bytes)."""
    sizes: dict[str, list[int]] = {setting: [] for setting in PACKERS}
    for record in records:
        for setting, pack in PACKERS.items():
            sizes[setting].append(pack(record))
    return sizes


def ratio(sizes: list[int], sector: int) -> float:
    """logicalused/used of the records with these packed sizes on a disk with such sectors."""
    return len(sizes) * RECORD / sum(stored(size, sector) for size in sizes)


def sample(path: Path, most: int) -> tuple[list[int], int]:
    """Offsets of at most ``most`` whole records spread over a file, and how many it has.

    Raises Problem when the file is missing or shorter than one record, or ``most`` is not positive.
    """
    if most < 1:
        raise Problem(f"records {most}: at least one is needed", "legal: whole numbers from 1")
    if not path.is_file():
        raise Problem(f"{path}: no such file", "make one: zassay payload make NAME --size BYTES --seed N --out FILE")
    whole = path.stat().st_size // RECORD
    if whole == 0:
        raise Problem(f"{path}: {path.stat().st_size} bytes are less than one record", f"a record has {RECORD} bytes")
    return [record * RECORD for record in spread(whole, min(whole, most))], whole


def spread(whole: int, taken: int) -> list[int]:
    """``taken`` different numbers below ``whole``, one from each equal stretch, at a place that wanders.

    Always the first of a stretch would see one step only of a payload whose records differ by turns.
    """
    edges = [index * whole // taken for index in range(taken + 1)]
    return [start + 5 * index % (end - start) for index, (start, end) in enumerate(pairwise(edges))]


def read(path: Path, offsets: Iterable[int]) -> Iterable[bytes]:
    """The whole records that begin at these offsets, one at a time."""
    with path.open("rb") as handle:
        for offset in offsets:
            handle.seek(offset)
            yield handle.read(RECORD)
