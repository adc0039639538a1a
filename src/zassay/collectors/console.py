"""The guest's kernel log as it comes, with the kernel's time: also what a later flood pushes out of its ring."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zassay.collectors import Collector, beside, ended
from zassay.readers import Unreadable

FILE = "kmsg"
_LINE = re.compile(r"(\d+),(\d+),(\d+),[^;]*;(.*)", re.ASCII | re.S)


class Console(Collector):
    name = "console"
    commands = {"freebsd": "dmesg", "illumos": "tail -f /var/adm/messages"}

    def start(self, interval_s: float) -> str:
        return beside(self.name, f"cat /dev/kmsg >$OUT/{FILE}")

    def stop(self) -> str:
        return ended(self.name)


@dataclass(frozen=True)
class Message:
    """A line of the kernel: severity (0 emergency to 7 debug), seconds since boot, text."""

    severity: int
    at: float
    text: str


def messages(text: str) -> list[Message]:
    """Lines of ``/dev/kmsg``; those that begin with a blank say more of the one before."""
    found = []
    for line in text.split("\n")[:-1]:
        match = _LINE.fullmatch(line)
        if match:
            found.append(Message(int(match.group(1)) & 7, int(match.group(3)) / 1e6, match.group(4)))
        elif not line.startswith(" "):
            raise Unreadable(f"kmsg: {line!r}")
    return found
