"""The cache was empty before the read that is called cold, as shown by the ARC itself."""

from zassay.gates import Gate
from zassay.readers import kstat
from zassay.record import RunFiles

LIMIT = 0.05


class Cold(Gate):
    name = "cold"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        arc = kstat(run.text("cold"))
        share = arc["data_size"] / arc["c_max"]
        return share < LIMIT, f"ARC data under {LIMIT:.0%} of c_max", f"{share:.1%}"
