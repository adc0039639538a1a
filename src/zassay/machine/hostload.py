"""How busy this host is beside our own guest, and what it does to a guest behind its back: for the gates of times.

Every value is a count since some start, or a level, as the kernel gives it; a host that does not tell one has none.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

PROC = Path("/proc")
SYS = Path("/sys")
TICKS = os.sysconf("SC_CLK_TCK")


def read(pid: int, scratch: Path) -> dict[str, float]:
    """CPU seconds of the host (all, busy, stolen) and of the guest's process ``pid``; memory, room where the guest's files
    are, and throttling at this moment."""
    room = {"free_bytes": float(shutil.disk_usage(scratch).free)}
    return {**cpu_seconds(), "guest_s": process_seconds(pid), **memory(), **room, **throttled(pid)}


def cpu_seconds(text: str | None = None) -> dict[str, float]:
    """From the first line of /proc/stat; a guest's time is in user's already."""
    line = text if text is not None else (PROC / "stat").read_text(encoding="ascii").split("\n", 1)[0]
    ticks = [int(word) for word in line.split()[1:9]]
    busy = sum(ticks) - ticks[3] - ticks[4]
    return {"all_s": sum(ticks) / TICKS, "busy_s": busy / TICKS, "stolen_s": ticks[7] / TICKS}


def process_seconds(pid: int) -> float:
    """User and system time of a process with its threads; 0 when it is gone."""
    try:
        words = (PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / TICKS


def process_io(pid: int) -> dict[str, int]:
    """``read_bytes`` and ``write_bytes`` of a process: what it had the host's block layer do, caches left out."""
    try:
        text = (PROC / str(pid) / "io").read_text(encoding="ascii")
    except OSError:
        return {}
    return {key: int(value) for key, value in re.findall(r"^(read_bytes|write_bytes): (\d+)$", text, re.M)}


def memory() -> dict[str, float]:
    text = (PROC / "meminfo").read_text(encoding="ascii")
    return {
        f"{name.lower()}_bytes": 1024.0 * int(kib)
        for name, kib in re.findall(r"^(MemAvailable|SwapFree):\s+(\d+) kB", text, re.M)
    }


def throttled(pid: int) -> dict[str, float]:
    """How often the cores were slowed for their heat, and our control group held back by its quota."""
    heat = [int(path.read_text()) for path in SYS.glob("devices/system/cpu/cpu*/thermal_throttle/core_throttle_count")]
    found = {"heat_count": float(sum(heat))} if heat else {}
    return found | _quota(pid)


def _quota(pid: int) -> dict[str, float]:
    try:
        groups = (PROC / str(pid) / "cgroup").read_text(encoding="ascii")
        own = re.search(r"^0::(.*)$", groups, re.M)
        text = (SYS / "fs/cgroup" / (own.group(1).lstrip("/") if own else "") / "cpu.stat").read_text(encoding="ascii")
    except OSError:
        return {}
    match = re.search(r"^throttled_usec (\d+)$", text, re.M)
    return {"quota_s": int(match.group(1)) / 1e6} if match else {}
