"""Which locks were waited for, how often and how long, by the function that waited: ``perf lock``, from tracepoints alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zassay.collectors import Collector, beside, ended
from zassay.readers import Unreadable

FILE = "locks"
ROWS = 40
_UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ROW = re.compile(r" *(\d+) +([\d.]+) (\w+) +([\d.]+) (\w+) +([\d.]+) (\w+) +([\w:-]+) +(\S.*)", re.ASCII)


class Locks(Collector):
    """Every wait is recorded with its caller: too much to do beside a run whose time counts, so a study asks for it by name."""

    name = "locks"
    packages = {"debian": ("linux-perf",)}
    commands = {"freebsd": "lockstat -A -D 20 sleep 1", "illumos": "lockstat -CcwP -D 20 sleep 1"}

    def start(self, interval_s: float) -> str:
        return beside(self.name, "perf lock record -a -o /run/zassay/perf.lock >/dev/null 2>$OUT/locks.err")

    def stop(self) -> str:
        report = (
            f"perf lock contention -i /run/zassay/perf.lock -E {ROWS} >$OUT/{FILE} 2>&1 || true\nrm -f /run/zassay/perf.lock\n"
        )
        return f"{ended(self.name, 'INT')}{report}"


@dataclass(frozen=True)
class Waits:
    """How often and how long (s, in all, at most, on average) a function waited for a lock of a kind."""

    count: int
    total_s: float
    most_s: float
    mean_s: float
    kind: str
    caller: str


def waits(text: str) -> list[Waits]:
    """The rows of ``perf lock contention``, longest first; none when nobody waited."""
    lines = text.split("\n")
    heads = [index for index, line in enumerate(lines) if line.split()[:3] == ["contended", "total", "wait"]]
    if len(heads) != 1 or lines[-1]:
        raise Unreadable("perf lock contention: no header, or cut off")
    return [_row(line) for line in lines[heads[0] + 1 :] if line]


def _row(line: str) -> Waits:
    match = _ROW.fullmatch(line)
    if not match or not {match.group(3), match.group(5), match.group(7)} <= set(_UNIT):
        raise Unreadable(f"perf lock contention: {line!r}")
    total, most, mean = (float(match.group(at)) * _UNIT[match.group(at + 1)] for at in (2, 4, 6))
    return Waits(int(match.group(1)), total, most, mean, match.group(8), match.group(9).strip())
