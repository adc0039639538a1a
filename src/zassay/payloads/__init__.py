"""Payloads: the bytes a study writes, made from a seed, the same everywhere and always.

One file here holds one class: a subclass of ``Payload`` with a ``name`` is found by looking; nobody keeps a list.
A payload uses integers and SHAKE-128 only, so that no version of Python or of a library can change its bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from zassay import errors, files, registry

CHUNK = 1 << 20

Band = tuple[float, float]


class Payload(ABC):
    """An endless stream of bytes per seed; a file of n bytes holds its first n, whatever the n.

    ``name`` is what a study calls it. ``promise`` gives, per ZFS compression setting, the band (lowest, highest) in
    which logicalused/used lies on 128 KiB records, for sectors of 512 as of 4096 bytes. ``made_by_tool``: a tool writes the
    same bytes by itself, and need not be handed them. ``unique``: no two records are the same, so nothing is deduplicated.
    """

    name: ClassVar[str]
    promise: ClassVar[Mapping[str, Band]]
    made_by_tool: ClassVar[bool] = False
    unique: ClassVar[bool] = True

    @abstractmethod
    def chunk(self, seed: int, index: int) -> bytes:
        """The ``index``-th 1 MiB of the stream (index from 0); a function of its arguments alone."""

    def pieces(self, size_bytes: int, seed: int) -> Iterator[bytes]:
        """The first ``size_bytes`` of the stream, at most 1 MiB at a time."""
        for start in range(0, size_bytes, CHUNK):
            yield self.chunk(seed, start // CHUNK)[: size_bytes - start]

    def write(self, path: Path, size_bytes: int, seed: int) -> str:
        """Make the file, whole or not at all, and return its sha256 (hex). Memory does not grow with the size.

        Raises Problem for a negative size or seed and for a disk without room.
        """
        _check(self.name, path, size_bytes, seed)
        digest = hashlib.sha256()
        with files.atomic(path, "wb") as handle:
            for piece in self.pieces(size_bytes, seed):
                digest.update(piece)
                handle.write(piece)
        return digest.hexdigest()


def _check(name: str, path: Path, size_bytes: int, seed: int) -> None:
    for what, value in (("size", size_bytes), ("seed", seed)):
        if value < 0:
            raise errors.Problem(f"payload {name}: {what} {value} is negative", f"legal {what}s: whole numbers from 0")
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < size_bytes:
        raise errors.Problem(f"{path}: payload {name} needs {size_bytes} bytes, the disk has {free} left", "make room")


def names() -> list[str]:
    return sorted(registry.every(sys.modules[__name__], Payload))  # type: ignore[type-abstract]


def get(name: str, where: str = "settings.payload.name") -> Payload:
    """The payload of that name; an unknown one is a Problem that begins with ``where`` and lists the known ones."""
    return registry.find(sys.modules[__name__], Payload, name, where, "payload")()  # type: ignore[type-abstract]
