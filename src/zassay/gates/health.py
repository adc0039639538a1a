"""The pool is ONLINE and under 80 % full: nearly full pools are slower by an order of magnitude."""

from zassay.gates import Gate
from zassay.record import RunFiles

FULLEST = 80


class Health(Gate):
    name = "health"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        words = run.text("pool").split()
        capacity, health = int(words[4].rstrip("%")), words[5]
        return (
            health == "ONLINE" and capacity < FULLEST,
            f"ONLINE and under {FULLEST} % full",
            f"{health} and {capacity} % full",
        )
