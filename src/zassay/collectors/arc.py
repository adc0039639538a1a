"""The ARC's own counters."""

from zassay.collectors import Collector


class Arc(Collector):
    name = "arc"
    specs = ("file:/proc/spl/kstat/zfs/arcstats",)
