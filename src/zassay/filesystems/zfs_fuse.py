"""ZFS in user space (zfs-fuse 0.7, pool version 23): a daemon with an ARC of its own, behind the kernel's page cache.

It cannot be installed beside zfsutils-linux, whose commands have the same names: it needs an image of its own.
"""

from __future__ import annotations

from zassay.errors import Problem
from zassay.filesystems.kernel import COUNT_FILES, MEMINFO
from zassay.filesystems.zfs import DATASET, POOL, Zfs
from zassay.readers import Unreadable, pairs, whole
from zassay.study import Settings

# What it does not know of what a study may say of ZFS: it came later, or elsewhere.
UNKNOWN = frozenset(
    """acltype direct dnodesize encryption keyformat keylocation longname overlay prefetch redundant_metadata relatime
    special_small_blocks sync volmode""".split()
)
COMPRESSION = ("on", "off", "lzjb", "zle", "gzip", *(f"gzip-{level}" for level in range(1, 10)))
ARC_MAX = "zfs_arc_max"
PIDFILE = "/run/zassay/zfs-fuse.pid"
LEAST_MIB = 16
START = f"""zfs_fuse() {{
    modprobe fuse
    mkdir -p /run/lock /var/run/zfs
    mkdir -p /var/lock/zfs
    rm -f {PIDFILE} # where one is left it does not start, and says nothing
    zfs-fuse --no-kstat-mount --pidfile {PIDFILE} $(cat /run/zassay/zfs-fuse.options)
    for _n in $(seq 200); do
        if zpool list >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    echo 'zfs-fuse does not answer' >&2
    return 1
}}
resident() {{
    while read -r _k _v _; do
        if [ $_k = VmRSS: ]; then printf '%s\\t%s\\n' $1 $((_v * 1024)); fi
    done </proc/$(cat {PIDFILE})/status
}}
"""
END = f"""_pid=$(cat {PIDFILE})
kill $_pid
while [ -e /proc/$_pid ]; do sleep 0.05; done
"""
# The options of the daemon as the kernel has them: it tells nothing of what is in force.
SHOW_ARC = rf"""mapfile -d '' -t _words </proc/$(cat {PIDFILE})/cmdline
for _n in "${{!_words[@]}}"; do
    case ${{_words[$_n]}} in --max-arc-size) printf 'tunable.{ARC_MAX}\t%s\n' $((_words[_n + 1] << 20)) ;; esac
done >>$OUT/readback
"""


class ZfsFuse(Zfs):
    name = "zfs-fuse"
    packages = {"debian": ("zfs-fuse", "fuse")}
    not_run = "its commands ran in one emulated guest; no image of the project holds it yet"

    def warm(self, settings: Settings) -> str:
        # Its own defaults stand in a file of the package: none of them is to count. Attributes are kept as long as a
        # kernel's filesystem keeps them, the vdev's own read-ahead is off as in every later ZFS.
        options = f"--max-arc-size {_arc_mib(settings)} --vdev-cache-size 0 --fuse-attr-timeout 3600 --fuse-entry-timeout 3600"
        return f": >/etc/zfs/zfsrc\necho {options} >/run/zassay/zfs-fuse.options\n{START}zfs_fuse\n"

    def create(self, settings: Settings, devices: list[str]) -> str:
        if settings.pool["layout"] != "single" or len(devices) != 1:
            raise Problem("settings.pool: zfs-fuse takes one disk", "legal: layout single and one disk")
        for name, value in settings.properties.items():
            if name in UNKNOWN:
                raise Problem(f"settings.properties: zfs-fuse does not know {name}", "it is of pool version 23")
            if name == "compression" and value not in COMPRESSION:
                raise Problem(f"settings.properties: zfs-fuse cannot compress with {value}", f"legal: {', '.join(COMPRESSION)}")
        return super().create(settings, devices)

    def show_pool(self, settings: Settings) -> str:
        # No -H and no -o in this zpool: a table with a head.
        show = f"zpool get all {POOL} | while read -r _ _k _v _; do printf 'pool.%s\\t%s\\n' $_k $_v; done"
        return f"{show} | grep -v ^pool.PROPERTY >>$OUT/readback\n"

    def show_tunables(self, settings: Settings) -> str:
        return SHOW_ARC

    def flush(self) -> str:
        # It has no command for this; a snapshot waits until all that came before it is on the disk.
        return f"zfs snapshot {DATASET}@flushed\nzfs destroy {DATASET}@flushed"

    def make_cold(self) -> str:
        # Its import looks through a folder, and takes no device by name.
        links = "mkdir -p /run/zassay/disks\nln -sf /dev/disk/by-id/virtio-pool*-part1 /run/zassay/disks/\n"
        stop = f"zpool export {POOL}\n{END}sync\necho 3 >/proc/sys/vm/drop_caches\n"
        start = f"zfs_fuse\nresident daemon.new >$OUT/cold\nzpool import -d /run/zassay/disks -o cachefile=none {POOL}\n"
        return f"{START}{links}{stop}{start}{{\nresident daemon.imported\n{COUNT_FILES}{MEMINFO}}} >>$OUT/cold\n"

    def after(self) -> str:
        return (
            f"{{ {COUNT_FILES.rstrip()}\nzfs get -Hp -o property,value used {DATASET}; }} >$OUT/space\n"
            f"zpool list -H -o name,size,allocated,free,capacity,health {POOL} >$OUT/pool\n"
            f"zpool status {POOL} >$OUT/pool.status\n"
        )

    def expected(self, settings: Settings) -> dict[str, str]:
        found = {key: value for key, value in super().expected(settings).items() if not key.startswith("tunable.")}
        return found | {f"tunable.{ARC_MAX}": str(_arc_mib(settings) << 20)}

    def space(self, text: str) -> tuple[int, int]:
        found = pairs(text)
        if "logical" not in found or "used" not in found:
            raise Unreadable("space: logical or used is missing")
        return whole(found["logical"], "space"), whole(found["used"], "space")

    def cached(self, text: str) -> float:
        """Its ARC went with the old daemon; what the new one grew by while it imported counts, and the kernel's page cache."""
        found = {key: whole(value, "cold") for key, value in pairs(text).items()}
        grown = max(0, found["daemon.imported"] - found["daemon.new"]) / found["meminfo.MemTotal"] / 1024
        return max(grown, found["resident"] / found["logical"] if found["logical"] else 0.0)

    def facts(self) -> str:
        version = "read -r v < <(dpkg-query -W -f '${Version}\\n' zfs-fuse)"
        return f'{version}; printf \'zfs_module\\t%s\\nzfs_tools\\tzfs-%s\\n\' "$v" "$v"\n'

    def counters(self) -> tuple[str, ...]:
        return ()

    def accounts(self) -> str:
        return ""


def _arc_mib(settings: Settings) -> int:
    if ARC_MAX not in settings.tunables:
        raise Problem(f"settings.tunables: zfs-fuse needs {ARC_MAX}", "its own default is 128 MiB, whatever the machine has")
    return max(LEAST_MIB, int(settings.tunables[ARC_MAX]) >> 20)
