"""Counters of every block device."""

from zassay.collectors import Collector


class Disk(Collector):
    name = "disk"
    specs = ("file:/proc/diskstats",)
