"""ZFS's file-level prefetcher: streams found and missed."""

from zassay.collectors import Collector


class Prefetch(Collector):
    name = "prefetch"
    specs = ("file:/proc/spl/kstat/zfs/zfetchstats",)
    commands = {"freebsd": "sysctl kstat.zfs.misc.zfetchstats", "illumos": "kstat -p zfs:0:zfetchstats"}
