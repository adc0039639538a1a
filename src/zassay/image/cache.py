"""Built images outside the checkout: an entry per key, whole or not there.

``<cache>/images/<name>/`` holds ``<key>/`` (an entry: disk.qcow2, vmlinux, initrd, box, manifest.json, SHA256SUMS) and
the layers it was made of, ``base-<key>/`` and ``disk-<key>/``; ``<cache>/debs/`` holds packages by digest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from zassay import files
from zassay.errors import Problem
from zassay.image import catalog, keys
from zassay.machine import hostlock

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
LOCK_WAIT_S = 3600.0


def home() -> Path:
    return Path(os.environ.get("ZASSAY_CACHE") or Path.home() / ".cache" / "zassay").absolute()


def debs() -> Path:
    return home() / "debs"


def folder(name: str) -> Path:
    return home() / "images" / name


def path_of_entry(spec: catalog.ImageSpec) -> Path:
    """Where the entry of the image as its files are now is or would be."""
    return folder(spec.name) / keys.of(spec).entry


def entry(name: str, root: Path = catalog.PROJECT) -> Path:
    """The folder of a built image; raises Problem with the command that builds it."""
    path = path_of_entry(catalog.load(name, root))
    if not (path / MANIFEST).is_file():
        raise Problem(f'image "{name}" is not built as its files are now', f"build it with: zassay image build {name}")
    return path


def manifest(path: Path) -> dict[str, Any]:
    """The manifest of an entry (see ``zassay.image.manifest`` for its shape)."""
    return dict(files.read_json(path / MANIFEST))


def locked(name: str, say: Callable[[str], None]) -> AbstractContextManager[None]:
    """Only one process builds an image; another one waits and then finds it built."""
    folder(name).mkdir(parents=True, exist_ok=True)
    return hostlock.exclusive(folder(name) / ".lock", f"image {name} is being built already", say, LOCK_WAIT_S)


@contextmanager
def aside(target: Path) -> Iterator[Path]:
    """A folder that becomes ``target`` when the block ends well; the caller holds the image's lock."""
    making = target.with_name(f".making-{target.name}")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        yield making
        shutil.rmtree(target, ignore_errors=True)
        os.replace(making, target)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def prune(name: str) -> None:
    """Remove what killed builds left half made; the caller holds the image's lock."""
    for path in folder(name).glob(".making-*"):
        shutil.rmtree(path, ignore_errors=True)


def remove(spec: catalog.ImageSpec, keep: keys.Keys | None) -> list[Path]:
    """Remove entries and layers of an image, but those of the keys to keep; returns what was removed."""
    kept = {f"base-{keep.base}", f"disk-{keep.disk}", keep.entry} if keep else set()
    with locked(spec.name, print):
        gone = sorted(path for path in folder(spec.name).iterdir() if path.is_dir() and path.name not in kept)
        for path in gone:
            shutil.rmtree(path)
    return gone


def write_sums(path: Path, known: dict[str, str]) -> None:
    """Write the digests of all files of an entry in the format of sha256sum; ``known`` ones are not computed again."""
    names = sorted(each.name for each in path.iterdir() if each.is_file() and each.name != SUMS)
    lines = [f"{known.get(name) or files.sha256_file(path / name)}  {name}\n" for name in names]
    files.write_text(path / SUMS, "".join(lines))


def verify(path: Path) -> list[str]:
    """Read an entry again; one line for each file that is not what SHA256SUMS and the manifest say."""
    if not (path / SUMS).is_file() or not (path / MANIFEST).is_file():
        return [f"{path}: no {SUMS} or {MANIFEST}"]
    rows = [line.split("  ", 1) for line in (path / SUMS).read_text(encoding="utf-8").splitlines()]
    said = {name: digest for digest, name in rows}
    said |= {name: facts["sha256"] for name, facts in manifest(path)["files"].items() if name not in said}
    found = {name: files.sha256_file(path / name) if (path / name).is_file() else "(no file)" for name in said}
    faults = [f"{name}: is {found[name]}, expected {said[name]}" for name in sorted(said) if found[name] != said[name]]
    for name, facts in manifest(path)["files"].items():
        if facts["sha256"] != said[name]:
            faults.append(f"{name}: {MANIFEST} says {facts['sha256']}, {SUMS} says {said[name]}")
    return faults


def link(path: Path, target: Path) -> None:
    """Make ``path`` a symbolic link to an entry, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        raise Problem(f"{path}: is a folder, not a link to a built image", f"move it away: mv {path} {path}.old")
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    beside.symlink_to(target)
    os.replace(beside, path)
