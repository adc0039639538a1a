"""ext3 as kernels still have it: its own format, without extents and delayed allocation, served by the ext4 driver."""

from __future__ import annotations

from zassay.filesystems.ext4 import Ext4

FEATURES = "dir_index,ext_attr,filetype,has_journal,large_file,resize_inode,sparse_super"


class Ext3(Ext4):
    name = "ext3"
    mkfs = {**Ext4.mkfs, "features": FEATURES}
    # Delayed allocation is no option of it: the driver refuses the word, on or off.
    mount = {key: value for key, value in Ext4.mount.items() if key != "delalloc"}
