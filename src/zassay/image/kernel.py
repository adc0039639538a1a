"""The uncompressed kernel out of a distribution's vmlinuz: a direct boot of it saves seconds under emulation."""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from zassay import files
from zassay.errors import Problem

XZ = b"\xfd7zXZ\x00"
GZIP = b"\x1f\x8b\x08"
ELF = b"\x7fELF"
XEN_ELFNOTE_PHYS32_ENTRY = 18


def _xz(data: bytes) -> bytes:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data)


def _gzip(data: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(data)


DECOMPRESSORS: dict[bytes, Callable[[bytes], bytes]] = {XZ: _xz, GZIP: _gzip}


def extract(vmlinuz: Path, out: Path) -> None:
    """Write the ELF kernel inside ``vmlinuz`` to ``out``; raises Problem when there is none that QEMU can start."""
    data = vmlinuz.read_bytes()
    for magic, decompress in DECOMPRESSORS.items():
        elf = _try(data, magic, decompress)
        if elf is not None:
            if not has_pvh_entry(elf):
                raise Problem(f"{vmlinuz}: its kernel has no PVH entry", "CONFIG_PVH=y is needed for a direct boot")
            with files.atomic(out, "wb") as handle:
                handle.write(elf)
            return
    raise Problem(f"{vmlinuz}: no compressed kernel found in it", "known compressions: xz, gzip")


def _try(data: bytes, magic: bytes, decompress: Callable[[bytes], bytes]) -> bytes | None:
    """The magic number may occur by chance: take the first place where an ELF file comes out."""
    start = data.find(magic)
    while start >= 0:
        try:
            inside = decompress(data[start:])
        except (lzma.LZMAError, zlib.error):
            inside = b""
        if inside.startswith(ELF):
            return inside
        start = data.find(magic, start + 1)
    return None


def has_pvh_entry(elf: bytes) -> bool:
    """Whether a note of owner Xen and type PHYS32_ENTRY is there: header of 4-byte name length, size, type, name."""
    return any(struct.pack("<III", 4, size, XEN_ELFNOTE_PHYS32_ENTRY) + b"Xen\x00" in elf for size in (4, 8))
