"""The host did not take the guest's CPUs away while it was timed."""

from zassay.gates import Gate
from zassay.readers import steal_share
from zassay.record import RunFiles

LIMIT = 0.01


class Steal(Gate):
    name = "steal"
    protects = "times"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        shares = [steal_share(*run.pair(phase)) for phase in ("write", "read")]
        return max(shares) <= LIMIT, f"steal at most {LIMIT:.0%}", f"{max(shares):.2%}"
