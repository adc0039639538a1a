"""The guest that ran is the image that was planned: the digest that was checked, and the kernel and ZFS that it promises."""

from zassay.gates import Finding, Gate
from zassay.record import RunFiles


class Image(Gate):
    name = "image"

    def check(self, run: RunFiles) -> Finding:
        promised = {"image digest": run.facts["image_digest"], **run.facts.get("image_versions", {})}
        found = {"image digest": run.status["image_digest"], **run.facts["guest"]}
        wrong = {key: found.get(key, "(nothing)") for key, value in promised.items() if found.get(key) != value}
        expected = ", ".join(f"{key} {promised[key]}" for key in wrong or promised)
        return not wrong, expected, ", ".join(f"{key} {value}" for key, value in wrong.items()) or "the same"
