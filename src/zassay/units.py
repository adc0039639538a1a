"""Bytes and seconds inside, human units only at display; sizes may be written relative to the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping

from zassay.errors import Problem

SUFFIXES = {
    "": 1,
    "B": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
    "K": 1 << 10,
    "M": 1 << 20,
    "G": 1 << 30,
}
_SIZE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$")
_RELATIVE = re.compile(r"^\s*(\d+(?:\.\d+)?)(?:\s*/\s*(\d+))?\s*\*\s*([a-z_]+)\s*$")


def parse_bytes(value: int | str) -> int:
    """``64 MiB`` -> 67108864; raises Problem with the legal suffixes."""
    if isinstance(value, int):
        return value
    match = _SIZE.match(value)
    if not match or match.group(2) not in SUFFIXES:
        raise Problem(f'not a size: "{value}"', f"legal: a number and one of {', '.join(s for s in SUFFIXES if s)}")
    return int(float(match.group(1)) * SUFFIXES[match.group(2)])


def with_unit(value: int | str, where: str = "") -> int:
    """A size as a file has to say it: a bare number could be bytes, sectors or MiB, so it is a Problem."""
    at = f"{where}: " if where else ""
    if not re.search("[A-Za-z]", str(value)):
        raise Problem(f'{at}"{value}" is a size without a unit', "write the unit, as in 64 MiB")
    try:
        return parse_bytes(value)
    except Problem as problem:
        raise Problem(f"{at}{problem.message}", problem.hint) from None


def resolve_size(value: int | str, scope: Mapping[str, int]) -> int:
    """A size that may be relative: ``2 * arc`` or ``1/8 * memory``, with ``scope`` giving bytes by name.

    The result is rounded down to a whole MiB, so that it is a whole number of records and sectors.
    """
    match = _RELATIVE.match(value) if isinstance(value, str) else None
    if not match:
        return with_unit(value)
    factor, divisor, name = match.groups()
    if name not in scope:
        raise Problem(f'"{value}" is relative to "{name}"', f"known: {', '.join(sorted(scope))}")
    return int(float(factor) / int(divisor or 1) * scope[name]) >> 20 << 20


def show_bytes(value: float) -> str:
    for suffix in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.4g} {suffix}"
        value /= 1024
    return f"{value:.4g} TiB"


def show_seconds(value: float) -> str:
    """Seconds for people: ``8.3 s``, ``4 min 05 s``, ``2 h 10 min``."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, seconds = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
