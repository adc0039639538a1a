"""LZJB as ZFS stores it, to tune and to test payloads without a pool. Slow (about 1 MB/s); nothing measured uses it.

The format: groups of eight items behind one byte whose bit k says whether item k is a literal (0, one byte) or a match
(1, two bytes, big end first: 6 bits length - 3, 10 bits distance back). The compressor remembers, for each of 1024
hashes of three bytes, the last place only; that and the 1 KiB reach are why it saves so much less than gzip.
"""

from __future__ import annotations

MATCH_BITS = 6
MATCH_MIN = 3
MATCH_MAX = (1 << MATCH_BITS) + MATCH_MIN - 1
OFFSET_MASK = (1 << (16 - MATCH_BITS)) - 1
LEMPEL_SIZE = 1024
# ZFS gives up when, at the start of a group, the room left might not hold the map and eight matches.
_GROUP_MAX = 1 + 2 * 8


def compress(source: bytes, room: int) -> bytes | None:
    """The packed form of ``source``, or None when it may need more than ``room`` bytes."""
    table = [0] * LEMPEL_SIZE
    packed = bytearray()
    place, bit, group = 0, 8, 0
    last = len(source) - MATCH_MAX
    while place < len(source):
        if bit == 8:
            if len(packed) >= room - _GROUP_MAX:
                return None
            bit, group = 0, len(packed)
            packed.append(0)
        distance = _distance(source, place, table) if place <= last else 0
        if distance:
            length = _match(source, place, distance)
            packed[group] |= 1 << bit
            packed += ((length - MATCH_MIN) << (16 - MATCH_BITS) | distance).to_bytes(2, "big")
            place += length
        else:
            packed.append(source[place])
            place += 1
        bit += 1
    return bytes(packed)


def _distance(source: bytes, place: int, table: list[int]) -> int:
    """How far back the table knows the same three bytes (0: it does not); remembers this place."""
    key = (source[place] << 16) + (source[place + 1] << 8) + source[place + 2]
    key += key >> 9
    key += key >> 5
    slot = key & (LEMPEL_SIZE - 1)
    distance = (place - table[slot]) & OFFSET_MASK
    table[slot] = place
    start = place - distance
    if distance and start >= 0 and source[start : start + MATCH_MIN] == source[place : place + MATCH_MIN]:
        return distance
    return 0


def _match(source: bytes, place: int, distance: int) -> int:
    """The length of the match, from three known bytes up to MATCH_MAX (it may overlap its own copy)."""
    length = MATCH_MIN
    while length < MATCH_MAX and source[place + length] == source[place + length - distance]:
        length += 1
    return length


def expand(packed: bytes, size: int) -> bytes:
    """The ``size`` bytes that were packed; raises ValueError on a match that points before the start."""
    out = bytearray()
    place, bit, group = 0, 8, 0
    while len(out) < size:
        if bit == 8:
            bit, group = 0, packed[place]
            place += 1
        if group >> bit & 1:
            word = int.from_bytes(packed[place : place + 2], "big")
            _copy(out, word & OFFSET_MASK, (word >> (16 - MATCH_BITS)) + MATCH_MIN)
            place += 2
        else:
            out.append(packed[place])
            place += 1
        bit += 1
    return bytes(out[:size])


def _copy(out: bytearray, distance: int, length: int) -> None:
    start = len(out) - distance
    if start < 0 or distance == 0:
        raise ValueError(f"lzjb: a match at {len(out)} points {distance} back")
    for place in range(start, start + length):
        out.append(out[place])
