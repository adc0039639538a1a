"""What was read back is the payload, byte for byte."""

from zassay.gates import Gate
from zassay.record import RunFiles


class Content(Gate):
    name = "content"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        said = run.text("compare").strip()
        return said == "same", "the copy is the same as its source", said or "nothing"
