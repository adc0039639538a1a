"""What was read back is the payload, byte for byte (or by its digest)."""

from zassay.gates import Finding, Gate, no_matter
from zassay.record import RunFiles


class Content(Gate):
    name = "content"

    def check(self, run: RunFiles) -> Finding:
        differences = run.workload.differences(run)
        if differences is None:
            return no_matter("the tool makes its own data and compares nothing")
        return not differences, "what was read is the same as its source", "; ".join(differences) or "the same"
