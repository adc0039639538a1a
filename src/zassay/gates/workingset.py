"""A working set that is meant to exceed the ARC does: else its reads are those of memory."""

from zassay.gates import Finding, Gate, no_matter
from zassay.readers import kstat
from zassay.record import RunFiles
from zassay.units import show_bytes


class WorkingSet(Gate):
    name = "workingset"

    def check(self, run: RunFiles) -> Finding:
        arc = f"snap.{run.spans[-1].marks[1]}.arcstats"
        if not run.workload.beyond_cache(run.plan) or not run.has(arc):
            return no_matter("the reads are made cold, or are none")
        most = kstat(run.text(arc))["c_max"]
        size = int(run.settings["workload"]["size"])
        return size > most, f"more data than the ARC's {show_bytes(most)}", show_bytes(size)
