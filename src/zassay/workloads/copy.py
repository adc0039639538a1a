"""Copy a payload into the filesystem, flush, make it cold, read it back: the source's "write" and "read" of a data set.

The payload comes from its own read-only disk, past the guest's page cache, so neither the pool nor block cloning can
serve it. The time of a write ends when the flush has ended. After the timed phases the copy is compared with its source.
"""

from __future__ import annotations

from zassay.collectors import threads
from zassay.filesystems import MOUNT, Filesystem
from zassay.readers import busy_share, dd_bytes
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.workloads import Phase, Workload

SLOWEST_BYTES_PER_S = 512 << 10
FILE = f"{MOUNT}/payload"


def deadline(size: int) -> float:
    """Seconds within which even gzip-9 on an emulated CPU must be done."""
    return 60 + size / SLOWEST_BYTES_PER_S


class Copy(Workload):
    name = "copy"
    packages = {"debian": ("coreutils", "diffutils")}

    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        size, block = int(settings.workload["size"]), int(settings.workload["block"])
        count, late = size // block, deadline(size)
        write = f"dd if={source} of={FILE} bs={block} count={count} iflag=direct 2>$OUT/dd.write\n{filesystem.flush()}\n"
        read = f"dd if={FILE} of=/dev/null bs={block} 2>$OUT/dd.read\n"
        return [
            Phase("write", timed("write", write), late, measures=True),
            Phase("cold", filesystem.make_cold(), 60, measures=False),
            Phase("read", timed("read", read), late, measures=True),
            Phase(
                "compare",
                # What differs is written down and judged by its gate; only a comparison that takes too long fails the step.
                f"if cmp -n {size} {source} {FILE} >$OUT/compare 2>&1; then echo same >$OUT/compare; fi\n",
                late,
                measures=False,
            ),
        ]

    def metrics(self, run: RunFiles) -> dict[str, float]:
        marks = run.marks
        write, read = run.elapsed("write"), run.elapsed("read")
        logical, used = run.space()
        issue_threads = threads.most(run.samples)
        return {
            "write_time": write,
            "read_time": read,
            # The sum by the other clock (10 ms steps): it disagrees with the two above if either clock is at fault.
            "total_time": run.elapsed_by_uptime("write") + run.elapsed_by_uptime("read"),
            "compressratio": logical / used,
            "write_cpu_busy": busy_share(marks["write_start"], marks["write_end"]),
            "read_cpu_busy": busy_share(marks["read_start"], marks["read_end"]),
            "wr_iss_threads": issue_threads,
            "thread_cap": issue_threads / run.cpus,
            "logical_bytes": logical,
            "used_bytes": used,
            "pool_bytes_written": run.pool_delta("write").bytes_written,
            "pool_bytes_read": run.pool_delta("read").bytes_read,
        }

    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        return {phase: dd_bytes(run.text(f"dd.{phase}")) for phase in ("write", "read")}


def timed(name: str, script: str) -> str:
    """Counters outside the clock, the clock tight around the work."""
    return f"snap {name}_start\nmark {name}_start\n{script}mark {name}_end\nsnap {name}_end\n"
