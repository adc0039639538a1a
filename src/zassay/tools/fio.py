"""fio's JSON and JSON+ (2.1 to 3.x): jobs, directions and latencies, checked against what else the same file says.

fio 2 counts KiB and µs, fio 3 bytes and ns; here all is bytes and seconds. Beside each total stand the rate and the time
that it must agree with, so a spoiled digit is found and not believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from zassay.readers import Unreadable
from zassay.tools import Kind, Run, Tool, fio_bins
from zassay.tools.fields import Node, agree, document

DIRECTIONS = ("read", "write", "trim", "mixed")
PERCENTILES = {"clat_p50": 50.0, "clat_p99": 99.0, "clat_p999": 99.9}
# A percentile with fewer samples beyond it is mostly chance.
FEWEST_BEYOND = 30
BIN_ERROR = 1 / 64


@dataclass(frozen=True)
class Latency:
    """Completion latency in seconds. ``bins``: seconds -> count, empty without JSON+; ``percentiles``: percent -> seconds."""

    count: int
    least: float
    mean: float
    most: float
    sd: float
    percentiles: dict[float, float]
    bins: dict[float, int]

    def percentile(self, percent: float) -> float | None:
        """From the histogram; without one, as fio printed it; None where nothing says it or too few samples lie beyond."""
        if self.count * (1 - percent / 100) < FEWEST_BEYOND - 1e-9:
            return None
        if self.bins:
            return fio_bins.percentile(self.bins, percent)
        return self.percentiles.get(percent)


@dataclass(frozen=True)
class Direction:
    """What was moved one way. ``iops`` is fio's own where it does not print the number of operations (``operations`` None)."""

    moved: int
    runtime_s: float
    operations: int | None
    printed_iops: float
    short: int
    dropped: int
    latency: Latency | None

    @property
    def bandwidth(self) -> float:
        return self.moved / self.runtime_s

    @property
    def iops(self) -> float:
        return self.printed_iops if self.operations is None else self.operations / self.runtime_s


@dataclass(frozen=True)
class Job:
    """One job, or one group where fio was told to report groups. ``directions`` holds only what it did."""

    name: str
    group: int
    error: int
    options: dict[str, str]
    directions: dict[str, Direction]


@dataclass(frozen=True)
class Output:
    """One output file."""

    version: str
    ended_at: int | None
    elapsed_s: float
    options: dict[str, str]
    jobs: tuple[Job, ...]

    @cached_property
    def merged(self) -> dict[str, Direction]:
        """All jobs together, by direction. They have to have run side by side: groups come one after the other."""
        groups = {job.group for job in self.jobs}
        if len(groups) > 1:
            raise Unreadable(f"jobs: {len(groups)} groups ran one after another; expected one group in a file")
        named = {way: [job.directions[way] for job in self.jobs if way in job.directions] for way in DIRECTIONS}
        return {way: _together(parts) for way, parts in named.items() if parts}


def read(text: str) -> Output:
    """What fio printed with ``--output-format=json`` or ``json+``; raises Unreadable."""
    top = document(text, "fio")
    version = top.text("fio version")
    if "jobs" not in top and "client_stats" in top:
        raise Unreadable("client_stats: output of a fio client for several servers; expected jobs, from fio on one host")
    nodes = top.nodes("jobs")
    if not nodes:
        raise Unreadable("jobs: empty; expected at least one job")
    ended = top.whole("timestamp") if "timestamp" in top else None
    elapsed = max((node.number("elapsed") for node in nodes if "elapsed" in node), default=0.0)
    return Output(version, ended, elapsed, _options(top, "global options"), tuple(_job(node) for node in nodes))


def _options(node: Node, key: str) -> dict[str, str]:
    found = node.node(key) if key in node else Node({}, "")
    return {name: found.text(name) for name in found.value}


def _job(node: Node) -> Job:
    error = node.whole("error")
    if "mixed" not in node:
        node.node("read"), node.node("write")  # both are always printed: one that is gone was spoiled, not idle
    ways = [way for way in DIRECTIONS if way in node]
    # A job that failed says nothing of its other numbers that could be trusted.
    sections = {} if error else {way: _direction(node.node(way)) for way in ways}
    done = {way: found for way, found in sections.items() if found is not None}
    if not error and not done:
        raise Unreadable(f"{node.path}: nothing was moved and no error is told; expected bytes in one direction")
    return Job(node.text("jobname"), node.whole("groupid"), error, _options(node, "job options"), done)


def _direction(node: Node) -> Direction | None:
    # fio 2.1 counts neither these nor the operations; where one is printed, so is the other.
    operations = node.whole("total_ios") if "total_ios" in node or "short_ios" in node else None
    runtime = node.whole("runtime")
    moved = _moved(node, runtime)
    iops = node.number("iops")
    if operations is not None:
        slack = 1.0 if type(node.get("iops")) is int else 0.01
        agree(node.at("iops"), iops, slack, 1000 * operations / runtime if runtime else 0, "total_ios and runtime")
        agree(node.at("total_ios"), operations > 0, 0, moved > 0, "io_bytes: none without the other")
    if not moved:
        return None
    latency = _latency(node, operations)
    short, dropped = (node.whole(key) if key in node else 0 for key in ("short_ios", "drop_ios"))
    return Direction(moved, runtime / 1000, operations, iops, short, dropped, latency)


def _moved(node: Node, runtime: int) -> int:
    """Bytes, in whichever unit this version counts them; ``bw`` (KiB/s) tells that the unit is understood."""
    said = node.whole("io_bytes")
    bandwidth = node.whole("bw")
    if "io_kbytes" not in node:
        # Rounded down twice: to whole KiB moved, then to whole KiB per second.
        kib_per_s, slack = (1000 * said / runtime, 1 + 1000 / runtime) if runtime else (0.0, 0.0)
        agree(node.at("bw"), bandwidth, slack, kib_per_s, "io_bytes in KiB and runtime")
        return said * 1024
    agree(node.at("io_kbytes"), node.whole("io_kbytes"), 0, said >> 10, "io_bytes")
    per_s = 1000 * said // runtime if runtime else 0
    agree(node.at("bw_bytes"), node.whole("bw_bytes"), 1, per_s, "io_bytes and runtime")
    agree(node.at("bw"), bandwidth, 1, per_s // 1024, "bw_bytes")
    return said


def _latency(node: Node, operations: int | None) -> Latency | None:
    key, unit = ("clat_ns", 1e9) if "clat_ns" in node else ("clat", 1e6)
    if key not in node:
        return None
    found = node.node(key)
    least, mean, most = (found.number(name) for name in ("min", "mean", "max"))
    bins = _bins(found)
    count = found.whole("N") if "N" in found else sum(bins.values()) or operations or 0
    if not count or not most:
        return None  # told not to take the time: gtod_reduce, disable_clat
    if not least <= mean <= most:
        raise Unreadable(f"{found.path}: min {least:g}, mean {mean:g}, max {most:g}; expected them in this order")
    if bins:
        agree(found.at("bins"), sum(bins.values()), 0, count, "N")
        agree(found.at("bins"), fio_bins.mean(bins), mean * BIN_ERROR + 1, mean, "mean")
    percentiles = {percent: value / unit for percent, value in _percentiles(found).items()}
    seconds = {value / unit: count for value, count in bins.items()}
    return Latency(count, least / unit, mean / unit, most / unit, found.number("stddev") / unit, percentiles, seconds)


def _bins(found: Node) -> dict[int, int]:
    node = found.node("bins") if "bins" in found else Node({}, "")
    bins: dict[int, int] = {}
    last = -1
    for key in node.value:
        value = int(key) if key.isascii() and key.isdigit() else -1
        if value <= last or fio_bins.middle(fio_bins.index(value)) != value:
            raise Unreadable(f"{node.at(key)}: no bin of fio's, or out of order; expected the middle of the next bin")
        bins[value] = node.whole(key)
        last = value
    return bins


def _percentiles(found: Node) -> dict[float, float]:
    node = found.node("percentile") if "percentile" in found else Node({}, "")
    values: dict[float, float] = {}
    for key in node.value:
        try:
            percent = float(key)
        except ValueError:
            percent = math.nan
        if not 0 <= percent <= 100:
            raise Unreadable(f"{node.at(key)}: {key!r} is no percentile; expected 0 to 100")
        if percent:  # fio 2 fills the list up with 0.00
            values[percent] = node.number(key)
    ordered = [values[percent] for percent in sorted(values)]
    if ordered != sorted(ordered):
        raise Unreadable(f"{node.path}: the values fall; expected that they grow with the percentile")
    return values


def _together(parts: list[Direction]) -> Direction:
    """Jobs side by side: bytes and operations add up, the longest runtime counts."""
    if len(parts) == 1:
        return parts[0]
    operations = [part.operations for part in parts]
    known = None if None in operations else sum(filter(None, operations))
    latencies = [part.latency for part in parts]
    return Direction(
        moved=sum(part.moved for part in parts),
        runtime_s=max(part.runtime_s for part in parts),
        operations=known,
        printed_iops=sum(part.printed_iops for part in parts),
        short=sum(part.short for part in parts),
        dropped=sum(part.dropped for part in parts),
        latency=None if None in latencies else _latencies([each for each in latencies if each]),
    )


def _latencies(parts: list[Latency]) -> Latency:
    """Moments pooled, histograms added; without histograms no percentile of all jobs is known."""
    count = sum(part.count for part in parts)
    mean = sum(part.count * part.mean for part in parts) / count
    squares = sum((part.count - 1) * part.sd**2 + part.count * (part.mean - mean) ** 2 for part in parts)
    bins = fio_bins.merged(part.bins for part in parts) if all(part.bins for part in parts) else {}
    sd = math.sqrt(squares / max(1, count - 1))
    return Latency(count, min(part.least for part in parts), mean, max(part.most for part in parts), sd, {}, bins)


KINDS = {
    "bandwidth": Kind("B/s", "higher"),
    "iops": Kind("1/s", "higher"),
    "bytes_moved": Kind("B", "none"),
    **dict.fromkeys(PERCENTILES, Kind("s", "lower")),
}


class Fio(Tool):
    """A file is one run. Where it moved data two ways, metrics are named read_bandwidth, write_bandwidth and so on."""

    name = "fio"
    kinds = KINDS | {f"{way}_{metric}": kind for way in DIRECTIONS for metric, kind in KINDS.items()}

    def runs(self, text: str) -> list[Run]:
        output = read(text)
        failed = [f"jobs[{index}] ({job.name}): fio error {job.error}" for index, job in enumerate(output.jobs) if job.error]
        started = "" if output.ended_at is None else _iso(output.ended_at - output.elapsed_s)
        if failed:
            return [Run(output.version, failure="; ".join(failed), started_at=started, duration_s=output.elapsed_s)]
        values: dict[str, float] = {}
        too_fast: list[str] = []
        for way, direction in output.merged.items():
            prefix = f"{way}_" if len(output.merged) > 1 else ""
            values |= {f"{prefix}{metric}": value for metric, value in _values(direction).items()}
            too_fast += [] if direction.runtime_s else [f"{prefix}bandwidth", f"{prefix}iops"]
        flags = ("short_io",) if any(each.short or each.dropped for each in output.merged.values()) else ()
        return [Run(output.version, values, tuple(too_fast), "", flags, started, output.elapsed_s)]


def _values(direction: Direction) -> dict[str, float]:
    values: dict[str, float] = {"bytes_moved": direction.moved}
    if direction.runtime_s:  # below one millisecond fio prints 0
        values |= {"bandwidth": direction.bandwidth, "iops": direction.iops}
    if direction.latency:
        found = {metric: direction.latency.percentile(percent) for metric, percent in PERCENTILES.items()}
        values |= {metric: value for metric, value in found.items() if value is not None}
    return values


def _iso(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
