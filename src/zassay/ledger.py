"""The byte ledger: for each measured stretch of a run, who delivered or took the bytes, and what therefore bound it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zassay import readers, units
from zassay.readers import DiskCounters, Unreadable, busy_share
from zassay.record import RunFiles
from zassay.workloads import READ, Pace, Span

DEVICE, ARC, HOLE, HOST_CACHE, CPU, NETWORK, UNKNOWN = (
    "device-bound",
    "ARC-bound",
    "hole-bound",
    "host-cache-bound",
    "CPU-bound",
    "network-bound",
    "unknown",
)
# What the ARC is to ZFS, the page cache of the guest is to the kernel's own filesystems.
PAGE_CACHE = "page-cache-bound"
MOSTLY = 0.8
ARCSTATS = "arcstats"
# A throttled disk may run ahead of its limit for a moment (its bucket is full at first), a disk of files never knows one.
OUTRUN = 1.1
BURST = 4 << 20
DEFAULT_RECORD = 128 << 10


@dataclass(frozen=True)
class Cache:
    """The ARC's counts between two moments, demand and prefetch of data apart; ``data_bytes``: what it held, uncompressed."""

    hits: int
    misses: int
    accesses: int
    demand_hits: int
    demand_iohits: int
    demand_misses: int
    prefetch_hits: int
    prefetch_iohits: int
    prefetch_misses: int
    brought_by_prefetch: int
    mru_hits: int
    mfu_hits: int
    l2_hits: int
    l2_misses: int
    l2_bytes: int
    data_bytes: int
    most_bytes: int
    dbuf_hits: int | None = None
    dbuf_misses: int | None = None

    @property
    def demand_accesses(self) -> int:
        return self.demand_hits + self.demand_iohits + self.demand_misses

    @property
    def hit_ratio(self) -> float:
        """Demand accesses that no device was asked for anew; a hit on data on their way (iohit) is one: versions differ there."""
        return (self.demand_hits + self.demand_iohits) / self.demand_accesses if self.demand_accesses else 0.0

    @property
    def fetched(self) -> int:
        """Data blocks that the pool had to be asked for, whoever asked; the second level answered for some."""
        return max(0, self.demand_misses + self.prefetch_misses - self.l2_hits)

    @property
    def adds_up(self) -> bool:
        return self.hits + self.misses == self.accesses


@dataclass(frozen=True)
class Book:
    """One measured stretch of one run. Bytes; shares are 0 to 1: ``cpu_busy`` of all processors between the marks, ``core_busy``
    of one processor and ``device_busy`` of the pool's disks while the tool says that it worked.

    ``application``: the tool's own count. ``process``: the kernel's, of the tool's processes. ``dataset``: the filesystem's, of
    its callers. ``devices``: the guest's disks by role. ``host``: the same disks as QEMU counts them. What none counted is None.
    """

    phase: str
    run: int
    moves: str
    seconds: float
    application: int | None
    process: int | None
    dataset: int | None
    cache: Cache | None
    pool: DiskCounters
    devices: dict[str, DiskCounters]
    host: DiskCounters | None
    network: int | None
    cpu_busy: float
    core_busy: float
    device_busy: float
    bound: str

    @property
    def moved(self) -> int:
        """Bytes on the pool's disks in the direction of the work."""
        return self.pool.bytes_read if self.moves == READ else self.pool.bytes_written


def book(run: RunFiles, span: Span) -> Book:
    """Read the ledger of one span, once a record; raises Unreadable when a counter is missing or cut."""
    if span not in run.books:
        run.books[span] = _read(run, span)
    found: Book = run.books[span]
    return found


def _read(run: RunFiles, span: Span) -> Book:
    pool, pace = run.pool_delta(span), _pace(run, span)
    found: dict[str, Any] = {
        "phase": span.phase,
        "run": span.run,
        "moves": span.moves,
        "seconds": run.elapsed(span),
        "application": _said(run, span),
        "process": _process(run, span),
        "dataset": _dataset(run, span),
        "cache": cache(run, span) if any(ARCSTATS in path for path in run.filesystem.counters()) else None,
        "pool": pool,
        "devices": run.device_deltas(span),
        "host": host(run, span),
        "network": _network(run, span),
        "cpu_busy": busy_share(*run.pair(span)),
        "core_busy": pace.core,
        "device_busy": pool.busy_ms / 1000 / pace.seconds / len(pool_roles(run)),
    }
    return Book(**found, bound=_bound(run, Book(**found, bound=UNKNOWN)))


def _said(run: RunFiles, span: Span) -> int | None:
    """The tool's own count. Output that cannot be read says nothing here; that it cannot is for the gate ``counted`` to tell."""
    try:
        return run.counted.get(span.name)
    except Unreadable:
        return None


def _pace(run: RunFiles, span: Span) -> Pace:
    try:
        return run.workload.pace(run, span)
    except Unreadable:
        return Pace(run.elapsed(span))


def pool_roles(run: RunFiles) -> list[str]:
    return [role for role in run.facts["disks"] if role.startswith("pool")]


def cache(run: RunFiles, span: Span) -> Cache:
    arc = run.kstat_delta(span, "arcstats")
    before, after = map(readers.kstat, run.snaps(span, "arcstats"))
    dbuf = run.kstat_delta(span, "dbufstats") if run.snapped(span, "dbufstats") else {}
    return Cache(
        hits=arc["hits"],
        misses=arc["misses"] + arc.get("iohits", 0),
        accesses=sum(arc.get(f"{kind}_{part}", 0) for kind in KINDS for part in ("hits", "iohits", "misses")),
        demand_hits=arc["demand_data_hits"],
        demand_iohits=arc.get("demand_data_iohits", 0),
        demand_misses=arc["demand_data_misses"],
        prefetch_hits=arc["prefetch_data_hits"],
        prefetch_iohits=arc.get("prefetch_data_iohits", 0),
        prefetch_misses=arc["prefetch_data_misses"],
        brought_by_prefetch=sum(arc.get(f"demand_{part}_{kind}_prefetch", 0) for part in ("hit", "iohit") for kind in PREFETCHES),
        mru_hits=arc["mru_hits"],
        mfu_hits=arc["mfu_hits"],
        l2_hits=arc["l2_hits"],
        l2_misses=arc["l2_misses"],
        l2_bytes=arc["l2_read_bytes"],
        data_bytes=max(before["uncompressed_size"], after["uncompressed_size"]),
        most_bytes=after["c_max"],
        dbuf_hits=dbuf.get("hash_hits"),
        dbuf_misses=dbuf.get("hash_misses"),
    )


KINDS = ("demand_data", "demand_metadata", "prefetch_data", "prefetch_metadata")
PREFETCHES = ("predictive", "prescient")


def _process(run: RunFiles, span: Span) -> int | None:
    """Bytes that the tool's processes asked the kernel for. Our shell inherits the counts of a child when that has ended."""
    if not span.alone or not run.snapped(span, "io"):
        return None
    before, after = map(readers.colon_table, run.snaps(span, "io"))
    key = "rchar" if span.moves == READ else "wchar"
    return after[key] - before[key]


def _dataset(run: RunFiles, span: Span) -> int | None:
    """What ZFS says that its callers read or wrote, over all its datasets (one kstat each)."""
    start, end = span.marks
    names = [path.name.removeprefix(f"snap.{end}.") for path in sorted((run.folder / "guest").glob(f"snap.{end}.objset-*"))]
    key = "nread" if span.moves == READ else "nwritten"
    sums = [sum(readers.dataset_kstat(run.text(f"snap.{mark}.{name}"))[key] for name in names) for mark in (start, end)]
    return sums[1] - sums[0] if names else None


def _network(run: RunFiles, span: Span) -> int | None:
    if not run.snapped(span, "dev"):
        return None
    before, after = map(readers.network, run.snaps(span, "dev"))
    return after - before


def host(run: RunFiles, span: Span) -> DiskCounters | None:
    """The pool's disks by QEMU's count around a phase of the span's name; tools that make several phases at once have none."""
    phase = run.host.get("phases", {}).get(span.name)
    if phase is None:
        return None
    before, after = (_host_sum(phase[end]["disks"], pool_roles(run)) for end in ("start", "end"))
    return readers.minus(before, after)


def _host_sum(nodes: dict[str, dict[str, int]], roles: list[str]) -> DiskCounters:
    keys = ("rd_operations", "rd_bytes", "wr_operations", "wr_bytes")
    mine = [stats for node, stats in nodes.items() if node.removesuffix("-slow") in roles]
    reads, bytes_read, writes, bytes_written = (sum(stats[key] for stats in mine) for key in keys)
    return DiskCounters(reads, bytes_read, writes, bytes_written, busy_ms=0)


def host_bytes(run: RunFiles) -> tuple[int, int]:
    """(written, read) bytes of the pool's disks as QEMU counted them over the guest's whole life."""
    roles = pool_roles(run)
    stats = [each["stats"] for each in run.host["blockstats"] if each.get("node-name", "").removesuffix("-slow") in roles]
    return sum(s["wr_bytes"] for s in stats), sum(s["rd_bytes"] for s in stats)


def record_size(run: RunFiles) -> int:
    said = run.settings.get("properties", {}).get("recordsize")
    return units.parse_bytes(said) if said else DEFAULT_RECORD


def _bound(run: RunFiles, made: Book) -> str:
    if outran(run, made):
        return HOST_CACHE
    cpu = max(made.cpu_busy, made.core_busy)
    if made.moves != READ:
        return _waiting(run, made, _busiest(made.device_busy, cpu))
    logical, used = run.space(made.run)
    wanted = (made.application or 0) * used / logical
    label = _label(from_cache(run, made), made.pool.bytes_read / wanted if wanted else 0.0, made.device_busy, cpu)
    if label == ARC and made.cache is None:
        return PAGE_CACHE
    return _waiting(run, made, label)


def _waiting(run: RunFiles, made: Book, label: str) -> str:
    """Over a network nothing of the guest's own needs to be busy."""
    idle = max(made.device_busy, made.cpu_busy, made.core_busy) < MOSTLY
    return NETWORK if run.plan.path == "nfs" and idle and label in (UNKNOWN, DEVICE, CPU) else label


def from_cache(run: RunFiles, made: Book) -> float:
    """The share of the bytes that the caches of the guest delivered (0 to 1): of ZFS by its own counts."""
    if made.cache is None or not made.application:
        return 1.0
    return min(1.0, made.cache.demand_hits * record_size(run) / made.application)


def limit(run: RunFiles) -> int:
    """Bytes per second that all pool disks together can move; 0 where one of them has no limit."""
    limits = [run.settings["machine"]["disks"].get(role, {}).get("bytes_per_s", 0) for role in pool_roles(run)]
    return sum(limits) if all(limits) else 0


def outran(run: RunFiles, made: Book) -> bool:
    """More than the device can do: something on the host answered in its place."""
    most = limit(run)
    return bool(most) and made.moved > OUTRUN * most * made.seconds + BURST


def _label(hits: float, from_device: float, device_busy: float, cpu_busy: float) -> str:
    """The first that explains the time: bytes that never came from the device, then the busiest resource."""
    if from_device < 1 - MOSTLY:
        return ARC if hits >= MOSTLY else HOLE
    busiest = _busiest(device_busy, cpu_busy)
    if busiest == UNKNOWN and from_device < MOSTLY:
        return ARC if hits > from_device else DEVICE
    return busiest


def _busiest(device_busy: float, cpu_busy: float) -> str:
    if max(device_busy, cpu_busy) < 1 - MOSTLY:
        return UNKNOWN
    return DEVICE if device_busy >= MOSTLY or device_busy > cpu_busy else CPU
