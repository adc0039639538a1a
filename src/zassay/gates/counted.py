"""The tool says it moved exactly what was asked for: a dropped or short repeat is no measurement."""

from zassay import workloads
from zassay.gates import Gate
from zassay.record import RunFiles


class Counted(Gate):
    name = "counted"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        wanted = int(run.settings["workload"]["size"])
        counts = workloads.get(run.settings["workload"]["tool"]).counted_bytes(run)
        shown = ", ".join(f"{phase} {count}" for phase, count in counts.items())
        return set(counts.values()) == {wanted}, f"{wanted} bytes in each phase", shown
