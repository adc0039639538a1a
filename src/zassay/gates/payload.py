"""The data compressed as their generator promises: zeros, or someone else's corpus, would not."""

from collections.abc import Mapping

from zassay import payloads
from zassay.gates import Finding, Gate
from zassay.payloads import Band
from zassay.record import RunFiles

# Under a setting that the payload does not know, at least what no compressor makes of it: zeros pass a hundred to one.
UNKNOWN = 1.5


def widest(promise: Mapping[str, Band]) -> Band:
    """From the lowest promised ratio to half as much again as the highest."""
    return min(low for low, _ in promise.values()), round(UNKNOWN * max(high for _, high in promise.values()), 3)


class Payload(Gate):
    name = "payload"

    def check(self, run: RunFiles) -> Finding:
        setting = run.settings["properties"].get("compression", "off")
        name = run.settings["payload"]["name"]
        own = run.workload.promise(run.plan)
        promise = {} if own else payloads.get(name).promise
        band = own or promise.get(setting) or widest(promise)
        ratios = run.workload.ratios(run)
        wrong = [ratio for ratio in ratios if not band[0] <= ratio <= band[1]]
        said = f"{run.workload.name if own else name} under {setting} between {band[0]} and {band[1]}"
        return not wrong, said, f"{wrong[0] if wrong else ratios[0]:.3f}"
