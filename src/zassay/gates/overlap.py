"""The background load ran through the whole of each measured phase: writers that died early slow nothing down."""

from zassay import workloads
from zassay.gates import Finding, Gate, no_matter
from zassay.record import RunFiles

LEAST = 0.99


class Overlap(Gate):
    name = "overlap"

    def check(self, run: RunFiles) -> Finding:
        load = workloads.background(run.plan)
        if load is None:
            return no_matter("there is no background load")
        least = min(load.achieved(run, span).overlap for span in run.spans)
        return least >= LEAST, f"the load ran through {LEAST:.0%} of each measured phase", f"{least:.1%}"
