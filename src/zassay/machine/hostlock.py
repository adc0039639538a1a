"""One measurement at a time per host: a lock that every zassay on this machine respects, whoever started it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from zassay.errors import Problem

LOCK = "zassay-measuring.lock"
WAIT_S = 6 * 3600.0


def path() -> Path:
    return Path(os.environ.get("ZASSAY_LOCK") or Path(tempfile.gettempdir()) / LOCK)


def alone(say: Callable[[str], None], wait_s: float = WAIT_S) -> contextlib.AbstractContextManager[None]:
    """Hold the host for measuring; waits, saying so once, at most ``wait_s`` seconds."""
    return exclusive(path(), "another measurement has this host", say, wait_s)


@contextlib.contextmanager
def exclusive(where: Path, held: str, say: Callable[[str], None], wait_s: float) -> Iterator[None]:
    """Hold the lock file ``where``; ``held`` says, for people, what it means that somebody else does."""
    descriptor = _open(where)
    try:
        _take(descriptor, where, held, say, time.monotonic() + wait_s)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"pid {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(where: Path) -> int:
    """Other users of this host must be able to take the same lock: mode 666 whatever the umask, and no truncation."""
    try:
        # Without O_CREAT first: in a sticky folder the kernel may refuse it for a file that another user made.
        return os.open(where, os.O_RDWR)
    except FileNotFoundError:
        descriptor = os.open(where, os.O_RDWR | os.O_CREAT, 0o666)
        with contextlib.suppress(PermissionError):
            os.fchmod(descriptor, 0o666)
        return descriptor
    except PermissionError as error:
        raise Problem(f"{where}: the lock cannot be opened: {error.strerror}", f"let its owner run: chmod 666 {where}") from error


def _take(descriptor: int, where: Path, held: str, say: Callable[[str], None], deadline: float) -> None:
    told = False
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 100, 0).decode(errors="replace").strip() or "unknown"
        if not told:
            say(f"{held} ({holder}); waiting for it")
            told = True
        if time.monotonic() > deadline:
            raise Problem(f"{held} ({holder}), and did not end in time", f"its lock is {where}")
        time.sleep(0.2)
