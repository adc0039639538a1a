"""Ended with whoever started us: signals, and the end of Snakemake, become one orderly stop of the run in progress.

Snakemake answers SIGTERM by letting its jobs finish, which for a block of runs can be hours. So the Snakefile calls
``forward`` once: on SIGTERM it leaves a request where the measuring process, which watches Snakemake anyway, finds it.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from pathlib import Path
from types import FrameType

from zassay.machine.leftovers import state_dir

VARIABLE = "ZASSAY_SUPERVISOR"
POLL_S = 0.3


class Stopped(KeyboardInterrupt):
    """Raised in the main thread on SIGTERM or SIGINT, so that every block on the way out is left properly."""


def _stop(number: int, frame: FrameType | None) -> None:
    # A second signal must not interrupt the cleaning up that the first one started.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise Stopped


def install() -> None:
    """SIGINT and SIGTERM raise Stopped once; the supervisor's end or request counts as SIGTERM."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    supervisor = int(os.environ.get(VARIABLE) or 0)
    if supervisor:
        threading.Thread(target=_watch, args=(supervisor,), daemon=True).start()


def request_path(supervisor: int) -> Path:
    return state_dir() / f"stop-{supervisor}"


def _watch(supervisor: int) -> None:
    while _alive(supervisor) and not request_path(supervisor).exists():
        time.sleep(POLL_S)
    os.kill(os.getpid(), signal.SIGTERM)


def _alive(pid: int) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        return not select.select([descriptor], [], [], 0)[0]
    finally:
        os.close(descriptor)


def forward() -> None:
    """In the supervising process (Snakemake's main thread): name it to its jobs, and pass SIGTERM on to them."""
    os.environ[VARIABLE] = str(os.getpid())
    _forget_old_requests()
    if threading.current_thread() is threading.main_thread():
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        # The wake-up descriptor tells of signals whichever handler is installed later.
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=_forward, args=(reader,), daemon=True).start()


def _forget_old_requests() -> None:
    """Requests of supervisors that have ended, and any left under our own number by one that had it before."""
    for path in state_dir().glob("stop-*"):
        pid = int(path.name.removeprefix("stop-"))
        if pid == os.getpid() or not _alive(pid):
            path.unlink(missing_ok=True)


def _forward(reader: int) -> None:
    while number := os.read(reader, 1):
        if number[0] == signal.SIGTERM:
            request_path(os.getpid()).touch()
