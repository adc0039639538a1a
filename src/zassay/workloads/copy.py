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
from zassay.workloads import READ, WRITE, Phase, Span, Workload
from zassay.workloads.shell import deadline, timed

FILE = f"{MOUNT}/payload"
WRITTEN, BACK = Span("write", moves=WRITE, whole=True), Span("read", moves=READ, whole=True)


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

    def spans(self, settings: Settings) -> list[Span]:
        return [WRITTEN, BACK]

    def names(self, settings: Settings) -> frozenset[str]:
        return frozenset(
            """write_time read_time total_time compressratio write_cpu_busy read_cpu_busy wr_iss_threads thread_cap
            logical_bytes used_bytes pool_bytes_written pool_bytes_read""".split()
        )

    def metrics(self, run: RunFiles, number: int) -> dict[str, float]:
        logical, used = run.space(number)
        issue_threads = threads.most(run.samples)
        return {
            "write_time": run.elapsed(WRITTEN),
            "read_time": run.elapsed(BACK),
            # The sum by the other clock (10 ms steps): it disagrees with the two above if either clock is at fault.
            "total_time": run.elapsed_by_uptime(WRITTEN) + run.elapsed_by_uptime(BACK),
            "compressratio": logical / used,
            "write_cpu_busy": busy_share(*run.pair(WRITTEN)),
            "read_cpu_busy": busy_share(*run.pair(BACK)),
            "wr_iss_threads": issue_threads,
            "thread_cap": issue_threads / run.cpus,
            "logical_bytes": logical,
            "used_bytes": used,
            "pool_bytes_written": run.pool_delta(WRITTEN).bytes_written,
            "pool_bytes_read": run.pool_delta(BACK).bytes_read,
        }

    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        return {span.name: dd_bytes(run.text(f"dd.{span.name}")) for span in (WRITTEN, BACK)}

    def cold_proofs(self, settings: Settings) -> list[str]:
        return ["cold"]

    def differences(self, run: RunFiles) -> list[str] | None:
        said = run.text("compare").strip()
        return [] if said == "same" else [said or "nothing was said"]
