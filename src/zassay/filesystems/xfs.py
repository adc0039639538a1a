"""XFS, made and mounted with every option said."""

from __future__ import annotations

from zassay.filesystems import MOUNT
from zassay.filesystems.kernel import KernelFilesystem

# Ours, and what mkfs.xfs and xfs_info call it: section, name.
NAMES = {
    "block_size": ("-b", "size", "bsize"),
    "sector_size": ("-s", "size", "sectsz"),
    "agcount": ("-d", "agcount", "agcount"),
    "inode_size": ("-i", "size", "isize"),
    "sparse": ("-i", "sparse", "sparse"),
    "crc": ("-m", "crc", "crc"),
    "finobt": ("-m", "finobt", "finobt"),
    "rmapbt": ("-m", "rmapbt", "rmapbt"),
    "reflink": ("-m", "reflink", "reflink"),
    "bigtime": ("-m", "bigtime", "bigtime"),
    "inobtcount": ("-m", "inobtcount", "inobtcount"),
    "lazy_count": ("-l", "lazy-count", "lazy-count"),
    "ftype": ("-n", "ftype", "ftype"),
}
# A name stands there more than once (the log has blocks and sectors too): the first is of the data.
MADE = """declare -A _seen=()
for _w in $(xfs_info {mount}); do
    _w=${{_w%,}} _k=${{_w%%=*}}
    case $_w in ?*=?*) : "${{_seen[$_k]:=${{_w#*=}}}}" ;; esac
done
{lines}"""


class Xfs(KernelFilesystem):
    name = "xfs"
    packages = {"debian": ("xfsprogs",)}
    module = "xfs"
    mkfs = {"block_size": "4096", "sector_size": "512", "agcount": "4", "inode_size": "512"} | dict.fromkeys(
        ("sparse", "crc", "finobt", "reflink", "bigtime", "inobtcount", "lazy_count", "ftype"), "1"
    )
    mkfs |= {"rmapbt": "0"}
    mount = {"atime": "off", "inode64": "on", "logbufs": "8", "logbsize": "32k", "quota": "off", "discard": "off"}
    unshown = {"discard": "off"}
    smallest = 300 << 20

    def format(self, options: dict[str, str], device: str) -> str:
        sections: dict[str, list[str]] = {}
        for key, value in options.items():
            section, name, _ = NAMES[key]
            sections.setdefault(section, []).append(f"{name}={value}")
        words = " ".join(f"{section} {','.join(parts)}" for section, parts in sections.items())
        return f"mkfs.xfs -f -K {words} {device}"

    def made(self, device: str) -> str:
        lines = "".join(f"printf 'mkfs.{key}\\t%s\\n' \"${{_seen[{NAMES[key][2]}]-}}\"\n" for key in self.mkfs)
        return MADE.format(mount=MOUNT, lines=lines)
