"""The data deduplicated as their generator promises: repeated buffers of a tool would pass for good data else."""

from zassay import payloads
from zassay.gates import Finding, Gate, no_matter
from zassay.readers import dedup_ratio
from zassay.record import RunFiles
from zassay.workloads import numbered

# Blocks of the pool's own files may be alike; and what repeats has to show.
MOST_UNIQUE, LEAST_REPEATED = 1.05, 1.5


class Dedup(Gate):
    name = "dedup"

    def check(self, run: RunFiles) -> Finding:
        if run.settings["properties"].get("dedup", "off") == "off":
            return no_matter("nothing is deduplicated")
        names = [numbered("dedup", number) + ".during" for number in run.numbers] if run.workload.asks_during else ["dedup"]
        ratios = [dedup_ratio(run.text(name)) for name in names if run.has(name) or run.filesystem.accounts()]
        if not ratios:
            return no_matter("the filesystem tells no ratio")
        name = str(run.settings["payload"]["name"])
        unique = payloads.get(name).unique
        wrong = [each for each in ratios if (each > MOST_UNIQUE if unique else each < LEAST_REPEATED)]
        expected = (
            f"{name}: at most {MOST_UNIQUE} blocks for one" if unique else f"{name}: at least {LEAST_REPEATED} blocks for one"
        )
        return not wrong, expected, f"{(wrong or ratios)[0]:.2f}"
