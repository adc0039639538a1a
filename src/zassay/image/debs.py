"""Locked packages on this disk: from the cache, the host's mirrors or a dated archive, each checked by its digest."""

from __future__ import annotations

import hashlib
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from zassay import files
from zassay.errors import Problem
from zassay.image.lock import Lock, Package
from zassay.image.mirrors import ARCHIVE_VARIABLE, OFFLINE_VARIABLE, archive_bases, of_host

PARALLEL = 6
SOCKET_DEADLINE_S = 30.0
SLOWEST_BYTES_PER_S = 50_000.0
ATTEMPTS = 2
ABANDONED_S = 3600.0


@dataclass
class Missing:
    """A package that could not be had, and what each place answered."""

    package: Package
    answers: list[str] = field(default_factory=list)


def _silent(_: str) -> None:
    """Nobody wants to know."""


def fetch(lock: Lock, store: Path, bases: Sequence[str] | None = None, say: Callable[[str], None] = _silent) -> None:
    """Bring every package of the lock to ``store/<sha256>.deb``; raises one Problem for all that cannot be had.

    ``bases`` are URLs that pool paths hang below; by default the host's mirrors, then the user's dated archive.
    """
    store.mkdir(parents=True, exist_ok=True)
    _sweep(store)
    wanted = [package for package in lock.packages if not _kept(package, store)]
    if not wanted:
        return
    say(f"{len(wanted)} of {len(lock.packages)} packages to fetch, {sum(p.size for p in wanted) / 1e6:.0f} MB")
    if os.environ.get(OFFLINE_VARIABLE) == "1":
        raise _offline(wanted)
    places = list(bases) if bases is not None else default_bases(lock)
    pool = ThreadPoolExecutor(PARALLEL)
    try:
        results = list(pool.map(lambda package: _fetch_one(package, store, places), wanted))
    finally:
        pool.shutdown(cancel_futures=True)
    lost = [result for result in results if result is not None]
    if lost:
        raise _vanished(lost, len(lock.packages))


def default_bases(lock: Lock) -> list[str]:
    return [mirror.url for mirror in of_host()] + archive_bases(lock.made)


def check(lock: Lock, store: Path) -> None:
    """Read every kept package again; raises Problem with both digests for one that is not what the lock says."""
    for package in lock.packages:
        path = store / f"{package.sha256}.deb"
        got = files.sha256_file(path) if path.is_file() else "(no file)"
        if got != package.sha256:
            path.unlink(missing_ok=True)
            raise wrong_digest(package, str(path), got)


def wrong_digest(package: Package, where: str, got: str) -> Problem:
    return Problem(
        f"{package.name}={package.version} ({package.arch}): wrong checksum from {where}",
        f"lock     {package.sha256}\nreceived {got}\na damaged or forged copy is not used; "
        "try again, or make a new lock (a new image identity) with: zassay image relock",
    )


def _sweep(store: Path) -> None:
    """Remove what killed downloads left; a file that is still being written is young."""
    for path in store.glob(".*.deb.*"):
        if time.time() - path.stat().st_mtime > ABANDONED_S:
            path.unlink(missing_ok=True)


def _kept(package: Package, store: Path) -> bool:
    path = store / f"{package.sha256}.deb"
    return path.is_file() and path.stat().st_size == package.size


def _fetch_one(package: Package, store: Path, bases: Sequence[str]) -> Missing | None:
    """None when the package is there; raises Problem on a wrong digest, since no other place may hide that."""
    missing = Missing(package)
    for base in bases:
        url = f"{base}/{quote(package.path, safe='/+~')}"
        for attempt in range(ATTEMPTS):
            try:
                _download(url, package, store)
                return None
            except urllib.error.HTTPError as error:
                missing.answers.append(f"{url}: HTTP Error {error.code}: {error.reason}")
                break
            except (OSError, TimeoutError) as error:
                if attempt == ATTEMPTS - 1:
                    missing.answers.append(f"{url}: {getattr(error, 'reason', error)}")
    return missing


def _download(url: str, package: Package, store: Path) -> None:
    digest = hashlib.sha256()
    until = time.monotonic() + SOCKET_DEADLINE_S + package.size / SLOWEST_BYTES_PER_S
    with urllib.request.urlopen(url, timeout=SOCKET_DEADLINE_S) as reply:
        with files.atomic(store / f"{package.sha256}.deb", "wb") as target:
            while chunk := reply.read(files.CHUNK):
                digest.update(chunk)
                target.write(chunk)
                if time.monotonic() > until:
                    raise TimeoutError(f"slower than {SLOWEST_BYTES_PER_S / 1000:.0f} kB/s")
            if digest.hexdigest() != package.sha256:
                raise wrong_digest(package, url, digest.hexdigest())


def _offline(wanted: Sequence[Package]) -> Problem:
    names = "\n".join(f"{package.name}={package.version} ({package.arch})" for package in wanted[:10])
    more = f"\n... and {len(wanted) - 10} more" if len(wanted) > 10 else ""
    return Problem(
        f"{len(wanted)} locked packages are not in the cache and {OFFLINE_VARIABLE}=1 forbids fetching them",
        f"{names}{more}\nfix: unset {OFFLINE_VARIABLE}, or copy the packages to the cache as <sha256>.deb",
    )


def _vanished(lost: Sequence[Missing], total: int) -> Problem:
    lines = []
    for each in lost:
        lines.append(f"{each.package.name}={each.package.version} ({each.package.arch}): not to be had")
        lines += [f"  {answer}" for answer in each.answers or ["no mirror known: the host's apt has no Debian source"]]
    gone = all("HTTP Error 404" in answer for each in lost for answer in each.answers)
    why = "are no longer on the mirror (it has moved on)" if gone else "could not be fetched"
    fix = (
        f"fix: name a dated Debian archive in {ARCHIVE_VARIABLE} (its base URL; the lock's time is added), "
        "or re-lock (a NEW image identity) with: zassay image relock"
    )
    return Problem(f"{len(lost)} of {total} locked packages {why}", "\n".join([*lines, fix]))
