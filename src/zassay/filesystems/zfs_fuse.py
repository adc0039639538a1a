"""ZFS in user space (zfs-fuse 0.7, pool version 23): a daemon with an ARC of its own, behind the kernel's page cache.

It cannot be installed beside zfsutils-linux, whose commands have the same names: it needs an image of its own.
"""

from __future__ import annotations

from zassay.errors import Problem
from zassay.filesystems.kernel import COUNT_FILES, MEMINFO
from zassay.filesystems.zfs import POOL, Zfs
from zassay.readers import pairs, whole
from zassay.study import Settings

# What it knows of what a study may say; the rest came later, or only elsewhere.
UNKNOWN = frozenset(
    "acltype devices direct dnodesize encryption overlay prefetch redundant_metadata relatime special_small_blocks sync".split()
)
COMPRESSION = ("on", "off", "lzjb", "zle", "gzip", *(f"gzip-{level}" for level in range(1, 10)))
ARC_MAX = "zfs_arc_max"
ARCSTATS = "/zfs-kstat/zfs/arcstats"
PIDFILE = "/run/zassay/zfs-fuse.pid"
LEAST_MIB = 16
START = f"""zfs_fuse() {{
    modprobe fuse
    mkdir -p /var/run/zfs /var/lock/zfs /zfs-kstat
    zfs-fuse --pidfile {PIDFILE} $(cat /run/zassay/zfs-fuse.options)
    for _n in $(seq 200); do
        if zpool list >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    echo 'zfs-fuse does not answer' >&2
    return 1
}}
"""
END = f"""_pid=$(cat {PIDFILE})
kill $_pid
while [ -e /proc/$_pid ]; do sleep 0.05; done
"""


class ZfsFuse(Zfs):
    name = "zfs-fuse"
    packages = {"debian": ("zfs-fuse",)}

    def warm(self, settings: Settings) -> str:
        # Its own defaults stand in a file of the package: none of them is to count. Attributes are kept as long as a
        # kernel's filesystem keeps them, the vdev's own read-ahead is off as in every later ZFS.
        options = f"--max-arc-size {_arc_mib(settings)} --vdev-cache-size 0 --fuse-attr-timeout 3600 --fuse-entry-timeout 3600"
        return f": >/etc/zfs/zfsrc\necho {options} >/run/zassay/zfs-fuse.options\n{START}zfs_fuse\n"

    def create(self, settings: Settings, devices: list[str]) -> str:
        for name, value in settings.properties.items():
            if name in UNKNOWN:
                raise Problem(f"settings.properties: zfs-fuse does not know {name}", "it is of pool version 23")
            if name == "compression" and value not in COMPRESSION:
                raise Problem(f"settings.properties: zfs-fuse cannot compress with {value}", f"legal: {', '.join(COMPRESSION)}")
        return super().create(settings, devices)

    def show_tunables(self, settings: Settings) -> str:
        # It has no parameters to read; what it makes of its options it tells in the counters of its ARC.
        show = f"while read -r _k _ _v; do if [ $_k = c_max ]; then printf 'tunable.{ARC_MAX}\\t%s\\n' $_v; fi; done <{ARCSTATS}"
        return f"{show} >>$OUT/readback\n"

    def make_cold(self) -> str:
        search = "search=$(printf -- '-d %s ' /dev/disk/by-id/virtio-pool*-part1)\n"
        return (
            f"{START}{search}zpool export {POOL}\n{END}sync\necho 3 >/proc/sys/vm/drop_caches\nzfs_fuse\n"
            f"zpool import $search -o cachefile=none {POOL}\n"
            f"{{\n{COUNT_FILES}{MEMINFO}while read -r _k _ _v; do case $_k in size | c_max | data_size) "
            f"printf 'arc.%s\\t%s\\n' $_k $_v ;; esac; done <{ARCSTATS}\n}} >$OUT/cold\n"
        )

    def expected(self, settings: Settings) -> dict[str, str]:
        found = {key: value for key, value in super().expected(settings).items() if not key.startswith("tunable.")}
        return found | {f"tunable.{ARC_MAX}": str(_arc_mib(settings) << 20)}

    def cached(self, text: str) -> float:
        """The larger of the shares that the daemon's ARC and the kernel's page cache still hold."""
        found = {key: whole(value, "cold") for key, value in pairs(text).items()}
        kernel = found["resident"] / found["logical"] if found["logical"] else 0.0
        return max(found["arc.data_size"] / found["arc.c_max"], kernel)

    def counters(self) -> tuple[str, ...]:
        return (ARCSTATS,)


def _arc_mib(settings: Settings) -> int:
    if ARC_MAX not in settings.tunables:
        raise Problem(f"settings.tunables: zfs-fuse needs {ARC_MAX}", "its own default is 128 MiB, whatever the machine has")
    return max(LEAST_MIB, int(settings.tunables[ARC_MAX]) >> 20)
