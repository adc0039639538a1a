"""Bytes and packets of every network interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from zassay.collectors import Collector, Point, rates
from zassay.readers import Sample, interfaces

if TYPE_CHECKING:
    from zassay.record import RunFiles


class Nic(Collector):
    name = "nic"
    specs = ("file:/proc/net/dev",)
    commands = {"freebsd": "netstat -ibn", "illumos": "kstat -p link:0"}

    def series(self, run: RunFiles, seen: list[Sample]) -> Iterator[Point]:
        yield from rates(seen, self.specs[0], moved, "B/s")


def moved(text: str) -> Mapping[str, float]:
    """Without the loopback, over which nothing leaves the guest."""
    found = [ways for name, ways in interfaces(text).items() if name != "lo"]
    return {"net_receive_rate": sum(received for received, _ in found), "net_send_rate": sum(sent for _, sent in found)}
