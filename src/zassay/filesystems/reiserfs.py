"""ReiserFS, where the kernel still has it (Debian's generic kernels up to 6.12; none of the cloud kernels)."""

from __future__ import annotations

from zassay.filesystems.kernel import KernelFilesystem

MADE = r"""while read -r _l; do
    case $_l in
        *" of format "*) _v=${_l##* of format }; printf 'mkfs.format\t%s\n' "${_v%% *}" ;;
        Blocksize:*) printf 'mkfs.block_size\t%s\n' "${_l##*: }" ;;
        "Hash function used to sort names: "*) _v=${_l##*: \"}; printf 'mkfs.hash\t%s\n' "${_v%\"}" ;;
        Size\ *" blocks (including 1 for journal header)"*) _v=${_l#Size }; printf 'mkfs.journal_blocks\t%s\n' "${_v%% *}" ;;
    esac
done <$OUT/mkfs.super
"""


class Reiserfs(KernelFilesystem):
    name = "reiserfs"
    packages = {"debian": ("reiserfsprogs",)}
    module = "reiserfs"
    mkfs = {"format": "3.6", "block_size": "4096", "hash": "r5", "journal_blocks": "8193"}
    mount = {"atime": "off", "data": "ordered", "barrier": "flush", "tails": "small", "commit": "30"}
    # Its defaults are what the kernel does not show.
    unshown = {"data": "ordered", "barrier": "flush", "tails": "small", "commit": "30"}
    smallest = 128 << 20

    def format(self, options: dict[str, str], device: str) -> str:
        # Twice -f: it asks nobody, and takes a partition for what it is.
        return (
            f"{{ mkfs.reiserfs -f -f --format {options['format']} -b {options['block_size']} -h {options['hash']} "
            f"-s {options['journal_blocks']} {device} && debugreiserfs {device} >$OUT/mkfs.super; }}"
        )

    def made(self, device: str) -> str:
        return MADE
