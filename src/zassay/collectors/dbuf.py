"""ZFS's cache of dnode buffers, above the ARC."""

from zassay.collectors import Collector


class Dbuf(Collector):
    name = "dbuf"
    specs = ("file:/proc/spl/kstat/zfs/dbufstats",)
    commands = {"freebsd": "sysctl kstat.zfs.misc.dbufstats"}
