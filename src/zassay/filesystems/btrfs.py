"""Btrfs on one device, made and mounted with every option said. What it is made of it tells in sysfs."""

from __future__ import annotations

from zassay.filesystems.kernel import KernelFilesystem

# Ours, and the names of mkfs and of sysfs.
FEATURES = {
    "extref": ("extref", "extended_iref"),
    "skinny_metadata": ("skinny-metadata", "skinny_metadata"),
    "no_holes": ("no-holes", "no_holes"),
    "free_space_tree": ("free-space-tree", "free_space_tree"),
}
# The one that is mounted here is the only one with a folder of that form.
MADE = """for _b in /sys/fs/btrfs/*-*-*-*; do
    for _k in nodesize sectorsize; do
        read -r _v <$_b/$_k
        printf 'mkfs.%s\\t%s\\n' $_k $_v
    done
    read -r _v _ <$_b/checksum
    printf 'mkfs.checksum\\t%s\\n' $_v
    for _k in data metadata; do
        for _v in $_b/allocation/$_k/*/; do _v=${_v%/}; printf 'mkfs.%s\\t%s\\n' $_k ${_v##*/}; done
    done
"""
ERRORS = """for _n in /sys/fs/btrfs/*-*-*-*/devinfo/*/error_stats; do
    while read -r _k _v; do if [ $_v != 0 ]; then _wrong=ERRORS; fi; done <$_n
done
"""


class Btrfs(KernelFilesystem):
    name = "btrfs"
    packages = {"debian": ("btrfs-progs",)}
    module = "btrfs"
    mkfs = {"data": "single", "metadata": "dup", "nodesize": "16384", "sectorsize": "4096", "checksum": "crc32c"}
    mkfs |= dict.fromkeys(FEATURES, "on")
    mount = {
        "atime": "off",
        "space_cache": "v2",
        "ssd": "off",
        "discard": "off",
        "compress": "no",
        "datacow": "on",
        "datasum": "on",
        "autodefrag": "off",
        "flushoncommit": "off",
        "barrier": "on",
        "commit": "30",
    }
    unshown = {
        "discard": "off",
        "compress": "no",
        "datacow": "on",
        "datasum": "on",
        "autodefrag": "off",
        "flushoncommit": "off",
        "barrier": "on",
        "commit": "30",
    }
    smallest = 256 << 20

    def format(self, options: dict[str, str], device: str) -> str:
        said = {key: f"{'' if options[key] == 'on' else '^'}{name}" for key, (name, _) in FEATURES.items()}
        # A feature of its own kind until btrfs-progs 6.3, and still taken as one.
        runtime = said.pop("free_space_tree")
        return (
            f"mkfs.btrfs -f -K -d {options['data']} -m {options['metadata']} -n {options['nodesize']} -s {options['sectorsize']} "
            f"--csum {options['checksum']} -O {','.join(said.values())} -R {runtime} {device}"
        )

    def made(self, device: str) -> str:
        lines = [
            f"    _v=off; if [ -e $_b/features/{shown} ]; then _v=on; fi; printf 'mkfs.{key}\\t%s\\n' $_v\n"
            for key, (_, shown) in FEATURES.items()
        ]
        return f"{MADE}{''.join(lines)}done\n"

    def errors(self, device: str) -> str:
        return ERRORS
