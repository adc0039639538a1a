#!/usr/bin/env python3
"""Verify a zassay bundle, a zip or the folder it was unpacked to: python3 verify.py [ZIP_OR_FOLDER]

Prints one line for each file changed, missing or added, then the content id; exit code 0 (sound), 1 (not), 2 (usage).
Standard library only; executes and unpacks nothing. A bundle is a BagIt bag (RFC 8493) in a canonical zip (stored,
sorted, no extra field), so that each byte of the zip follows from the files. A script inside an archive can be forged
with it: compare the content id, or use `zassay verify`, `bagit.py --validate` or `sha256sum -c` as well.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

MAX_FILES = 500_000
MAX_BYTES = 64 << 30  # of content, whatever the headers say
MAX_NAME = 1024
CHUNK = 1 << 20
OPEN = sum(getattr(os, flag, 0) for flag in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
BAGIT = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
KINDS = ("sha256", "sha512")
TAGS = ("bag-info.txt", "bagit.txt", *(f"manifest-{kind}.txt" for kind in KINDS))  # what a tag manifest lists
TOP = (*TAGS, *(f"tagmanifest-{kind}.txt" for kind in KINDS))  # every file beside data/
REPACKED = "a bundle is stored plainly: if the zip was packed anew, unpack it and verify the folder"
SAFE_NAME = re.compile(r"[ -$&-9;-\[\]-~]+")  # printable ASCII without % : and backslash
LINE = re.compile(r"([0-9a-f]{64}|[0-9a-f]{128})  ([ -~]+)\n")

LOCAL, CENTRAL = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L")
END, END64, LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
FULL16, FULL32 = 0xFFFF, 0xFFFFFFFF


class BagError(Exception):
    """The container itself is not what a bundle is: nothing behind it can be judged."""


class Entry(NamedTuple):
    """One file in the zip: all that its two headers are made of."""

    name: str
    size: int
    crc: int
    stamp: int  # DOS date << 16 | DOS time, the same for all
    offset: int
    program: bool  # begins with #!, so unpacked as an executable


def local_header(entry: Entry) -> bytes:
    name, time, date = entry.name.encode("ascii"), entry.stamp & FULL16, entry.stamp >> 16
    return LOCAL.pack(b"PK\3\4", 10, 0, 0, time, date, entry.crc, entry.size, entry.size, len(name), 0) + name


def central_header(entry: Entry) -> bytes:
    name = entry.name.encode("ascii")
    extra = struct.pack("<2HQ", 1, 8, entry.offset) if entry.offset >= FULL32 else b""
    mode = (0o100755 if entry.program else 0o100644) << 16
    needs, time, date = 45 if extra else 10, entry.stamp & FULL16, entry.stamp >> 16
    fixed = CENTRAL.pack(
        *(b"PK\1\2", 3 << 8 | 45, needs, 0, 0, time, date, entry.crc, entry.size, entry.size),
        *(len(name), len(extra), 0, 0, 0, mode, min(entry.offset, FULL32)),
    )
    return fixed + name + extra


def end_records(count: int, size: int, offset: int) -> bytes:
    """The end of a zip: ``count`` entries in a central directory of ``size`` bytes at ``offset``."""
    large = b""
    if count >= FULL16 or size >= FULL32 or offset >= FULL32:
        large = END64.pack(b"PK\6\6", END64.size - 12, 3 << 8 | 45, 45, 0, 0, count, count, size, offset)
        large += LOCATOR.pack(b"PK\6\7", 0, offset + size, 1)
    short = min(count, FULL16)
    return large + END.pack(b"PK\5\6", 0, 0, short, short, min(size, FULL32), min(offset, FULL32), 0)


def check_name(name: str) -> None:
    if not SAFE_NAME.fullmatch(name) or len(name) > MAX_NAME or {"", ".", ".."} & set(name.split("/")):
        raise BagError(f"unsafe: {name[:200]!r}: not a plain path inside the bundle")


class Digests(NamedTuple):
    sha256: str
    sha512: str
    size: int


def digest(handle: BinaryIO, size: int) -> tuple[Digests, int, bool]:
    """Digests of the next ``size`` bytes (or what there is), their CRC, and whether they begin with ``#!``."""
    first, second, crc, left, head = hashlib.sha256(), hashlib.sha512(), 0, size, b""
    while left and (chunk := handle.read(min(left, CHUNK))):
        head = head or chunk[:2]
        first.update(chunk)
        second.update(chunk)
        crc = zlib.crc32(chunk, crc)
        left -= len(chunk)
    return Digests(first.hexdigest(), second.hexdigest(), size - left), crc, head == b"#!"


class Bag(ABC):
    """The files of a bag by name, read within bounds; ``files`` is filled by ``scan``."""

    def __init__(self, path: Path, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
        self.path, self.max_files, self.max_bytes = path, max_files, max_bytes
        self.files: dict[str, Digests] = {}
        self.problems: dict[str, list[str]] = {}

    def wrong(self, name: str, what: str = "") -> None:
        reasons = self.problems.setdefault(name, [])
        reasons += [what] if what and len(reasons) < 4 else []

    @abstractmethod
    def scan(self) -> None: ...  # digests every file

    @abstractmethod
    def open(self, name: str) -> tuple[BinaryIO, int]: ...  # at its first byte, and its size

    def lines(self, name: str) -> Iterator[str]:
        handle, left = self.open(name)
        with handle:
            while left and (line := handle.readline(min(left, MAX_NAME + 200))):
                left -= len(line)
                yield line.decode("ascii", "backslashreplace")

    def bound(self, count: int, size: int) -> None:
        if count > self.max_files or size > self.max_bytes:
            raise BagError(f"refused: more than {self.max_files} files or {self.max_bytes} bytes")


class FolderBag(Bag):
    def scan(self) -> None:
        total = 0
        for name in sorted(self._names()):
            handle, size = self.open(name)
            with handle:
                total += size
                self.bound(len(self.files) + 1, total)
                self.files[name] = digest(handle, size)[0]

    def _names(self) -> Iterator[str]:
        folders, count = [""], 0
        while folders:
            prefix = folders.pop()
            with os.scandir(self.path / prefix) as found:
                for item in found:
                    count += 1
                    self.bound(count, 0)
                    check_name(prefix + item.name)
                    if item.is_dir(follow_symlinks=False):
                        folders.append(f"{prefix}{item.name}/")
                    elif item.is_file(follow_symlinks=False):
                        yield prefix + item.name
                    else:
                        self.wrong(f"unsafe: {prefix}{item.name}: neither a file nor a folder (a link or a device)")

    def open(self, name: str) -> tuple[BinaryIO, int]:
        handle = os.fdopen(os.open(self.path / name, OPEN), "rb")
        return handle, os.fstat(handle.fileno()).st_size


class ZipBag(Bag):
    """A canonical zip: each header is made anew from the files and compared with what is there."""

    top, stamp = "", 0

    def scan(self) -> None:
        self.places: dict[str, int] = {}
        with self.path.open("rb") as directory, self.path.open("rb") as content:
            count, size, offset = self._end(directory)
            self.bound(count, offset)
            directory.seek(offset)
            last = ""
            for _ in range(count):
                last = self._entry(directory, content, offset, last)
            if content.tell() != offset or directory.tell() != offset + size:
                raise BagError(f"added: zip: bytes after the last file ({last})")

    def _end(self, handle: BinaryIO) -> tuple[int, int, int]:
        length = handle.seek(0, os.SEEK_END)
        handle.seek(max(0, length - END64.size - LOCATOR.size - END.size))
        tail = handle.read()
        if tail[-END.size :][:4] != b"PK\5\6":
            raise BagError("changed: zip: its end record is not the last thing in the file (cut, or bytes added)")
        *_, count, size, offset, _ = END.unpack(tail[-END.size :])
        if tail[:4] == b"PK\6\6" and (count == FULL16 or FULL32 in (size, offset)):
            *_, count, size, offset = END64.unpack(tail[: END64.size])
        expected = end_records(count, size, offset) if offset + size < length else b"?"
        if not tail.endswith(expected) or offset + size + len(expected) != length:
            raise BagError("changed: zip: its end record does not fit the file (a byte changed, or bytes added)")
        return count, size, offset

    def _entry(self, directory: BinaryIO, content: BinaryIO, limit: int, last: str) -> str:
        fixed = directory.read(CENTRAL.size)
        if len(fixed) < CENTRAL.size or fixed[:4] != b"PK\1\2":
            raise BagError(f"changed: zip: central directory damaged after {last or 'its start'}")
        (_, _, _, _, method, time, date, crc, packed, size, name_size, extra_size, *_) = CENTRAL.unpack(fixed)
        rest = directory.read(name_size + extra_size)
        full = rest[:name_size].decode("ascii", "backslashreplace")
        check_name(full)
        if method != 0 or packed != size:
            raise BagError(f"changed: zip: {full} is compressed, or its header is damaged; {REPACKED}")
        if size > limit - content.tell():
            raise BagError(f"changed: zip: header of {full} claims more bytes than there are")
        entry = Entry(full, size, crc, date << 16 | time, content.tell(), False)
        return self._content(entry, fixed + rest, content, last)

    def _content(self, entry: Entry, central: bytes, content: BinaryIO, last: str) -> str:
        local = content.read(len(local_header(entry)))
        found, crc, program = digest(content, entry.size)
        if local != local_header(entry) or central != central_header(entry._replace(program=program)):
            raise BagError(f"changed: zip: headers of {entry.name} differ from each other or from the canonical form")
        top, _, name = entry.name.partition("/")
        if not name or (top, entry.stamp) != (self.top or top, self.stamp or entry.stamp) or entry.name <= last:
            raise BagError(f"added: zip: {entry.name}: twice, out of order, not in the top folder, or of another date")
        self.top, self.stamp, self.files[name] = top, entry.stamp, found
        self.places[name] = entry.offset + len(local)
        if crc != entry.crc:
            self.wrong(f"changed: {name}", "crc32 differs from the zip's headers")
        return entry.name

    def open(self, name: str) -> tuple[BinaryIO, int]:
        handle = self.path.open("rb")
        handle.seek(self.places[name])
        return handle, self.files[name].size


def verify(bag: Bag) -> list[str]:
    """Scan a bag; one line for each thing wrong with it, sorted; empty when it is sound."""
    try:
        bag.scan()
        check_bag(bag)
    except (BagError, struct.error) as broken:
        bag.wrong(str(broken))
    except OSError as error:
        bag.wrong(f"unreadable: {error.filename or bag.path}: {error.strerror}")
    return [f"{name} ({'; '.join(what)})" if what else name for name, what in sorted(bag.problems.items())]


def check_bag(bag: Bag) -> None:
    payload = {name for name in bag.files if name.startswith("data/")}
    for name in bag.files.keys() - payload ^ set(TOP):
        bag.wrong(f"{'missing' if name in TOP else 'added'}: {name}")
    for prefix, expected in (("manifest", payload), ("tagmanifest", set(TAGS))):
        first, second = (check_manifest(bag, f"{prefix}-{kind}.txt", kind, expected) for kind in KINDS)
        for name in first & second:
            bag.wrong(f"changed: {name}")
        for name in first ^ second:  # the file fits one of the two, so the other list is at fault
            bag.wrong(f"changed: {prefix}-{KINDS[name in second]}.txt", f"its digest of {name} is not the file's")
    oxum = f"Payload-Oxum: {sum(bag.files[name].size for name in payload)}.{len(payload)}\n"
    if "bag-info.txt" in bag.files and oxum not in bag.lines("bag-info.txt"):
        bag.wrong("changed: bag-info.txt", f"the files give {oxum.strip()}")


def check_manifest(bag: Bag, manifest: str, kind: str, expected: set[str]) -> set[str]:
    """The files whose digest is another one; a manifest must also be sorted and spelt exactly as we write it."""
    differing: set[str] = set()
    unseen, last = (set(expected), "") if manifest in bag.files else (set(), "")
    for number, line in enumerate(bag.lines(manifest) if manifest in bag.files else (), 1):
        match = LINE.fullmatch(line)
        if not match or match[2] <= last:
            bag.wrong(f"changed: {manifest}", f"line {number} is damaged or out of order")
            continue
        last = match[2]
        unseen.discard(last)
        if last not in bag.files:
            bag.wrong(f"missing: {last}", f"listed in {manifest}")
        elif last not in expected:
            bag.wrong(f"changed: {manifest}", f"lists {last}")
        elif getattr(bag.files[last], kind) != match[1]:
            differing.add(last)
    for name in unseen & bag.files.keys():
        bag.wrong(f"added: {name}", f"not in {manifest}")
    return differing


def report(bag: Bag, shown: int = 100) -> int:  # verify and print; the exit code
    if problems := verify(bag):
        print(*problems[:shown], f"NOT SOUND: {bag.path}: {len(problems)} problems (at most {shown} shown)", sep="\n")
        return 1
    print(f"sound: {bag.path}: {len(bag.files)} files, {sum(item.size for item in bag.files.values())} bytes")
    print(f"content id sha256:{bag.files['manifest-sha256.txt'].sha256}")
    return 0


def main(words: list[str]) -> int:
    path = Path(words[0]) if words else Path(__file__).resolve().parent.parent
    if len(words) > 1 or not path.exists():
        print(f"{path}: no such file or folder\n\n{__doc__}")
        return 2
    return report(FolderBag(path) if path.is_dir() else ZipBag(path))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
