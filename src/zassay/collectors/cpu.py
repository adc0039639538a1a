"""CPU states of the whole guest."""

from zassay.collectors import Collector


class Cpu(Collector):
    name = "cpu"
    specs = ("head:1:/proc/stat",)
