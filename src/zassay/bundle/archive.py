"""The container: a BagIt bag in a canonical zip, streamed, written aside and renamed.

Stored, not deflated: DEFLATE's bytes depend on the zlib at hand, and a stored zip can be checked byte by byte
(``verifier`` makes every header anew). The same inputs give the same bytes on any host.
"""

from __future__ import annotations

import io
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from zassay.bundle import verifier
from zassay.bundle.verifier import Digests, Entry
from zassay.errors import Problem
from zassay.files import CHUNK, atomic, sha256_file

# A key followed by its text; words about keys, as in this line, are no secret.
SECRET = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\r?\n[A-Za-z0-9+/]{16}")
EARLIEST = 315532800  # 1980-01-01, where zip's calendar begins


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the bag: text made by us, or a file to copy."""

    content: bytes | Path

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size


@dataclass(frozen=True)
class Written:
    """A finished bundle: digest of the zip, identity of its content, number of files, bytes of content."""

    path: Path
    zip_sha256: str
    content_id: str
    files: int
    size: int


class _Tee(io.RawIOBase):
    """Reads from one file and writes what it read to another, so that what was hashed is what was written."""

    def __init__(self, source: BinaryIO, sink: IO[bytes]) -> None:
        self.source, self.sink = source, sink

    def read(self, size: int = -1) -> bytes:
        chunk = self.source.read(size)
        self.sink.write(chunk)
        return chunk


class _Zip:
    """The growing archive: its entries and digests so far."""

    def __init__(self, handle: IO[bytes], top: str, epoch: int) -> None:
        self.handle, self.top, self.stamp = handle, top, dos_stamp(epoch)
        self.entries: list[Entry] = []
        self.digests: dict[str, Digests] = {}

    def add(self, name: str, member: Member, size: int) -> None:
        if size > verifier.FULL32 - 1:
            raise Problem(f"{name}: {size} bytes: one file of a bundle holds at most 4 GiB")
        if isinstance(member.content, bytes):
            self._small(name, member.content)
        else:
            self._file(name, member.content, size)

    def _file(self, name: str, path: Path, size: int) -> None:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as source:
            status = os.fstat(source.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size != size:
                raise Problem(f"{path}: changed while the bundle was written", "let the pipeline end, then: zassay bundle")
            if size <= CHUNK:
                self._small(name, source.read(size + 1))
            else:
                self._large(name, path, source, size)

    def _small(self, name: str, content: bytes) -> None:
        if SECRET.search(content):
            raise Problem(f"{name}: holds a private key", "a bundle is public: remove the key and give it up as known")
        digests, crc, program = verifier.digest(io.BytesIO(content), len(content))
        entry = Entry(f"{self.top}/{name}", len(content), crc, self.stamp, self.handle.tell(), program)
        self.handle.write(verifier.local_header(entry) + content)
        self._done(name, entry, digests)

    def _large(self, name: str, path: Path, source: BinaryIO, size: int) -> None:
        entry = Entry(f"{self.top}/{name}", size, 0, self.stamp, self.handle.tell(), False)
        self.handle.write(verifier.local_header(entry))
        digests, crc, program = verifier.digest(_Tee(source, self.handle), size)  # type: ignore[arg-type]
        if digests.size != size or source.read(1):
            raise Problem(f"{path}: changed while the bundle was written", "let the pipeline end, then: zassay bundle")
        entry = entry._replace(crc=crc, program=program)
        end = self.handle.tell()
        self.handle.seek(entry.offset)
        self.handle.write(verifier.local_header(entry))
        self.handle.seek(end)
        self._done(name, entry, digests)

    def _done(self, name: str, entry: Entry, digests: Digests) -> None:
        self.entries.append(entry)
        self.digests[name] = digests

    def finish(self) -> None:
        start = self.handle.tell()
        for entry in self.entries:
            self.handle.write(verifier.central_header(entry))
        self.handle.write(verifier.end_records(len(self.entries), self.handle.tell() - start, start))


def dos_stamp(epoch: int) -> int:
    """A zip's idea of a time: date << 16 | time, in UTC, two seconds fine."""
    year, month, day, hour, minute, second, *_ = time.gmtime(max(epoch, EARLIEST))
    return ((year - 1980) << 9 | month << 5 | day) << 16 | hour << 11 | minute << 5 | second // 2


def write_bundle(path: Path, members: Mapping[str, Member], info: Mapping[str, str], epoch: int) -> Written:
    """Write a bundle with one top folder of its name; ``members`` are named below data/, ``info`` is bag-info.txt."""
    payload = {f"data/{name}": member for name, member in members.items()}
    check_names(payload, path.stem)
    sizes = {name: member.size for name, member in payload.items()}
    tags = dict(info) | {"Bagging-Date": time.strftime("%Y-%m-%d", time.gmtime(epoch))}
    tags["Payload-Oxum"] = f"{sum(sizes.values())}.{len(sizes)}"
    try:
        for left in path.parent.glob(f".{path.name}.*"):  # what a killed one wrote aside
            left.unlink()
        with atomic(path, "wb") as handle:
            archive = _Zip(handle, path.stem, epoch)
            _write_bag(archive, payload, sizes, tags)
    except OSError as error:
        raise Problem(f"{error.filename or path}: {error.strerror}") from error
    identity = f"sha256:{archive.digests['manifest-sha256.txt'].sha256}"
    return Written(path, sha256_file(path), identity, len(archive.entries), sum(sizes.values()))


def _write_bag(archive: _Zip, payload: Mapping[str, Member], sizes: Mapping[str, int], tags: Mapping[str, str]) -> None:
    """All files in the order of their names, which is also the order of RFC 8493's dependencies."""
    _text(archive, "bag-info.txt", "".join(f"{key}: {value}\n" for key, value in sorted(tags.items())).encode())
    _text(archive, "bagit.txt", verifier.BAGIT)
    for name in sorted(payload):
        archive.add(name, payload[name], sizes[name])
    for prefix, names in (("manifest", sorted(payload)), ("tagmanifest", sorted(verifier.TAGS))):
        for kind in verifier.KINDS:
            _text(archive, f"{prefix}-{kind}.txt", _manifest(archive.digests, names, kind))
    archive.finish()


def _text(archive: _Zip, name: str, content: bytes) -> None:
    archive.add(name, Member(content), len(content))


def _manifest(digests: Mapping[str, Digests], names: Iterable[str], kind: str) -> bytes:
    return "".join(f"{getattr(digests[name], kind)}  {name}\n" for name in names).encode("ascii")


def check_names(names: Iterable[str], top: str) -> None:
    """Names must survive any archive tool on any system: plain ASCII, no two that differ in case alone."""
    folded: dict[str, str] = {}
    for name in names:
        try:
            verifier.check_name(f"{top}/{name}")
        except verifier.BagError as broken:
            raise Problem(str(broken), "legal: printable ASCII without backslash, colon and per cent") from None
        other = folded.setdefault(name.lower(), name)
        if other != name:
            raise Problem(f"{other} and {name} differ in case alone", "a bundle must unpack anywhere: rename one")
