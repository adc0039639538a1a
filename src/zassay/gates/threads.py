"""ZFS has as many write issue threads as its settings say: they compress, and their number is what is studied."""

from zassay.collectors import threads
from zassay.gates import Finding, Gate, no_matter
from zassay.record import RunFiles

PER_QUEUE = 6


def expected(cpus: int, percent: int) -> int:
    """As zio_taskq_batch_pct is turned into threads since 2.1: queues of about six threads each, their shares rounded."""
    wanted = max(1, cpus * percent // 100)
    queues = 1 + wanted // PER_QUEUE
    while queues * queues > wanted:
        queues -= 1
    share = (percent + queues // 2) // queues
    return int(queues * max(1, cpus * share // 100))


class Threads(Gate):
    name = "threads"

    def check(self, run: RunFiles) -> Finding:
        tunables = run.settings["tunables"]
        fixed = tunables.get("spl_taskq_thread_dynamic") == "0" and tunables.get("zio_taskq_batch_tpq") == "0"
        counted = any(threads.SPEC in sample.parts for sample in run.samples)
        if not (fixed and counted and "zio_taskq_batch_pct" in tunables):
            return no_matter("their number is not fixed or not sampled")
        wanted, found = expected(run.cpus, int(tunables["zio_taskq_batch_pct"])), threads.most(run.samples)
        return found == wanted, f"{wanted} write issue threads", str(found)
