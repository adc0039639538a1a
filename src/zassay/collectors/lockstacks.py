"""Which locks were waited for, by the stack of who waited: bpftrace, which adds up in the kernel and keeps no record of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from zassay.collectors import Collector, beside, ended
from zassay.readers import Unreadable

FILE = "lockstacks"
READY_S = 60
PROGRAM = (
    "tracepoint:lock:contention_begin { @s[tid] = nsecs; @f[tid] = args->flags } "
    "tracepoint:lock:contention_end /@s[tid]/ { @wait[kstack(6), @f[tid]] = stats(nsecs - @s[tid]); "
    "delete(@s[tid]); delete(@f[tid]) } "
    "END { clear(@s); clear(@f) }"
)
# As the tracepoint numbers them; several may be set.
FLAGS = {1: "spin", 2: "read", 4: "write", 8: "rt", 16: "percpu", 32: "mutex"}


class Lockstacks(Collector):
    """It takes seconds to start on an emulated CPU: the workload begins when it says that it is attached."""

    name = "lockstacks"
    packages = {"debian": ("bpftrace",)}

    def start(self, interval_s: float) -> str:
        # Output goes to a file of its own, so that what it says while it compiles cannot be taken for a result.
        command = f"bpftrace -f json -o $OUT/{FILE} -e '{PROGRAM}' >/dev/null 2>$OUT/{FILE}.err"
        ready = f"grep -q attached_probes $OUT/{FILE} 2>/dev/null"
        return f"{beside(self.name, command)}for _n in $(seq {READY_S * 10}); do if {ready}; then break; fi; sleep 0.1; done\n"

    def stop(self) -> str:
        return ended(self.name, "INT")


@dataclass(frozen=True)
class Stack:
    """Waits of one kind from one place: how many, seconds in all, the kernel functions from the innermost on."""

    kind: str
    count: int
    total_s: float
    functions: tuple[str, ...]


def stacks(text: str) -> list[Stack]:
    """What bpftrace printed as it ended, longest waits first; none when nobody waited."""
    found: list[Stack] = []
    ended_well = False
    for line in text.split("\n"):
        said = _line(line) if line.strip() else {}
        ended_well |= said.get("type") == "stats" or said.get("type") == "attached_probes"
        if said.get("type") == "stats":
            found += [_stack(key, value) for key, value in said["data"].get("@wait", {}).items()]
    if not ended_well:
        raise Unreadable("bpftrace: it said nothing of what it attached")
    return sorted(found, key=lambda each: -each.total_s)


def _line(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        raise Unreadable(f"bpftrace: {line[:80]!r}") from None
    if not isinstance(said, dict) or "type" not in said:
        raise Unreadable(f"bpftrace: {line[:80]!r}")
    return said


def _stack(key: str, value: dict[str, int]) -> Stack:
    trace, _, flags = key.rpartition(",")
    try:
        number, count, total = int(flags), int(value["count"]), int(value["total"])
    except (KeyError, TypeError, ValueError):
        raise Unreadable(f"bpftrace: {key[-80:]!r}") from None
    kind = "+".join(name for bit, name in FLAGS.items() if number & bit) or "other"
    functions = tuple(line.strip().partition("+")[0] for line in trace.split("\n") if line.strip())
    return Stack(kind, count, total / 1e9, functions)
