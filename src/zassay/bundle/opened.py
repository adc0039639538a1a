"""A stranger's bundle, opened: verified first, then the wanted files copied, within bounds, into a fresh folder.

A bundle is data. Nothing of it is executed, no link is followed, and what is copied is hashed again on its way.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay.bundle import tables, verifier
from zassay.bundle.verifier import Bag, FolderBag, ZipBag
from zassay.errors import Problem
from zassay.files import CHUNK

MAX_COPIED = 2 << 30  # bytes of all files that are copied out of one bundle
MAX_TEXT = 64 << 20  # bytes of one file that is parsed as a whole
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@dataclass(frozen=True)
class Opened:
    """A verified bundle: ``data`` is the folder of the copied files, ``digests`` the sha256 of every file below data/."""

    path: Path
    label: str
    content_id: str
    info: dict[str, str]
    digests: dict[str, str]
    data: Path

    def has(self, name: str) -> bool:
        return (self.data / name).is_file()

    def json(self, name: str) -> Any:
        """The value of a copied JSON file; raises Problem for what is not plain, small JSON."""
        return read_json(self.data / name)


def verified(path: Path) -> Bag:
    """The bag behind a path, every byte of it checked; raises Problem naming the first thing that is wrong."""
    if not path.exists():
        raise Problem(f"{path}: no such file or folder")
    bag: Bag = (FolderBag if path.is_dir() else ZipBag)(path)
    problems = verifier.verify(bag)
    if problems:
        raise Problem(f"{path}: not sound: {problems[0]}", f"see all: zassay verify {path}")
    return bag


def content_id(bag: Bag) -> str:
    return f"sha256:{bag.files['manifest-sha256.txt'].sha256}"


def open_bundle(path: Path, into: Path, wanted: Callable[[str], bool]) -> Opened:
    """Verify a bundle and copy the files ``wanted`` (names below data/) to ``into``, which must not exist yet."""
    bag = verified(path)
    names = {name.removeprefix("data/"): name for name in sorted(bag.files) if name.startswith("data/")}
    chosen = {short: name for short, name in names.items() if wanted(short)}
    size = sum(bag.files[name].size for name in chosen.values())
    if size > MAX_COPIED:
        raise Problem(f"{path}: {size} bytes to copy, at most {MAX_COPIED} are", "unpack it by hand and look at it first")
    try:
        into.mkdir(parents=True)
        for short, name in chosen.items():
            _copy(bag, name, into / short)
    except OSError as error:
        raise Problem(f"{error.filename or into}: {error.strerror}", "name a folder that does not exist yet") from error
    label = bag.top if isinstance(bag, ZipBag) else path.resolve().name
    digests = {short: bag.files[name].sha256 for short, name in names.items()}
    return Opened(path, label, content_id(bag), _info(bag), digests, into)


def _copy(bag: Bag, name: str, to: Path) -> None:
    """Copy one file; its digest is taken of what was written, so that a bundle changed meanwhile is noticed."""
    to.parent.mkdir(parents=True, exist_ok=True)
    digest, (source, left) = hashlib.sha256(), bag.open(name)
    with source, os.fdopen(os.open(to, NEW_FILE, 0o644), "wb") as sink:
        while left and (chunk := source.read(min(left, CHUNK))):
            digest.update(chunk)
            sink.write(chunk)
            left -= len(chunk)
    if digest.hexdigest() != bag.files[name].sha256:
        raise Problem(f"{bag.path}: {name}: changed while it was read")


def _info(bag: Bag) -> dict[str, str]:
    pairs = (line.rstrip("\n").partition(": ") for line in bag.lines("bag-info.txt"))
    return {key: value for key, _, value in pairs}


def read_json(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_TEXT:
            raise Problem(f"{path}: more than {MAX_TEXT} bytes of JSON are not read")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path}: not JSON that can be read: {str(error) or 'nested too deeply'}") from error


def check_tables(folder: Path) -> None:
    """Every CSV below a folder is a table with cells of bounded size; only then another program may read it."""
    for path in sorted(folder.rglob("*.csv")):
        for _ in tables.rows_of(path):
            pass
