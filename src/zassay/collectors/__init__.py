"""Collectors: what is sampled in the guest while a workload runs. One small class per file; each names its sources.

On Linux one sampler in the guest reads files at the same moments (``specs``); a tool that samples by itself is started and
stopped beside it (``start``, ``stop``). Other systems print the same with a command (``commands``, by family of the image);
what reads it is by name, so that counters which one system lacks are missing and never another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

SAMPLER = Path(__file__).with_name("sampler.pl")
PIDS = "/run/zassay/collector"
END_S = 20


class Collector:
    """``specs`` are the sampler's sources (see sampler.pl) on the Linux family.

    ``start`` and ``stop`` are shell text and may use ``$OUT``; what ``start`` leaves running, ``stop`` ends.
    """

    name = ""
    specs: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = {}
    # Not run by the authors: no guest of these families was measured.
    commands: Mapping[str, str] = {}

    def start(self, interval_s: float) -> str:
        return ""

    def stop(self) -> str:
        return ""


def beside(name: str, command: str) -> str:
    """Start a tool beside the workload and keep its id."""
    return f"setsid {command} </dev/null &\necho $! >{PIDS}.{name}\n"


def ended(name: str, signal: str = "TERM") -> str:
    """Ask it to end, wait until it has written what it has, and end it by force if it does not.

    A shell's background processes ignore INT unless they ask for it, as perf does."""
    return (
        f"_pid=$(cat {PIDS}.{name})\nkill -{signal} $_pid 2>/dev/null || true\n"
        f"for _n in $(seq {END_S * 10}); do if [ ! -e /proc/$_pid ]; then break; fi; sleep 0.1; done\n"
        "kill -KILL $_pid 2>/dev/null || true\n"
    )


def start_all(found: Iterable[Collector], interval_s: float) -> str:
    return "".join(each.start(interval_s) for each in found)


def stop_all(found: Iterable[Collector]) -> str:
    return "".join(each.stop() for each in found)
