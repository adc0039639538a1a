"""The guest's clock ran as the host's did."""

from zassay.gates import Gate
from zassay.record import RunFiles

LIMIT = 0.01
# Reading the guest's clock over the channel is only known to within half a round trip.
SLACK_S = 0.05


class Clock(Gate):
    name = "clock"
    protects = "times"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        clock = run.facts["clock"]
        off = abs(clock["guest_s"] - clock["host_s"])
        ratio = clock["guest_s"] / clock["host_s"]
        return (
            off <= LIMIT * clock["host_s"] + SLACK_S,
            f"guest/host clock ratio within {LIMIT:.0%} of 1",
            f"{ratio:.4f}",
        )
