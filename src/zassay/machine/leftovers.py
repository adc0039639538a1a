"""What an earlier zassay on this host left behind (it was ended with SIGKILL, or the host lost power): found and cleared.

Every guest is recorded before it starts: its scratch folder, its owner. A record whose owner has ended is a leftover.
Process ids come round again, so a process counts as the recorded one only if its start time agrees too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from zassay import files
from zassay.errors import Problem

# What may be left running: a virtual machine, and the server of an emulated disk.
PROCESSES = ("guest", "disk")


def state_dir() -> Path:
    """Per user, gone with the next boot of the host."""
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(base) / f"zassay-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def start_time(pid: int) -> str:
    """The kernel's start time of a process (clock ticks since boot), or an empty string when there is none, or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""


def _same(record: dict[str, str], role: str) -> bool:
    pid = int(record.get(f"{role}_pid") or 0)
    return pid > 0 and start_time(pid) == record.get(f"{role}_start")


class Record:
    """One guest's record on disk; removed when its block ends in whatever way short of SIGKILL."""

    def __init__(self, scratch: Path) -> None:
        own = os.getpid()
        self._path = state_dir() / f"guest-{own}-{scratch.name}.json"
        self._fields = {"owner_pid": str(own), "owner_start": start_time(own), "scratch": str(scratch)}
        files.write_json(self._path, self._fields)

    def guest(self, pid: int) -> None:
        self.process("guest", pid)

    def process(self, role: str, pid: int) -> None:
        """A process that may not outlive us; one a role."""
        self._fields |= {f"{role}_pid": str(pid), f"{role}_start": start_time(pid)}
        files.write_json(self._path, self._fields)

    def close(self) -> None:
        self._path.unlink(missing_ok=True)


@contextlib.contextmanager
def scratch(base: Path, name: str) -> Iterator[tuple[Path, Record]]:
    """A scratch folder that is recorded while it exists and removed at the end."""
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"zassay-{name}-", dir=base))
    record = Record(folder)
    try:
        yield folder, record
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        record.close()


def _record(path: Path) -> dict[str, str]:
    """A record that a power cut left empty owns nothing that can be found: it must not keep every later run from starting."""
    try:
        return dict(files.read_json(path))
    except (Problem, TypeError, ValueError):
        return {}


def _end(record: dict[str, str], role: str) -> str:
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(record[f"{role}_pid"]), signal.SIGKILL)
    return f"ended a {role} left by an earlier run (pid {record[f'{role}_pid']})"


def sweep() -> list[str]:
    """End guests and remove scratch folders whose owner has ended; returns a line for each thing done."""
    done: list[str] = []
    for path in sorted(state_dir().glob("guest-*.json")):
        record = _record(path)
        if _same(record, "owner"):
            continue
        done += [_end(record, role) for role in PROCESSES if _same(record, role)]
        folder = Path(record.get("scratch", ""))
        if folder.is_dir() and folder.name.startswith("zassay-"):
            shutil.rmtree(folder, ignore_errors=True)
            done.append(f"removed {folder}")
        path.unlink(missing_ok=True)
    return done
