"""No block of the pool is a clone: a copy that cloned wrote nothing."""

from zassay.gates import Finding, Gate, no_matter
from zassay.readers import pairs
from zassay.record import RunFiles


class Clones(Gate):
    name = "clones"

    def check(self, run: RunFiles) -> Finding:
        if not run.has("cloned"):
            return no_matter("the data came from another device, or nothing tells of clones")
        said = pairs(run.text("cloned")).get("bcloneused", "0")
        return said in ("0", "-"), "no bytes of cloned blocks", f"{said} bytes"
