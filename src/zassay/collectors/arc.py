"""The ARC's own counters, by name: from 2.2 a hit on data that are on their way is an iohit, and illumos lacks some."""

from zassay.collectors import Collector


class Arc(Collector):
    name = "arc"
    specs = ("file:/proc/spl/kstat/zfs/arcstats",)
    commands = {"freebsd": "sysctl kstat.zfs.misc.arcstats", "illumos": "kstat -p zfs:0:arcstats"}
