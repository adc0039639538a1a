"""The guest's clock ran as the host's did (unless it counts instructions, by design), and was not set while it timed."""

from zassay.gates import TIMES, Finding, Gate
from zassay.record import RunFiles

LIMIT = 0.01
# Reading the guest's clock over the channel is only known to within half a round trip.
SLACK_S = 0.05
# Wall clock and uptime are read one after the other, the uptime in steps of 10 ms: 23 ms apart is the most a busy host has shown.
APART_S = 0.1


class Clock(Gate):
    name = "clock"
    protects = TIMES

    def check(self, run: RunFiles) -> Finding:
        clock = run.facts["clock"]
        off = abs(clock["guest_s"] - clock["host_s"])
        ratio = clock["guest_s"] / clock["host_s"]
        apart = max(abs(run.elapsed(span) - run.elapsed_by_uptime(span)) for span in run.spans)
        if "virtual_time" in run.settings["machine"]:
            return apart <= APART_S, f"wall clock and uptime within {APART_S} s (virtual time)", f"{apart:.3f} s"
        return (
            off <= LIMIT * clock["host_s"] + SLACK_S and apart <= APART_S,
            f"guest/host clock ratio within {LIMIT:.0%} of 1, wall clock and uptime within {APART_S} s",
            f"{ratio:.4f} and {apart:.3f} s",
        )
