"""The pool is whole and under 80 % full: nearly full pools are slower by an order of magnitude."""

from zassay.gates import Finding, Gate
from zassay.record import RunFiles

FULLEST = 0.8


class Health(Gate):
    name = "health"

    def check(self, run: RunFiles) -> Finding:
        wrong, full = run.filesystem.health(run.text("pool"))
        return not wrong and full < FULLEST, f"whole and under {FULLEST:.0%} full", f"{wrong or 'whole'} and {full:.0%} full"
