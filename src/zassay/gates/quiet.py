"""No kernel warning, hang or out-of-memory in the guest's log, nor on its console."""

import re

from zassay.gates import Finding, Gate
from zassay.record import RunFiles

BAD = re.compile(
    r"^.*(?:WARNING: CPU|BUG: |Call Trace:|Out of memory|oom-kill|blocked for more than|I/O error|PANIC at|Kernel panic).*$", re.M
)


class Quiet(Gate):
    name = "quiet"

    def check(self, run: RunFiles) -> Finding:
        match = BAD.search(run.text("dmesg")) or BAD.search(run.console())
        return match is None, "no warning in the kernel log", match.group(0).strip() if match else "none"
