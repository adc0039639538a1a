"""The byte ledger of a run: who delivered the bytes, and what therefore bound it."""

from __future__ import annotations

from dataclasses import dataclass

from zassay.readers import busy_share
from zassay.record import RunFiles

DEVICE, ARC, HOLE, HOST_CACHE, CPU, UNKNOWN = (
    "device-bound",
    "ARC-bound",
    "hole-bound",
    "host-cache-bound",
    "CPU-bound",
    "unknown",
)
MOSTLY = 0.8


@dataclass(frozen=True)
class Ledger:
    """Bytes and counts of one run. Pool bytes are the guest's block devices during the write and the read phase;
    host bytes are QEMU's own count for the same disks over the guest's whole life; shares are 0 to 1."""

    logical_bytes: int
    used_bytes: int
    pool_written: int
    pool_read: int
    host_written: int
    host_read: int
    arc_hits: int
    arc_misses: int
    arc_accesses: int
    demand_hits: int
    demand_accesses: int
    cpu_busy_write: float
    cpu_busy_read: float
    device_busy_write: float
    device_busy_read: float

    @property
    def hits_add_up(self) -> bool:
        return self.arc_hits + self.arc_misses == self.arc_accesses

    @property
    def write_bound(self) -> str:
        return _label(0.0, 1.0, self.device_busy_write, self.cpu_busy_write)

    @property
    def read_bound(self) -> str:
        hits = self.demand_hits / self.demand_accesses if self.demand_accesses else 0.0
        return _label(hits, self.pool_read / self.used_bytes, self.device_busy_read, self.cpu_busy_read)


def _label(hits: float, from_device: float, device_busy: float, cpu_busy: float) -> str:
    """The first that explains the time: bytes that never came from the device, then the busiest resource."""
    if from_device < 1 - MOSTLY:
        return ARC if hits >= MOSTLY else HOLE
    if max(device_busy, cpu_busy) < 1 - MOSTLY:
        return HOST_CACHE if from_device < MOSTLY else UNKNOWN
    if device_busy >= MOSTLY or device_busy > cpu_busy:
        return DEVICE
    return CPU


KINDS = ("demand_data", "demand_metadata", "prefetch_data", "prefetch_metadata")


def ledger(run: RunFiles) -> Ledger:
    """Read a run's ledger; raises Unreadable when a counter is missing or cut."""
    logical, used = run.space()
    arc = run.arc_delta("read")
    write, read = run.pool_delta("write"), run.pool_delta("read")
    host = host_bytes(run)
    return Ledger(
        logical_bytes=logical,
        used_bytes=used,
        pool_written=write.bytes_written,
        pool_read=read.bytes_read,
        host_written=host[0],
        host_read=host[1],
        arc_hits=arc["hits"],
        arc_misses=arc["misses"] + arc.get("iohits", 0),
        arc_accesses=sum(arc.get(f"{kind}_{part}", 0) for kind in KINDS for part in ("hits", "iohits", "misses")),
        demand_hits=arc["demand_data_hits"],
        demand_accesses=arc["demand_data_hits"] + arc["demand_data_misses"] + arc.get("demand_data_iohits", 0),
        cpu_busy_write=busy_share(*run.pair("write")),
        cpu_busy_read=busy_share(*run.pair("read")),
        device_busy_write=write.busy_ms / 1000 / run.elapsed("write"),
        device_busy_read=read.busy_ms / 1000 / run.elapsed("read"),
    )


def host_bytes(run: RunFiles) -> tuple[int, int]:
    """(written, read) bytes of the pool's disks as QEMU counted them."""
    roles = [role for role in run.facts["disks"] if role.startswith("pool")]
    stats = [each["stats"] for each in run.host["blockstats"] if each.get("node-name", "").removesuffix("-slow") in roles]
    return sum(s["wr_bytes"] for s in stats), sum(s["rd_bytes"] for s in stats)
