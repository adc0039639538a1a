"""UFS with soft updates, in guests of FreeBSD.

Not run by the authors: the project has no FreeBSD image of its own yet. The commands are those of FreeBSD 14's manual pages
(newfs(8), dumpfs(8), mount(8)) and are tested as text alone.
"""

from __future__ import annotations

import shlex

from zassay.errors import Problem
from zassay.filesystems import MOUNT, Filesystem
from zassay.filesystems.kernel import others_of
from zassay.readers import Unreadable, pairs, whole
from zassay.study import Settings

AGAIN = "/var/run/zassay.mount"
# Ours, and the flag by which newfs sets it and dumpfs -m tells it.
FLAGS = {"version": "-O", "block_size": "-b", "fragment_size": "-f", "reserved_percent": "-m", "optimization": "-o"}
SHOW = """dumpfs -m {device} | tail -1 | tr ' ' '\\n' | while read -r _w; do
    case $_w in
        -U) printf 'mkfs.soft_updates\\ton\\n' ;;
        -[Obfmo]) read -r _v; printf 'mkfs.%s\\t%s\\n' "$_w" "$_v" ;;
    esac
done | sed {names} >>$OUT/readback
mount -p | while read -r _d _m _t _o _; do
    if [ "$_m" = {mount} ]; then
        case ,$_o, in *,noatime,*) printf 'mount.atime\\toff\\n' ;; *) printf 'mount.atime\\ton\\n' ;; esac
    fi
done >>$OUT/readback
"""
AFTER = r"""{
    find MOUNT -xdev -type f -print0 | xargs -0 stat -f %z | awk '{ s += $1 } END { printf "logical\t%d\n", s }'
    df -k MOUNT | awk -v was=$(cat $OUT/empty) 'NR == 2 { printf "used\t%d\n", ($3 - was) * 1024 }'
} >$OUT/space
df -k MOUNT | awk 'NR == 2 { print "ufs", $2 * 1024, $3 * 1024, $4 * 1024, $5, "ONLINE" }' >$OUT/pool
"""


class Ufs(Filesystem):
    name = "ufs"
    packages: dict[str, tuple[str, ...]] = {"freebsd": ()}
    not_run = "no FreeBSD guest was measured"
    mkfs = {"version": "2", "block_size": "32768", "fragment_size": "4096", "reserved_percent": "8", "optimization": "time"}

    def warm(self, settings: Settings) -> str:
        return "kldload -n ufs 2>/dev/null || true\nnewfs -h >/dev/null 2>&1 || true\n"

    def create(self, settings: Settings, devices: list[str]) -> str:
        if settings.pool["layout"] != "single" or len(devices) != 1:
            raise Problem("settings.pool: ufs takes one disk", "legal: layout single and one disk")
        others_of(settings.properties)
        # GEOM knows a disk of virtio by its serial.
        device = f"/dev/diskid/DISK-{settings.pool['disks'][0]}p1"
        flags = " ".join(f"{FLAGS[key]} {value}" for key, value in self.mkfs.items())
        mount = f"mount -t ufs -o noatime {device} {MOUNT}"
        names = " ".join(f"-e 's/^mkfs.{flag}/mkfs.{key}/'" for key, flag in FLAGS.items())
        return (
            f"newfs -U {flags} {device} >$OUT/mkfs\nmkdir -p {MOUNT}\necho {shlex.quote(mount)} >{AGAIN}\n. {AGAIN}\n"
            f"df -k {MOUNT} | awk 'NR == 2 {{ print $3 }}' >$OUT/empty\n{SHOW.format(device=device, names=names, mount=MOUNT)}"
        )

    def flush(self) -> str:
        # FreeBSD's sync(2) may return before the writing is done; what fsync'ed a file of it is on the disk.
        return f"fsync $(find {MOUNT} -xdev -type f)"

    def make_cold(self) -> str:
        # Unmounting gives back every buffer and page of the filesystem; both sides of that are written down.
        return (
            f"{{ printf 'bufspace.before\\t%s\\n' $(sysctl -n vfs.bufspace)\numount {MOUNT}\n"
            f"printf 'bufspace.unmounted\\t%s\\n' $(sysctl -n vfs.bufspace)\n. {AGAIN}\n}} >$OUT/cold\n"
        )

    def after(self) -> str:
        return AFTER.replace("MOUNT", MOUNT)

    def expected(self, settings: Settings) -> dict[str, str]:
        return {f"mkfs.{key}": value for key, value in self.mkfs.items()} | {"mkfs.soft_updates": "on", "mount.atime": "off"}

    def space(self, text: str) -> tuple[int, int]:
        found = pairs(text)
        if "logical" not in found or "used" not in found:
            raise Unreadable("space: logical or used is missing")
        return whole(found["logical"], "space"), whole(found["used"], "space")

    def cached(self, text: str) -> float:
        found = {key: whole(value, "cold") for key, value in pairs(text).items()}
        return found["bufspace.unmounted"] / found["bufspace.before"] if found["bufspace.before"] else 0.0

    def health(self, text: str) -> tuple[str, float]:
        words = text.split()
        return "" if words[5] == "ONLINE" else words[5], whole(words[4].rstrip("%"), "pool") / 100
