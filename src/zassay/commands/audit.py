"""Explain one boot's ledger: for each measured stretch who delivered the bytes, what bound it, and what the gates found."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zassay import gates
from zassay.errors import Problem
from zassay.gates import UNREADABLE, Verdict
from zassay.ledger import Book, book, from_cache, limit, pool_roles, record_size
from zassay.parse import judge
from zassay.readers import DiskCounters
from zassay.record import RunFiles
from zassay.units import show_bytes, show_seconds
from zassay.workloads import READ

# Label, bytes, what is to be said beside them.
Row = tuple[str, float | None, str]
WIDTH = 44
WHY = {
    "device-bound": "the pool's disks were the busiest",
    "ARC-bound": "the ARC delivered the bytes",
    "page-cache-bound": "the guest's page cache delivered the bytes",
    "hole-bound": "hardly a byte is stored: the filesystem made them up",
    "host-cache-bound": "more came than the disks can give: something on the host answered for them",
    "CPU-bound": "the processors were the busiest",
    "network-bound": "nothing in the guest was busy, and the way is over a network",
    "unknown": "nothing was busy, and nothing else explains the time",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, help="a folder of results/STUDY/raw/CELL/, such as block-01")


def main(args: argparse.Namespace) -> None:
    if not (args.run / "status.json").is_file():
        raise Problem(f"{args.run}: no record of a run", "such as results/STUDY/raw/CELL/block-01")
    print("\n".join(lines(RunFiles(args.run))))


def lines(run: RunFiles) -> Iterator[str]:
    """The whole text. A boot that failed has no ledger, and one whose counters cannot be read says which."""
    levels = " × ".join(f"{factor} {level}" for factor, level in run.settings.get("levels", {}).items())
    yield f"{run.folder}: {run.workload.name} on {run.filesystem.name}{': ' + levels if levels else ''}"
    if run.status["status"] != "ok":
        yield f"FAILED in step {run.status.get('step') or 'start'}: {run.status['reason']}"
        return
    found = gates.check_all(run)
    status, _, flags = judge(found, emulated=run.facts["validity"]["class"] == "E")
    yield f"{status}, validity class {run.facts['validity']['class']}" + (f", flags {', '.join(flags)}" if flags else "")
    for span in run.spans:
        yield ""
        try:
            yield from _stretch(run, book(run, span))
        except UNREADABLE as error:
            yield f"run {span.run}, {span.phase}: no ledger: {error}"
    yield from ["", *_verdicts(found)]


def _stretch(run: RunFiles, made: Book) -> Iterator[str]:
    yield f"run {made.run}, {made.phase}: {show_seconds(made.seconds)}, {made.bound}: {WHY[made.bound]}"
    for label, count, note in _rows(run, made):
        amount = "" if count is None else show_bytes(count)
        share = "" if count is None or not made.application else f"{count / made.application:.1%}"
        yield f"  {label:<{WIDTH}}{amount:>12}{share:>9}  {note}".rstrip()
    yield f"  {_busy(run, made)}"


def _rows(run: RunFiles, made: Book) -> Iterator[Row]:
    """From the tool down to the host, each with what it counts; the share is of what the tool says."""
    verb = "read" if made.moves == READ else "moved"
    yield f"{run.workload.name} says that it {verb}", made.application, ""
    yield from _counted("the kernel, of the tool's processes", made.process)
    yield from _counted("the filesystem, of its callers", made.dataset)
    yield from _cache(run, made)
    logical, used = run.space(made.run)
    yield "the pool's disks", made.moved, f"× {logical / used:.2f} (compression) = {show_bytes(made.moved * logical / used)}"
    for role, disk in made.devices.items():
        if role in pool_roles(run) or disk.bytes_read or disk.bytes_written:
            yield f"  {role}", None, _disk(disk)
    if made.host:
        yield "the same disks, as QEMU counts them", _way(made, made.host), _disk(made.host)
    if made.network:
        yield "over the network", made.network, ""


def _counted(label: str, count: int | None) -> Iterator[Row]:
    if count is not None:
        yield label, count, ""


def _cache(run: RunFiles, made: Book) -> Iterator[Row]:
    cache = made.cache
    if cache is None:
        return
    record = record_size(run)
    sums = (
        f"{cache.hits} hits + {cache.misses} misses = {cache.accesses} accesses{'' if cache.adds_up else ': THEY DO NOT ADD UP'}"
    )
    yield "the ARC, all it was asked", None, sums
    if made.moves == READ:
        share = f", {from_cache(run, made):.0%} of the bytes" if made.application else ""
        yield "  data it had (demand hits)", cache.demand_hits * record, f"{cache.demand_hits} records{share}"
        yield "    of these, brought by prefetch", cache.brought_by_prefetch * record, f"{cache.brought_by_prefetch} records"
        yield "    of all hits, from MRU and MFU", None, f"{cache.mru_hits} and {cache.mfu_hits}"
        yield "  data on their way (iohits)", cache.demand_iohits * record, f"{cache.demand_iohits} records"
        yield "  data it had to fetch (demand misses)", cache.demand_misses * record, f"{cache.demand_misses} records"
        yield "  data it fetched ahead (prefetch misses)", cache.prefetch_misses * record, f"{cache.prefetch_misses} records"
    yield "  from the L2ARC", cache.l2_bytes, f"{cache.l2_hits} hits"
    yield "  it held at most, uncompressed", None, f"{show_bytes(cache.data_bytes)}; c_max is {show_bytes(cache.most_bytes)}"
    if cache.dbuf_hits is not None:
        yield "  dbufs, which are asked before it", None, f"{cache.dbuf_hits} hits, {cache.dbuf_misses} misses"


def _way(made: Book, disk: DiskCounters) -> int:
    return disk.bytes_read if made.moves == READ else disk.bytes_written


def _disk(disk: DiskCounters) -> str:
    parts = [(disk.reads, disk.bytes_read, "reads"), (disk.writes, disk.bytes_written, "writes")]
    return ", ".join(f"{count} {what} of {show_bytes(size)}" for count, size, what in parts if count) or "nothing"


def _busy(run: RunFiles, made: Book) -> str:
    shares: dict[str, Any] = {"all processors": made.cpu_busy, "one core": made.core_busy, "disks": made.device_busy}
    shown = ", ".join(f"{what} {share:.0%}" for what, share in shares.items() if share or what != "one core")
    most = (
        f"; the disks can do {show_bytes(limit(run))}/s, and did {show_bytes(made.moved / made.seconds)}/s" if limit(run) else ""
    )
    return f"busy: {shown}{most}"


def _verdicts(found: list[Verdict]) -> Iterator[str]:
    failed = [each for each in found if not each.passed]
    yield f"gates: {len(found) - len(failed)} of {len(found)} passed"
    for each in sorted(found, key=lambda one: one.passed):
        yield f"  {'ok  ' if each.passed else 'FAIL'} {each.gate:<11} expected {each.expected}; saw {each.actual}"
