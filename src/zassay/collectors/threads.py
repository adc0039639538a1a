"""How many of ZFS's write issue threads there are: they compress, and are made as they are needed."""

from zassay.collectors import Collector
from zassay.readers import Sample, Unreadable, whole

SPEC = "threads:z_wr_iss"


class Threads(Collector):
    name = "threads"
    specs = (SPEC,)


def most(samples: list[Sample]) -> int:
    """The largest number of z_wr_iss threads seen."""
    counts = [whole(s.parts[SPEC].partition(" ")[2].strip(), "samples: threads") for s in samples if SPEC in s.parts]
    if not counts:
        raise Unreadable("samples: no thread counts")
    return max(counts)
