"""The peak memory of a command and all it starts, without what its guests call their own memory."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import psutil

PAUSE_S = 0.5
END_DEADLINE_S = 30
GUEST_FILE = re.compile(r"/(?:ram|memfd:.*)$")
MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+)\s*(.*)$")
UNITS = {"": 20, "M": 20, "G": 30}


def peak_of(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the command to its end; the largest sum of resident bytes seen, guests' memory aside. Raises on failure."""
    with ended(subprocess.Popen(list(command), env=dict(environment), stdin=subprocess.DEVNULL)) as process:
        peak, root = 0, psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, sum(own_bytes(each) for each in family(root)))
            time.sleep(PAUSE_S)
    if process.returncode != 0:
        raise SystemExit(f"bench: exit code {process.returncode}: {' '.join(command)}")
    return peak


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """When we are interrupted, what we started is told, all of it, and waited for."""
    try:
        yield process
    finally:
        for each in family(psutil.Process(process.pid)) if process.poll() is None else []:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.terminate()
        process.wait(END_DEADLINE_S)


def family(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def own_bytes(process: psutil.Process) -> int:
    """Proportional set size, so that shared pages count once; a guest's memory file is left out."""
    try:
        if process.name().startswith("qemu-system"):
            return pss_without_guest(Path(f"/proc/{process.pid}/smaps").read_text(), guest_memory(process.cmdline()))
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except (OSError, psutil.Error):
        return 0
    match = re.search(r"^Pss:\s+(\d+) kB", rollup, re.M)
    return int(match.group(1)) * 1024 if match else 0


def guest_memory(words: Sequence[str]) -> int:
    """What QEMU was told with -m, in bytes; 0 when it was told nothing."""
    size = dict(pairwise(words)).get("-m", "")
    match = re.fullmatch(r"(?:size=)?(\d+)([MG]?)", size)
    return int(match.group(1)) << UNITS[match.group(2)] if match else 0


def pss_without_guest(smaps: str, memory: int) -> int:
    """Bytes; a guest's memory is a file of ours, or (under Packer) one anonymous mapping of exactly its size."""
    total, guest = 0, False
    for line in smaps.splitlines():
        if match := MAPPING.match(line):
            anonymous = match[3] == "0" and int(match[2], 16) - int(match[1], 16) == memory
            guest = bool(GUEST_FILE.search(match[4])) or anonymous
        elif line.startswith("Pss:") and not guest:
            total += int(line.split()[1]) * 1024
    return total
