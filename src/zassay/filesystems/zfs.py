"""ZFS on Linux: a pool made anew for each run, every property and module parameter set and read back."""

from __future__ import annotations

import shlex

from zassay.disks import BESIDE
from zassay.errors import unknown
from zassay.filesystems import MOUNT, Filesystem, vdevs
from zassay.filesystems.kernel import others_of, show_sysctls, sysctls
from zassay.readers import Unreadable, kstat, pairs, whole
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
KSTAT = "/proc/spl/kstat/zfs"
ARCSTATS = f"{KSTAT}/arcstats"
FACTS = """read -r v </sys/module/zfs/version; printf 'zfs_module\\t%s\\n' "$v"
read -r v < <(zfs version); printf 'zfs_tools\\t%s\\n' "$v"
"""
# The pool's own account of what it is built of: vdevs without their numbers, disks by role.
VDEVS = rf"""_all=
while read -r _name _; do
    case $_name in
        {POOL} | -) continue ;;
        spare) break ;; # of a draid: part of its layout, and not there to be written to
        /dev/*) _name=${{_name##*/virtio-}} _name=${{_name%-part1}} ;;
        *-[0-9]*) _name=${{_name%-*}} ;;
    esac
    _all="$_all $_name"
done < <(zpool list -vHP -o name {POOL})
printf 'vdevs\t%s\n' "${{_all# }}" >>$OUT/readback"""
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
        words = " ".join(f"{key}={value}" for key, value in sorted(settings.tunables.items()) if "." not in key)
        options = "".join(f"options {module} {words}\\n" for module in MODULES)
        return f"printf '{options}' >/etc/modprobe.d/zassay.conf\nmodprobe zfs\nzfs version >/dev/null\nzpool list >/dev/null\n"

    def create(self, settings: Settings, devices: list[str]) -> str:
        _known("settings.pool.properties", settings.pool.get("properties", {}), POOL_PROPERTIES)
        _known("settings.properties", _own(settings), DATASET_PROPERTIES)
        pool = _options("-o", {**settings.pool.get("properties", {}), "cachefile": "none"})
        dataset = _options("-o", {**_own(settings), "mountpoint": MOUNT})
        return (
            f"{sysctls(settings)}zpool create -f {pool} -O mountpoint=none {POOL} {vdevs.words(settings.pool, devices)}\n"
            f"zfs create {dataset} {DATASET}\n{_beside(settings)}"
            f"{self.show_pool(settings)}{_read_back(settings)}{self.show_tunables(settings)}"
        )

    def show_pool(self, settings: Settings) -> str:
        if not settings.pool.get("properties"):
            return ""
        names = ",".join(sorted(settings.pool["properties"]))
        return f"zpool get -H -o property,value {names} {POOL} | sed 's/^/pool./' >>$OUT/readback\n"

    def show_tunables(self, settings: Settings) -> str:
        names = " ".join(sorted(name for name in settings.tunables if "." not in name))
        show = "parameter $name; _v=; read -r _v <$_p || true; printf 'tunable.%s\\t%s\\n' $name \"$_v\""
        shown = f"{FIND_PARAMETER}for name in {names}; do {show}; done >>$OUT/readback\n"
        return shown + (f"{{\n{others}}} >>$OUT/readback\n" if (others := show_sysctls(settings)) else "")

    def flush(self) -> str:
        return f"zpool sync {POOL}"

    def make_cold(self) -> str:
        # Looking at our disks alone: each device that is searched costs time, and none other may answer. Devices beside the
        # pool's disks have names of that form too (see _beside).
        search = "search=$(printf -- '-d %s ' /dev/disk/by-id/virtio-pool*-part1)\n"
        return f"{search}zpool export {POOL}\nzpool import $search -o cachefile=none {POOL}\ncat {ARCSTATS} >$OUT/cold\n"

    def after(self) -> str:
        return (
            f"{self.weigh()}"
            f"zpool list -Hp -o name,size,allocated,free,capacity,health {POOL} >$OUT/pool\n"
            f"zpool status -s {POOL} >$OUT/pool.status\n"
        )

    def weigh(self) -> str:
        return f"zfs get -Hp -o property,value logicalused,used,compressratio,referenced {DATASET} >$OUT/space\n"

    def expected(self, settings: Settings) -> dict[str, str]:
        pool = {f"pool.{key}": value for key, value in settings.pool.get("properties", {}).items()}
        dataset = {f"property.{key}": value for key, value in _own(settings).items()}
        layout = {"vdevs": vdevs.expected(settings.pool)} if _composed(settings) else {}
        return pool | dataset | layout | {f"tunable.{key}": value for key, value in settings.tunables.items()}

    def space(self, text: str) -> tuple[int, int]:
        found = pairs(text)
        if "logicalused" not in found or "used" not in found:
            raise Unreadable("space: logicalused or used is missing")
        return whole(found["logicalused"], "space"), whole(found["used"], "space")

    def cached(self, text: str) -> float:
        arc = kstat(text)
        # What a cache device holds is cached as well; it is given up at export if it is not told to be rebuilt.
        return (arc["data_size"] + arc.get("l2_size", 0)) / arc["c_max"]

    def health(self, text: str) -> tuple[str, float]:
        words = text.split()
        capacity, health = whole(words[4].rstrip("%"), "pool"), words[5]
        return "" if health == "ONLINE" else health, capacity / 100

    def pressed(self, settings: Settings) -> float:
        return vdevs.pressed(settings.pool)

    def facts(self) -> str:
        return FACTS

    def counters(self) -> tuple[str, ...]:
        return (ARCSTATS, f"{KSTAT}/dbufstats", f"{KSTAT}/zfetchstats", f"{KSTAT}/{POOL}/objset-*")

    def accounts(self) -> str:
        # From 2.2 a plain copy may clone blocks and write nothing; older tools do not know the property and say so to nobody.
        cloned = f"zpool get -Hp -o property,value bcloneused {POOL} >$OUT/cloned 2>/dev/null || : >$OUT/cloned\n"
        return f"zpool status -D {POOL} >$OUT/dedup\n{cloned}"


def _options(flag: str, values: dict[str, str]) -> str:
    return " ".join(f"{flag} {shlex.quote(f'{key}={value}')}" for key, value in sorted(values.items()))


def _known(where: str, values: dict[str, str], known: frozenset[str]) -> None:
    """Features (``feature@name``) and user properties (``module:name``) are open lists."""
    for name in values:
        if name not in known and "@" not in name and ":" not in name:
            raise unknown(where, "property", name, known)


def _own(settings: Settings) -> dict[str, str]:
    """The properties that are not said of another filesystem of the same study."""
    others = others_of(settings.properties)
    return {key: value for key, value in settings.properties.items() if key.partition(".")[0] not in others}


def _composed(settings: Settings) -> bool:
    return settings.pool["layout"] != "single" or any(settings.pool.get(kind) for kind in BESIDE)


def _beside(settings: Settings) -> str:
    """Names for the devices beside the disks, so that an import that looks at the pool's disks alone finds them too."""
    found = [role for kind in BESIDE for role in settings.pool.get(kind, [])]
    return "".join(f"ln -sf virtio-{role}-part1 /dev/disk/by-id/virtio-pool.{role}-part1\n" for role in found)


def _read_back(settings: Settings) -> str:
    """Properties in machine form, human where ``-p`` would print bytes that nobody wrote (recordsize=128K)."""
    lines = []
    if settings.properties:
        names = ",".join(sorted(_own(settings)))
        lines.append(f"zfs get -H -o property,value {names} {DATASET} | sed 's/^/property./' >>$OUT/readback")
    if _composed(settings):
        lines.append(VDEVS)
    return "".join(f"{line}\n" for line in lines)
