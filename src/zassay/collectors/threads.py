"""How many of ZFS's write issue threads there are: they compress, and are made as they are needed."""

from zassay.collectors import Collector
from zassay.readers import Sample, Unreadable


class Threads(Collector):
    name = "threads"
    specs = ("threads:z_wr_iss",)


def most(samples: list[Sample]) -> int:
    """The largest number of z_wr_iss threads seen."""
    counts = [int(s.parts[Threads.specs[0]].split()[1]) for s in samples if Threads.specs[0] in s.parts]
    if not counts:
        raise Unreadable("samples: no thread counts")
    return max(counts)
