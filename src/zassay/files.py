"""Files that are never half-written: write aside, fsync, rename; and digests of what is there."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from zassay.errors import Problem

CHUNK = 1 << 20


@contextmanager
def atomic(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears at ``path`` whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with _open(descriptor, mode) as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, path)
        _sync_directory(path.parent)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def _open(descriptor: int, mode: str) -> IO[Any]:
    if "b" in mode:
        return os.fdopen(descriptor, mode)
    return os.fdopen(descriptor, mode, encoding="utf-8", newline="\n")


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    with atomic(path) as handle:
        handle.write(text)


def write_json(path: Path, value: object) -> None:
    write_text(path, canonical_json(value, indent=1) + "\n")


def read_json(path: Path) -> Any:
    """The value of a JSON file; raises Problem naming the file when it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"{path}: not JSON: {error}", "it is generated; remove it and run: snakemake --cores 4") from error


def canonical_json(value: object, indent: int | None = None) -> str:
    """JSON with sorted keys, so that equal values have equal bytes (and digests)."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(value, sort_keys=True, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)


def sha256_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_json(value: object) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
