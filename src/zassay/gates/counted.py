"""The tool says it moved exactly what was asked for: a dropped or short repeat is no measurement."""

from zassay.gates import Finding, Gate
from zassay.record import RunFiles


class Counted(Gate):
    name = "counted"

    def check(self, run: RunFiles) -> Finding:
        wanted = run.workload.wanted_bytes(run.plan)
        counts = run.counted
        spans = [span.name for span in run.spans if span.name in wanted or span.name in counts]
        right = all(counts.get(name, 0) == wanted.get(name, counts.get(name)) and counts.get(name, 0) > 0 for name in spans)
        shown = ", ".join(f"{name} {counts.get(name, 0)}" for name in spans)
        told = ", ".join(dict.fromkeys(str(each) for each in wanted.values())) or "some"
        return right and set(wanted) <= set(counts), f"{told} bytes in each phase", shown
