"""The package lock: every package of an image with its digest; a mirror's change cannot change the image."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from zassay import files
from zassay.errors import Problem

HEADER = "# zassay package lock 1"
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, order=True)
class Package:
    """One locked package: ``size`` in bytes, ``path`` below a mirror's base (``pool/...``)."""

    name: str
    version: str
    arch: str
    sha256: str
    size: int
    path: str


@dataclass(frozen=True)
class Lock:
    """All packages of an image, and when (``YYYYMMDDTHHMMSSZ``) the mirror had exactly these."""

    made: str
    packages: tuple[Package, ...]


COLUMNS = tuple(field.name for field in fields(Package))


def read(path: Path) -> Lock:
    """Read a lock; raises Problem naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}", f"make it with: zassay image relock {path.stem}") from error
    if not lines or lines[0] != HEADER:
        raise Problem(f"{path}: not a package lock", f'its first line is "{HEADER}"')
    made = next((line.split("\t")[1] for line in lines if line.startswith("# made\t")), "")
    rows = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not made or not rows or tuple(rows[0][1].split("\t")) != COLUMNS:
        raise Problem(f"{path}: not a package lock", f"a line '# made<TAB>TIME', then the columns {', '.join(COLUMNS)}")
    return Lock(made, tuple(_package(line, f"{path}: line {number}") for number, line in rows[1:]))


def _package(line: str, where: str) -> Package:
    values = line.split("\t")
    if len(values) != len(COLUMNS):
        raise Problem(f"{where}: {len(values)} columns instead of {len(COLUMNS)}", f"columns: {', '.join(COLUMNS)}")
    name, version, arch, sha256, size, path = values
    if not SHA256.fullmatch(sha256):
        raise Problem(f'{where}: sha256 is "{sha256}"', "64 hexadecimal digits")
    if not size.isdecimal():
        raise Problem(f'{where}: size is "{size}"', "a number of bytes")
    if not path.startswith("pool/") or ".." in path:
        raise Problem(f'{where}: path is "{path}"', "a path below a mirror's base: pool/...")
    return Package(name, version, arch, sha256, int(size), path)


def write(path: Path, lock: Lock) -> None:
    rows = ("\t".join(map(str, astuple(package))) for package in sorted(lock.packages))
    files.write_text(path, "\n".join([HEADER, f"# made\t{lock.made}", "\t".join(COLUMNS), *rows]) + "\n")


def difference(old: Iterable[Package], new: Iterable[Package]) -> list[str]:
    """One line per package that came, went or changed, by name."""
    before = {package.name: package for package in old}
    after = {package.name: package for package in new}
    lines = []
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was is None and now is not None:
            lines.append(f"+ {name} {now.version}")
        elif now is None and was is not None:
            lines.append(f"- {name} {was.version}")
        elif was is not None and now is not None and was.sha256 != now.sha256:
            lines.append(f"~ {name} {was.version} -> {now.version}")
    return lines
