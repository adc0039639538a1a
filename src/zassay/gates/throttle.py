"""Nothing slowed the host's processors down meanwhile: neither their heat nor a quota of our control group."""

from zassay.gates import TIMES, Finding, Gate, no_matter
from zassay.record import RunFiles

MOST_S = 0.01


class Throttle(Gate):
    name = "throttle"
    protects = TIMES

    def check(self, run: RunFiles) -> Finding:
        load = run.facts.get("host_load")
        if load is None:
            return no_matter("an older record, which does not tell whether the host was throttled")
        grown = {
            key: load["after"][key] - load["before"].get(key, 0.0) for key in ("heat_count", "quota_s") if key in load["after"]
        }
        slowed = grown.get("heat_count", 0) > 0 or grown.get("quota_s", 0) > MOST_S
        shown = ", ".join(f"{key} {value:g}" for key, value in grown.items()) or "this host counts neither"
        return not slowed, "no slowing down for heat and none by a quota", shown
