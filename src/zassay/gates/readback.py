"""Every property and tunable reads back as it was set: a default that crept in is not what was planned."""

import re

from zassay import scheduler
from zassay.gates import Finding, Gate
from zassay.readers import pairs
from zassay.record import RunFiles


class ReadBack(Gate):
    name = "readback"

    def check(self, run: RunFiles) -> Finding:
        expected = run.filesystem.expected(run.plan) | scheduler.expected(run.plan)
        found = {key: chosen(value) for key, value in pairs(run.text("readback")).items()}
        wrong = {key: found.get(key, "(nothing)") for key, value in expected.items() if found.get(key) != value}
        wanted = ", ".join(f"{key}={expected[key]}" for key in wrong) or f"{len(expected)} settings as set"
        return not wrong, wanted, ", ".join(f"{key}={value}" for key, value in wrong.items()) or "the same"


def chosen(value: str) -> str:
    """Parameters that list their choices mark the one in force: ``fastest [scalar] sse2``."""
    match = re.search(r"\[(\S+)\]", value)
    return match.group(1) if match else value
