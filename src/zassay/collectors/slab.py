"""Kernel memory by cache: the kernel's own slabs and those of ZFS's portability layer."""

from __future__ import annotations

from zassay.collectors import Collector
from zassay.readers import Unreadable, whole

KERNEL, SPL = "file:/proc/slabinfo", "file:/proc/spl/kmem/slab"


class Slab(Collector):
    name = "slab"
    specs = (KERNEL, SPL)
    commands = {"freebsd": "vmstat -z", "illumos": "kstat -p unix:0::buf_inuse"}


def kernel_bytes(text: str) -> dict[str, int]:
    """Bytes in objects that are in use, by cache, of ``/proc/slabinfo``."""
    lines = text.split("\n")
    if lines[-1] or not lines[0].startswith("slabinfo - version: 2.") or "<active_objs> <num_objs> <objsize>" not in lines[1]:
        raise Unreadable("slabinfo: no header, or cut off")
    found: dict[str, int] = {}
    for line in lines[2:-1]:
        # A cache's name may hold blanks; what follows it is numbers and two marks.
        head, _, rest = line.partition(" : tunables ")
        words = head.rsplit(None, 5)
        if not rest or len(words) != 6:
            raise Unreadable(f"slabinfo: {line!r}")
        found[words[0]] = whole(words[1], "slabinfo") * whole(words[3], "slabinfo")
    return found
