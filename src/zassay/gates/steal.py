"""The host did not take the guest's CPUs away while it was timed."""

from zassay.gates import TIMES, Finding, Gate
from zassay.readers import steal_share
from zassay.record import RunFiles

LIMIT = 0.01


class Steal(Gate):
    name = "steal"
    protects = TIMES

    def check(self, run: RunFiles) -> Finding:
        share = max(steal_share(*run.pair(span)) for span in run.spans)
        return share <= LIMIT, f"steal at most {LIMIT:.0%}", f"{share:.2%}"
