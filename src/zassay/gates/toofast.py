"""Every phase took long enough to be timed: what the tool prints as +++++ is neither zero nor known."""

from zassay.gates import METRICS, Finding, Gate, no_matter
from zassay.readers import Unreadable
from zassay.record import RunFiles


class TooFast(Gate):
    name = "toofast"
    protects = METRICS

    def check(self, run: RunFiles) -> Finding:
        try:
            found = {metric for number in run.numbers for metric in run.workload.too_fast(run, number)}
        except Unreadable:
            return no_matter("the tool's output cannot be read, which another gate tells")
        return not found, "every phase long enough to be timed", f"too fast: {', '.join(sorted(found))}" if found else "all were"
