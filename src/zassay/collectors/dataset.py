"""What ZFS has read and written for its callers, over all datasets of the pool: traffic, before any cache or disk."""

from __future__ import annotations

from dataclasses import dataclass

from zassay.collectors import Collector
from zassay.filesystems.zfs import KSTAT, POOL
from zassay.readers import Unreadable, whole

SPEC = f"glob:{KSTAT}/{POOL}/objset-*"


class Dataset(Collector):
    """Which number an objset has is the pool's business, so all of them are read, one after the other."""

    name = "dataset"
    specs = (SPEC,)
    commands = {"freebsd": "sysctl kstat.zfs.tank.dataset"}


@dataclass(frozen=True)
class Traffic:
    """Bytes since the pool was imported."""

    read: int
    written: int


def traffic(text: str) -> Traffic:
    """The sums over the kstats in one reading; raises Unreadable when there is none, or one is cut off."""
    sums = {"nread": 0, "nwritten": 0}
    seen = dict.fromkeys(sums, 0)
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] in sums:
            sums[words[0]] += whole(words[2], "dataset")
            seen[words[0]] += 1
    if not seen["nread"] or seen["nread"] != seen["nwritten"]:
        raise Unreadable(f"dataset: {seen['nwritten']} counts of bytes written, {seen['nread']} of bytes read")
    return Traffic(sums["nread"], sums["nwritten"])
