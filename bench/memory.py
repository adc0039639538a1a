"""The peak memory of a command and all it starts, without what its guests call their own memory."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

PAUSE_S = 0.5
GUEST_RAM = re.compile(r"/(?:ram|memfd:.*)$")


def peak_of(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the command to its end; the largest sum of resident bytes seen, guests' memory aside. Raises on failure."""
    with subprocess.Popen(list(command), env=dict(environment), stdin=subprocess.DEVNULL) as process:
        peak, root = 0, psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, sum(own_bytes(each) for each in family(root)))
            time.sleep(PAUSE_S)
    if process.returncode != 0:
        raise SystemExit(f"bench: exit code {process.returncode}: {' '.join(command)}")
    return peak


def family(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def own_bytes(process: psutil.Process) -> int:
    """Proportional set size, so that shared pages count once; a guest's memory file is left out."""
    try:
        if process.name().startswith("qemu-system"):
            return pss_without_guest(Path(f"/proc/{process.pid}/smaps").read_text())
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except (OSError, psutil.Error):
        return 0
    match = re.search(r"^Pss:\s+(\d+) kB", rollup, re.M)
    return int(match.group(1)) * 1024 if match else 0


def pss_without_guest(smaps: str) -> int:
    total, guest = 0, False
    for line in smaps.splitlines():
        if re.match(r"^[0-9a-f]+-[0-9a-f]+ ", line):
            guest = bool(GUEST_RAM.search(line))
        elif line.startswith("Pss:") and not guest:
            total += int(line.split()[1]) * 1024
    return total
