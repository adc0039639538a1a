"""Processes on this host: each has a deadline, a log and an end, whatever happens to us."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zassay.errors import Problem

TERM_GRACE_S = 5.0
CLEAN_UP_S = 60.0


@dataclass(frozen=True)
class Done:
    """A finished command: its exit code and what it printed (stdout and stderr together when logged)."""

    argv: tuple[str, ...]
    code: int
    out: str


def run(
    argv: Sequence[str],
    *,
    deadline_s: float,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    check: bool = True,
) -> Done:
    """Run one command to its end or its deadline; its whole process group ends with it.

    With ``log`` all output is appended there (and returned). A non-zero exit raises Problem with the command, the exit
    code, the last ten lines and the log, unless ``check`` is false.
    """
    with child(argv, env=env, cwd=cwd, stdin=stdin is not None, capture=True) as process:
        try:
            out, _ = process.communicate(stdin, timeout=deadline_s)
            late = False
        except subprocess.TimeoutExpired:
            _end(process)
            out, late = _rest(process), True
    text = out.decode(errors="replace")
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as handle:
            handle.write(f"$ {shlex.join(argv)}\n{text}")
    if late:
        raise Problem(f"no end within {deadline_s:.0f} s: {shlex.join(argv)}", failure_hint(text, log))
    if check and process.returncode != 0:
        raise Problem(f"exit code {process.returncode}: {shlex.join(argv)}", failure_hint(text, log))
    return Done(tuple(argv), process.returncode, text)


def follow(
    argv: Sequence[str],
    *,
    deadline_s: float,
    say: Callable[[str], None],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> int:
    """Run one command and pass on each line as it prints it; returns its exit code.

    When we are stopped meanwhile it is told so and gets time to clean up; at its deadline it is ended.
    """
    with child(argv, env=env, cwd=cwd, capture=True) as process:
        timer = threading.Timer(deadline_s, _end, [process])
        timer.daemon = True
        timer.start()
        try:
            for line in _lines(process):
                say(line)
            return process.wait(TERM_GRACE_S)
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(CLEAN_UP_S)
            raise
        finally:
            timer.cancel()


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    if process.stdout is not None:
        with process.stdout as stream:
            yield from (line.decode(errors="replace").rstrip("\n") for line in stream)


def _rest(process: subprocess.Popen[bytes]) -> bytes:
    """What an ended process had printed; a descendant that left its group may hold the pipe open for ever."""
    try:
        out, _ = process.communicate(timeout=TERM_GRACE_S)
    except subprocess.TimeoutExpired as error:
        out = error.output or b""
    return bytes(out)


def failure_hint(text: str, log: Path | None) -> str:
    tail = "\n".join(text.splitlines()[-10:])
    return f"{tail}\nlog: {log}" if log else tail


@contextlib.contextmanager
def child(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: bool = False,
    capture: bool = False,
    log: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process in its own group; end the group on every way out of the block.

    ``setpriv --pdeathsig`` lets the kernel end it even when we are killed with SIGKILL.
    """
    with contextlib.ExitStack() as stack:
        sink = subprocess.PIPE if capture else stack.enter_context(log.open("ab")) if log else subprocess.DEVNULL
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *argv],
            env=None if env is None else {**os.environ, **env},
            cwd=cwd,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )
        try:
            yield process
        finally:
            _end(process)
            _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    """Our ends of its pipes, when nobody has read them to their end."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process group we started: SIGTERM, a short grace, SIGKILL."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        try:
            process.wait(TERM_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
