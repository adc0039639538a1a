"""The host had memory, disk and processors to spare, and did little else while the guest was timed."""

from zassay.gates import TIMES, Finding, Gate, no_matter
from zassay.record import RunFiles
from zassay.units import show_bytes

# Of all the host's processors' time.
OTHERS = 0.1
STOLEN = 0.01
SPARE = 256 << 20


class Host(Gate):
    name = "host"
    protects = TIMES

    def check(self, run: RunFiles) -> Finding:
        load = run.facts.get("host_load")
        if load is None:
            return no_matter("an older record, which does not tell the host's load")
        before, after = load["before"], load["after"]
        spent = {key: after[key] - before[key] for key in ("all_s", "busy_s", "stolen_s", "guest_s")}
        others = (spent["busy_s"] - spent["stolen_s"] - spent["guest_s"]) / spent["all_s"]
        stolen = spent["stolen_s"] / spent["all_s"]
        left = min(each[key] for each in (before, after) for key in ("memavailable_bytes", "free_bytes") if key in each)
        return (
            others <= OTHERS and stolen <= STOLEN and left >= SPARE,
            f"others use at most {OTHERS:.0%} of the host, {STOLEN:.0%} is stolen from it at most, {show_bytes(SPARE)} of memory "
            "and disk are free",
            f"{others:.1%}, {stolen:.1%} and {show_bytes(left)}",
        )
