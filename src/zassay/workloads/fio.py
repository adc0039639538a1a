"""fio: native job files that are kept with the result, JSON+ with its histograms, several runs one after another.

The file is laid out first, as the settings say: ``layout: zeros`` makes holes wherever the filesystem compresses,
``layout: buffers`` writes data of which ``compress_percentage`` compresses away (0: nothing does). fio 2.1 and later would
else fill it with random data by itself. A run moves ``work`` bytes (or the whole ``size``; or what it can in ``seconds``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from zassay.errors import unknown
from zassay.filesystems import MOUNT, Filesystem
from zassay.ledger import Book, book
from zassay.readers import whole
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.tools.fields import document
from zassay.tools.fio import Fio, Output, read
from zassay.workloads import BOTH, READ, WRITE, Band, Pace, Phase, Span, Workload, numbered, runs
from zassay.workloads.shell import WARM, cache_phases, counters, deadline, timed

FILE = f"{MOUNT}/fio.dat"
LAYOUT_BLOCK = 1 << 20
BLOCK = 128 << 10
# Chunks that every compressor sees whole, far below any record size.
CHUNK = 4096
DIRECTIONS = {"read": READ, "randread": READ, "write": WRITE, "randwrite": WRITE, "rw": BOTH, "randrw": BOTH}
# Engines whose processes ask the kernel themselves: of these alone it counts the bytes by process.
PLAIN = ("psync", "sync", "vsync", "pvsync", "pvsync2")
LATENCIES = frozenset(("clat_p50", "clat_p99", "clat_p999"))
# How far the ratio of a laid-out file lies from what its percentage would give, sectors and metadata included.
BAND = (0.75, 1.15)
INCOMPRESSIBLE = (0.97, 1.02)
FROM_HOLES = (1000.0, float(1 << 50))
OF_THE_ARC = frozenset(
    "hit_ratio mru_hits mfu_hits mfu_share demand_hits demand_misses prefetch_hits demand_share arc_share".split()
)
# The job file is expanded by the shell as it is written: $OUT is the run's folder.
LOG = "write_bw_log=$OUT/fio.{name}\nlog_avg_msec=1000\nper_job_logs=0\n"
_LOGGED = re.compile(r"(\d+), (\d+), \d+, \d+, \d+.*", re.ASCII)
COUNTERS = OF_THE_ARC | frozenset(
    """device_share pool_bytes_read pool_bytes_written allocated_bytes logical_bytes allocated_share
    cpu_busy core_busy device_busy""".split()
)


class FioRuns(Workload):
    name = "fio"
    packages = {"debian": ("fio",)}
    may_lack = LATENCIES | OF_THE_ARC

    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        size, found = int(settings.workload["size"]), []
        known(settings)
        made = f"{written('layout', layout_job(settings))}{filesystem.flush()}\nstat -c '%s %b %B' {FILE} >$OUT/file\n"
        warm = Phase("warm", written("warm", job(settings, "read", _whole_file(settings))), deadline(size), False)
        found.append(Phase("layout", made, deadline(size), measures=False))
        found += cache_phases(settings, filesystem, warm)
        for span in self.spans(settings):
            text = job(settings, str(settings.workload["rw"]), {}) + LOG.format(name=span.name)
            script = written(span.name, text, counters(filesystem))
            found.append(Phase(span.name, script, deadline(size) + _seconds(settings), True, under_load=True))
        # A flush, so that what the runs wrote is in the accounts.
        return [*found, Phase("flush", f"{filesystem.flush()}\n{filesystem.accounts()}", 120, measures=False)]

    def spans(self, settings: Settings) -> list[Span]:
        way = str(settings.workload["rw"])
        alone = settings.workload.get("engine", "psync") in PLAIN and DIRECTIONS.get(way) != BOTH
        return [Span(way, number, DIRECTIONS.get(way, BOTH), alone=alone) for number in range(1, runs(settings) + 1)]

    def names(self, settings: Settings) -> frozenset[str]:
        metrics = {"bandwidth", "iops", "bytes_moved", *LATENCIES}
        if DIRECTIONS[str(settings.workload["rw"])] == BOTH:
            metrics = {f"{way}_{metric}" for way in (READ, WRITE) for metric in metrics}
        return frozenset(metrics) | COUNTERS

    def metrics(self, run: RunFiles, number: int) -> dict[str, float]:
        span = next(each for each in run.spans if each.run == number)
        text = run.text(f"fio.{span.name}.json")
        (values,) = (each.values for each in Fio().runs(text))
        return values | _counted(run, book(run, span))

    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        return {span.name: sum(way.moved for way in printed(run, span).merged.values()) for span in run.spans}

    def wanted_bytes(self, settings: Settings) -> dict[str, int]:
        if "seconds" in settings.workload:
            return {}
        work = int(settings.workload.get("work", settings.workload["size"]))
        return {span.name: work * int(settings.workload.get("jobs", 1)) for span in self.spans(settings)}

    def moved_bytes(self, settings: Settings) -> int:
        return int(settings.workload["size"]) * (2 if settings.cache == WARM else 1) + super().moved_bytes(settings)

    def scattered(self, settings: Settings) -> int:
        block = int(settings.workload.get("block", BLOCK))
        return sum(self.wanted_bytes(settings).values()) // block if str(settings.workload["rw"]).startswith("rand") else 0

    def failures(self, run: RunFiles) -> list[str]:
        found = {name: read(run.text(f"fio.{name}.json")) for name in ("layout", *(span.name for span in run.spans))}
        return [f"{name}: {job.name}: fio error {job.error}" for name, out in found.items() for job in out.jobs if job.error]

    def too_fast(self, run: RunFiles, number: int) -> frozenset[str]:
        span = next(each for each in run.spans if each.run == number)
        (found,) = (each.too_fast for each in Fio().runs(run.text(f"fio.{span.name}.json")))
        return frozenset(found)

    def payload_bytes(self, settings: Settings) -> int:
        return 0

    def promise(self, settings: Settings) -> Band | None:
        """Of zeros next to nothing is stored where anything is compressed; of buffers what their percentage leaves."""
        compressed = settings.properties.get("compression", "off") != "off"
        if compressed and settings.workload.get("layout", "buffers") == "zeros":
            return FROM_HOLES
        percent = int(settings.workload.get("compress_percentage", 0))
        ratio = 100 / (100 - percent) if compressed else 1.0
        return (BAND[0] * ratio, BAND[1] * ratio) if ratio > 1 else INCOMPRESSIBLE

    def ratios(self, run: RunFiles) -> list[float]:
        """Of the file alone: beside holes, the metadata of a pool are all there is, and have a ratio of their own."""
        logical, allocated = laid_out(run)
        return [logical / allocated]

    def beyond_cache(self, settings: Settings) -> bool:
        """Runs that follow each other read what the one before left: only a file larger than the ARC keeps the disks in it."""
        return READ in str(settings.workload["rw"]) and (runs(settings) > 1 or settings.cache != "cold")

    def pace(self, run: RunFiles, span: Span) -> Pace:
        """fio takes a second and more to start on an emulated CPU, often longer than its work."""
        seconds = max((way.runtime_s for way in printed(run, span).merged.values()), default=0.0)
        return Pace(seconds or run.elapsed(span), core_busy(run.text(f"fio.{span.name}.json")))

    def logged(self, run: RunFiles, number: int) -> Iterator[tuple[float, str, float, str]]:
        """Its bandwidth of each second (ms, KiB/s); a run of less than that has none."""
        name = f"fio.{numbered(str(run.settings['workload']['rw']), number)}_bw.log"
        for line in run.text(name).splitlines() if run.has(name) else []:
            if match := _LOGGED.fullmatch(line):
                yield int(match.group(1)) / 1000, "bandwidth", int(match.group(2)) * 1024.0, "B/s"

    def histograms(self, run: RunFiles, number: int) -> dict[str, dict[float, int]]:
        span = next(each for each in run.spans if each.run == number)
        ways = printed(run, span).merged.items()
        return {way: dict(done.latency.bins) for way, done in ways if done.latency and done.latency.bins}


def printed(run: RunFiles, span: Span) -> Output:
    return read(run.text(f"fio.{span.name}.json"))


def core_busy(text: str) -> float:
    """The share of one core that fio's job kept busy, by fio's own account: a single job cannot have more."""
    jobs = document(text, "fio").nodes("jobs")
    return min(1.0, max((job.number("usr_cpu") + job.number("sys_cpu")) / 100 for job in jobs))


def laid_out(run: RunFiles) -> tuple[int, int]:
    """(logical, allocated) bytes of the file before the first run, as stat tells them."""
    logical, blocks, unit = (whole(word, "file") for word in run.text("file").split())
    return logical, blocks * unit


def _counted(run: RunFiles, made: Book) -> dict[str, float]:
    """What the guest counted while fio ran, and how much of its file is allocated."""
    logical, allocated = laid_out(run)
    found: dict[str, float] = {
        "pool_bytes_read": made.pool.bytes_read,
        "pool_bytes_written": made.pool.bytes_written,
        "device_share": made.pool.bytes_read / (made.application or 0),
        "allocated_bytes": allocated,
        "logical_bytes": logical,
        "allocated_share": allocated / logical,
        "cpu_busy": made.cpu_busy,
        "core_busy": made.core_busy,
        "device_busy": min(1.0, made.device_busy),
    }
    return found | _cached(made, logical)


def _cached(made: Book, logical: int) -> dict[str, float]:
    cache = made.cache
    if cache is None:
        return {}
    found: dict[str, float] = {
        "demand_hits": cache.demand_hits + cache.demand_iohits,
        "demand_misses": cache.demand_misses,
        "prefetch_hits": cache.brought_by_prefetch,
        "mru_hits": cache.mru_hits,
        "mfu_hits": cache.mfu_hits,
        "arc_share": cache.data_bytes / logical,
    }
    if cache.demand_accesses:
        found["hit_ratio"] = cache.hit_ratio
    if hits := cache.demand_hits + cache.demand_iohits:
        # Hits on what prefetch had brought are hits too, but not those of a cache that remembers.
        found["demand_share"] = max(0, hits - cache.brought_by_prefetch) / hits
    if hits := cache.mru_hits + cache.mfu_hits:
        found["mfu_share"] = cache.mfu_hits / hits
    return found


# Job files


def known(settings: Settings) -> None:
    way, layout = str(settings.workload["rw"]), str(settings.workload.get("layout", "buffers"))
    if way not in DIRECTIONS:
        raise unknown("settings.workload.rw", "kind of access", way, DIRECTIONS)
    if layout not in ("zeros", "buffers"):
        raise unknown("settings.workload.layout", "layout", layout, ("zeros", "buffers"))


def _seconds(settings: Settings) -> int:
    return int(settings.workload.get("seconds", 0))


def written(name: str, text: str, snap: str = "") -> str:
    """Keep the job file and run it; measured (with ``snap``) between marks."""
    run = f"fio --output-format=json+ --output=$OUT/fio.{name}.json $OUT/fio.{name}.job\n"
    work = f"{snap}{timed(name, run)}" if snap else run
    return f"cat >$OUT/fio.{name}.job <<END\n{text}END\n{work}"


def layout_job(settings: Settings) -> str:
    return job(settings, "write", _whole_file(settings))


def _whole_file(settings: Settings) -> dict[str, int | str]:
    """One pass by one job, in large blocks, whatever the runs do."""
    return {"bs": LAYOUT_BLOCK, "io_size": int(settings.workload["size"]), "fsync": 0, "numjobs": 1, "direct": 0}


def job(settings: Settings, way: str, over: dict[str, int | str]) -> str:
    """A job file with every option said that the result depends on; ``over`` is what preparing does otherwise."""
    said = settings.workload
    options: dict[str, int | str] = {
        "filename": FILE,
        "size": said["size"],
        "rw": way,
        "bs": said.get("block", BLOCK),
        "ioengine": said.get("engine", "psync"),
        "iodepth": said.get("depth", 1),
        "numjobs": said.get("jobs", 1),
        "direct": said.get("direct", 0),
        "fsync": said.get("fsync", 0),
        "randrepeat": said.get("randrepeat", 1),
        "fallocate": "none",
        "invalidate": 0,  # what is cached is the business of the settings
        "fadvise_hint": 0,
        "group_reporting": 1,
        **_data(settings),
        **({} if DIRECTIONS[way] == READ else {"end_fsync": 1}),
        **(over or _amount(settings)),
    }
    return "[global]\nthread=1\n[" + way + "]\n" + "".join(f"{key}={value}\n" for key, value in options.items())


def _amount(settings: Settings) -> dict[str, int | str]:
    """So much work, or so much time: work is what counts mean the same by on every machine."""
    if "seconds" in settings.workload:
        return {"runtime": settings.workload["seconds"], "time_based": 1}
    return {"io_size": settings.workload.get("work", settings.workload["size"])}


def _data(settings: Settings) -> dict[str, int | str]:
    """What its buffers hold. fio repeats them unless they are refilled, and repeated blocks are no fair data."""
    if settings.workload.get("layout", "buffers") == "zeros":
        return {"zero_buffers": 1}
    percent = int(settings.workload.get("compress_percentage", 0))
    compressible: dict[str, int | str] = (
        {"buffer_compress_percentage": percent, "buffer_compress_chunk": CHUNK} if percent else {}
    )
    return {"refill_buffers": 1, **compressible}
