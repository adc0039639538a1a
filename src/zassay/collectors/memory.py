"""Memory of the guest: free, cached, slab, swap."""

from zassay.collectors import Collector


class Memory(Collector):
    name = "memory"
    specs = ("file:/proc/meminfo",)
