"""ext4, made and mounted with every option said; no inode table is left to be written behind the measurement's back."""

from __future__ import annotations

from zassay.filesystems.kernel import KernelFilesystem
from zassay.study import Settings

FEATURES = (
    "dir_index,dir_nlink,ext_attr,extent,extra_isize,filetype,flex_bg,has_journal,huge_file,large_file,metadata_csum,"
    "resize_inode,sparse_super,64bit"
)
MADE = r"""while IFS=: read -r _k _v; do
    _v=${_v#"${_v%%[![:space:]]*}"}
    case $_k in
        "Filesystem features") printf 'mkfs.features\t%s\n' "$(printf '%s\n' $_v | sort | paste -sd,)" ;;
        "Block size") printf 'mkfs.block_size\t%s\n' "$_v" ;;
        "Inode size") printf 'mkfs.inode_size\t%s\n' "$_v" ;;
        "Block count") _all=$_v ;;
        "Reserved block count") printf 'mkfs.reserved_percent\t%s\n' $(((200 * _v + _all) / (2 * _all))) ;;
    esac
done <$OUT/mkfs.super
"""


class Ext4(KernelFilesystem):
    name = "ext4"
    packages = {"debian": ("e2fsprogs",)}
    module = "ext4"
    mkfs = {"block_size": "4096", "inode_size": "256", "reserved_percent": "5", "features": FEATURES}
    mount = {
        "atime": "off",
        "data": "ordered",
        "commit": "5",
        "barrier": "on",
        "delalloc": "on",
        "auto_da_alloc": "on",
        "discard": "off",
        "errors": "remount-ro",
    }

    def format(self, options: dict[str, str], device: str) -> str:
        # The superblock is read before the first mount: a mounted one also says that it is to be recovered.
        return (
            f"{{ mke2fs -F -t {self.name} -b {options['block_size']} -I {options['inode_size']} -m {options['reserved_percent']} "
            f"-O none,{options['features']} -E lazy_itable_init=0,lazy_journal_init=0,nodiscard {device} && "
            f"dumpe2fs -h {device} >$OUT/mkfs.super; }}"
        )

    def made(self, device: str) -> str:
        return MADE

    def expected(self, settings: Settings) -> dict[str, str]:
        found = super().expected(settings)
        return found | {"mkfs.features": ",".join(sorted(found["mkfs.features"].split(",")))}

    def show_options(self, device: str) -> str:
        # Beside what it shows for everybody, ext4 tells all that is in force, defaults too.
        return super().show_options(device) + 'shown "$(cat /proc/fs/ext4/${_source##*/}/options)"\n'

    def errors(self, device: str) -> str:
        return f'read -r _n </sys/fs/ext4/{device}/errors_count\nif [ "$_n" != 0 ]; then _wrong=ERRORS; fi\n'
