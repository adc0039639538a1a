"""The cache was empty before each read that is called cold, as shown by the filesystem itself."""

from zassay.gates import Finding, Gate, no_matter
from zassay.record import RunFiles

LIMIT = 0.05


class Cold(Gate):
    name = "cold"

    def check(self, run: RunFiles) -> Finding:
        proofs = run.workload.cold_proofs(run.plan)
        if not proofs:
            return no_matter("no read is called cold")
        share = max(run.filesystem.cached(run.text(name)) for name in proofs)
        return share < LIMIT, f"cached data under {LIMIT:.0%} of what the cache holds at most", f"{share:.1%}"
