"""ZFS on Linux: a pool made anew for each run, every property and module parameter set and read back."""

from __future__ import annotations

import shlex

from zassay.errors import Problem
from zassay.filesystems import MOUNT, Filesystem
from zassay.readers import Unreadable, pairs
from zassay.study import Settings

POOL = "tank"
DATASET = f"{POOL}/data"
# In which module a parameter lives differs between versions (fletcher: zcommon in 2.1, zfs from 2.2): looked for, never assumed.
FIND_PARAMETER = """parameter() {
    for _p in /sys/module/{zfs,zcommon,spl,icp}/parameters/$1; do
        if [ -e "$_p" ]; then return; fi
    done
    _p=/dev/null
}
"""
ARCSTATS = "/proc/spl/kstat/zfs/arcstats"
LAYOUTS = {"single": ""}


class Zfs(Filesystem):
    name = "zfs"
    packages = {"debian": ("zfs-dkms", "zfsutils-linux")}

    def warm(self, settings: Settings) -> str:
        words = " ".join(f"{key}={value}" for key, value in sorted(settings.tunables.items()))
        return (
            f"modprobe zfs {words}\n{FIND_PARAMETER}"
            + "".join(
                f"parameter {key}; echo {value} >$_p 2>/dev/null || true\n" for key, value in sorted(settings.tunables.items())
            )
            + "zfs version >/dev/null\nzpool list >/dev/null\n"
        )

    def create(self, settings: Settings, devices: list[str]) -> str:
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
        return f"zpool export {POOL}\nzpool import -d /dev/disk/by-id -o cachefile=none {POOL}\ncat {ARCSTATS} >$OUT/cold\n"

    def after(self) -> str:
        return (
            f"zfs get -Hp -o property,value logicalused,used,compressratio,referenced {DATASET} >$OUT/space\n"
            f"zpool list -Hp -o name,size,allocated,free,capacity,health {POOL} >$OUT/pool\n"
            f"zpool status -s {POOL} >$OUT/pool.status\n"
            f"zpool get -Hp -o property,value all {POOL} >$OUT/pool.properties\n"
        )

    def expected(self, settings: Settings) -> dict[str, str]:
        pool = {f"pool.{key}": value for key, value in settings.pool.get("properties", {}).items()}
        dataset = {f"property.{key}": value for key, value in settings.properties.items()}
        return pool | dataset | {f"tunable.{key}": value for key, value in settings.tunables.items()}

    def space(self, text: str) -> tuple[int, int]:
        found = pairs(text)
        if "logicalused" not in found or "used" not in found:
            raise Unreadable("space: logicalused or used is missing")
        return int(found["logicalused"]), int(found["used"])


def _options(flag: str, values: dict[str, str]) -> str:
    return " ".join(f"{flag} {shlex.quote(f'{key}={value}')}" for key, value in sorted(values.items()))


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
