"""ZFS on Linux: a pool made anew for each run, every property and module parameter set and read back."""

from __future__ import annotations

import shlex

from zassay.errors import Problem, unknown
from zassay.filesystems import MOUNT, Filesystem
from zassay.readers import Unreadable, pairs, whole
from zassay.study import Settings

POOL = "tank"
DATASET = f"{POOL}/data"
# In which module a parameter lives differs between versions (fletcher: zcommon in 2.1, zfs from 2.2): looked for, never assumed.
# Each module is offered all of them, takes its own at load (some cannot be set later) and ignores the rest.
MODULES = ("spl", "zcommon", "icp", "zfs")
FIND_PARAMETER = """parameter() {
    for _p in /sys/module/{zfs,zcommon,spl,icp}/parameters/$1; do
        if [ -e "$_p" ]; then return; fi
    done
    _p=/dev/null
}
"""
ARCSTATS = "/proc/spl/kstat/zfs/arcstats"
LAYOUTS = {"single": ""}
# What can be set when a pool or a dataset is made: an unknown word is said before a guest is booted, not by each guest.
POOL_PROPERTIES = frozenset(
    "ashift autoexpand autoreplace autotrim comment compatibility delegation failmode listsnapshots multihost".split()
)
DATASET_PROPERTIES = frozenset(
    """aclinherit aclmode acltype atime canmount casesensitivity checksum compression copies dedup devices direct dnodesize
    encryption exec keyformat keylocation logbias longname mlslabel nbmand normalization overlay prefetch primarycache quota
    readonly recordsize redundant_metadata refquota refreservation relatime reservation secondarycache setuid snapdir
    special_small_blocks sync utf8only volmode vscan xattr""".split()
)


class Zfs(Filesystem):
    name = "zfs"
    packages = {"debian": ("zfs-dkms", "zfsutils-linux")}

    def warm(self, settings: Settings) -> str:
        words = " ".join(f"{key}={value}" for key, value in sorted(settings.tunables.items()))
        options = "".join(f"options {module} {words}\\n" for module in MODULES)
        return f"printf '{options}' >/etc/modprobe.d/zassay.conf\nmodprobe zfs\nzfs version >/dev/null\nzpool list >/dev/null\n"

    def create(self, settings: Settings, devices: list[str]) -> str:
        _known("settings.pool.properties", settings.pool.get("properties", {}), POOL_PROPERTIES)
        _known("settings.properties", settings.properties, DATASET_PROPERTIES)
        pool = _options("-o", {**settings.pool.get("properties", {}), "cachefile": "none"})
        dataset = _options("-o", {**settings.properties, "mountpoint": MOUNT})
        layout = _layout(settings.pool["layout"])
        return (
            f"zpool create -f {pool} -O mountpoint=none {POOL} {layout} {shlex.join(devices)}\n"
            f"zfs create {dataset} {DATASET}\n{_read_back(settings)}"
        )

    def flush(self) -> str:
        return f"zpool sync {POOL}"

    def make_cold(self) -> str:
        # Looking at our disks alone: each device that is searched costs time, and none other may answer.
        search = "search=$(printf -- '-d %s ' /dev/disk/by-id/virtio-pool*-part1)\n"
        return f"{search}zpool export {POOL}\nzpool import $search -o cachefile=none {POOL}\ncat {ARCSTATS} >$OUT/cold\n"

    def after(self) -> str:
        return (
            f"zfs get -Hp -o property,value logicalused,used,compressratio,referenced {DATASET} >$OUT/space\n"
            f"zpool list -Hp -o name,size,allocated,free,capacity,health {POOL} >$OUT/pool\n"
            f"zpool status -s {POOL} >$OUT/pool.status\n"
        )

    def expected(self, settings: Settings) -> dict[str, str]:
        pool = {f"pool.{key}": value for key, value in settings.pool.get("properties", {}).items()}
        dataset = {f"property.{key}": value for key, value in settings.properties.items()}
        return pool | dataset | {f"tunable.{key}": value for key, value in settings.tunables.items()}

    def space(self, text: str) -> tuple[int, int]:
        found = pairs(text)
        if "logicalused" not in found or "used" not in found:
            raise Unreadable("space: logicalused or used is missing")
        return whole(found["logicalused"], "space"), whole(found["used"], "space")


def _options(flag: str, values: dict[str, str]) -> str:
    return " ".join(f"{flag} {shlex.quote(f'{key}={value}')}" for key, value in sorted(values.items()))


def _known(where: str, values: dict[str, str], known: frozenset[str]) -> None:
    """Features (``feature@name``) and user properties (``module:name``) are open lists."""
    for name in values:
        if name not in known and "@" not in name and ":" not in name:
            raise unknown(where, "property", name, known)


def _layout(name: str) -> str:
    if name not in LAYOUTS:
        raise Problem(f'settings.pool.layout: "{name}" is not known', f"legal values: {', '.join(LAYOUTS)}")
    return LAYOUTS[name]


def _read_back(settings: Settings) -> str:
    """Properties in machine form, human where ``-p`` would print bytes that nobody wrote (recordsize=128K)."""
    lines = []
    if settings.pool.get("properties"):
        names = ",".join(sorted(settings.pool["properties"]))
        lines.append(f"zpool get -H -o property,value {names} {POOL} | sed 's/^/pool./' >>$OUT/readback")
    if settings.properties:
        names = ",".join(sorted(settings.properties))
        lines.append(f"zfs get -H -o property,value {names} {DATASET} | sed 's/^/property./' >>$OUT/readback")
    names = " ".join(sorted(settings.tunables))
    show = "parameter $name; _v=; read -r _v <$_p || true; printf 'tunable.%s\\t%s\\n' $name \"$_v\""
    lines.append(f"{FIND_PARAMETER}for name in {names}; do {show}; done >>$OUT/readback")
    return "\n".join(lines) + "\n"
