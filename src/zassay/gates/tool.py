"""The tool tells no error of its own, whatever its exit code was."""

from zassay.gates import Finding, Gate, no_matter
from zassay.readers import Unreadable
from zassay.record import RunFiles


class Tool(Gate):
    name = "tool"

    def check(self, run: RunFiles) -> Finding:
        try:
            errors = run.workload.failures(run)
        except Unreadable:
            return no_matter("its output cannot be read, which another gate tells")
        return not errors, "no error in the tool's own output", "; ".join(errors) or "none"
