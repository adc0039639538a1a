"""The data compressed as their generator promises: zeros, or someone else's corpus, would not."""

from zassay import payloads
from zassay.gates import Gate
from zassay.record import RunFiles


class Payload(Gate):
    name = "payload"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        setting = run.settings["properties"].get("compression", "off")
        name = run.settings["payload"]["name"]
        logical, used = run.space()
        ratio = logical / used
        band = payloads.get(name).promise.get(setting)
        if band is None:
            return ratio > 0, f"no promise for {name} under {setting}", f"{ratio:.3f}"
        return band[0] <= ratio <= band[1], f"{name} under {setting} between {band[0]} and {band[1]}", f"{ratio:.3f}"
