"""The pool's vdevs each interval, as ``zpool iostat -lqv`` tells them: latencies and queues beside operations and bytes."""

from __future__ import annotations

from zassay.collectors import Collector, beside, ended
from zassay.filesystems.zfs import POOL

FILE = "zpool.iostat"


class Iostat(Collector):
    name = "iostat"
    commands = dict.fromkeys(("freebsd", "illumos"), f"zpool iostat -lqvp -T u {POOL}")

    def start(self, interval_s: float) -> str:
        # Whole seconds: zpool takes fractions, but says its time in seconds.
        return beside(self.name, f"zpool iostat -lqvp -T u {POOL} {max(1, round(interval_s))} >$OUT/{FILE}")

    def stop(self) -> str:
        return ended(self.name)
