"""What a workload's samples say about one measured stretch: while the ARC fills and once it is full, while syncing and not.

All of it is about one run: traffic is what the dataset took from its callers (collector ``dataset``), the ARC is full from
the first sample on at which it holds 95 % of its maximum (``arc``), a transaction group syncs from when to when it says
(``txgs``), waits for locks are counted by the kernel (``contention``). A stretch too short for a number has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, stdev

from zassay.collectors import arc, contention, dataset, txgs
from zassay.readers import Sample, Unreadable, kstat
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.workloads import Span

FULL = 0.95
STALLED = 0.1
STEP_S = 1.0
# Fewer steps than this make no coefficient of variation that means anything.
FEWEST_STEPS = 5
BURSTS = ("write_cv_filling", "write_cv_full")
LOCKS = ("contentions_filling", "contentions_full", "bytes_filling", "bytes_full")
SYNCS = ("sync_share_stalled", "sync_share_moving")
NEEDS = {BURSTS: {"dataset", "arc"}, LOCKS: {"dataset", "arc", "contention"}, SYNCS: {"dataset", "txgs"}}
MAY_LACK = frozenset((*BURSTS, *LOCKS, *SYNCS))


@dataclass(frozen=True)
class Step:
    """An interval between two samples (s of uptime), and the bytes written and moved in it."""

    start: float
    end: float
    written: int
    moved: int

    @property
    def seconds(self) -> float:
        return self.end - self.start


def names(settings: Settings) -> frozenset[str]:
    """The metrics that the collectors of a study allow."""
    collected = set(settings.collect["names"])
    return frozenset(name for group, needs in NEEDS.items() if needs <= collected for name in group)


def metrics(run: RunFiles, span: Span) -> dict[str, float]:
    """Those of ``names`` that this stretch was long enough for."""
    wanted = names(run.plan)
    if not wanted:
        return {}
    start, end = (mark.uptime for mark in run.pair(span))
    seen = [sample for sample in run.samples if start <= sample.uptime <= end]
    found = _syncs(run, steps(seen)) if wanted >= set(SYNCS) else {}
    if wanted >= set(BURSTS):
        full = filled_at(seen, end)
        for name, part in (("filling", lambda step: step.end <= full), ("full", lambda step: step.start >= full)):
            found |= _phase(run, name, list(filter(part, steps(seen))), wanted)
    return found


def steps(samples: Iterable[Sample]) -> list[Step]:
    """What went on between each sample and the next; a sample that was cut off holds no counts and is passed over."""
    counted = [(each.uptime, dataset.traffic(each.parts[dataset.SPEC])) for each in samples if dataset.SPEC in each.parts]
    found = []
    for (start, before), (end, after) in pairwise(counted):
        written, read = after.written - before.written, after.read - before.read
        if min(written, read) < 0:
            raise Unreadable(f"dataset: its counts went back at {end} s")
        if end > start:
            found.append(Step(start, end, written, written + read))
    return found


def filled_at(samples: Iterable[Sample], end: float) -> float:
    """When the ARC was first seen full; ``end`` where it never was."""
    for sample in samples:
        if arc.Arc.specs[0] in sample.parts:
            counts = kstat(sample.parts[arc.Arc.specs[0]])
            if counts["size"] >= FULL * counts["c_max"]:
                return sample.uptime
    return end


def _phase(run: RunFiles, name: str, part: list[Step], wanted: frozenset[str]) -> dict[str, float]:
    found = {}
    rates = [each.written / each.seconds for each in whole_seconds(part)]
    if len(rates) >= FEWEST_STEPS and fmean(rates) > 0:
        found[f"write_cv_{name}"] = stdev(rates) / fmean(rates)
    written = sum(each.written for each in part)
    if wanted >= set(LOCKS) and written:
        counts = contention.counts(run.text(contention.FILE), run.text(f"{contention.FILE}.start"))
        found[f"contentions_{name}"] = float(waits_between(counts, part[0].start, part[-1].end))
        found[f"bytes_{name}"] = float(written)
    return found


def whole_seconds(part: list[Step]) -> list[Step]:
    """Steps put together to at least a second each; what is left over at the end is dropped."""
    found, open_ = [], None
    for step in part:
        open_ = step if open_ is None else Step(open_.start, step.end, open_.written + step.written, open_.moved + step.moved)
        # Uptime comes in hundredths: ten tenths of a second must not fall short of one.
        if open_.seconds >= STEP_S - 0.01:
            found.append(open_)
            open_ = None
    return found


def waits_between(counts: list[tuple[float, int]], start: float, end: float) -> int:
    """Waits of the intervals that ended between two moments."""
    return sum(number for at, number in counts if start < at <= end)


def _syncs(run: RunFiles, part: list[Step]) -> dict[str, float]:
    syncing = [each.synced_at for each in txgs.every(run.samples) if each.state == "C"]
    return sync_shares(part, syncing)


def sync_shares(part: list[Step], syncing: list[tuple[float, float]]) -> dict[str, float]:
    """The share of time in which a group syncs, where hardly anything is moved and where something is."""
    if not part:
        return {}
    limit = STALLED * median(each.moved / each.seconds for each in part)
    kinds: dict[str, Callable[[Step], bool]] = {
        "stalled": lambda each: each.moved / each.seconds < limit,
        "moving": lambda each: each.moved / each.seconds >= limit,
    }
    shares = {name: _share([each for each in part if kind(each)], syncing) for name, kind in kinds.items()}
    return {f"sync_share_{name}": share for name, share in shares.items() if not math.isnan(share)}


def _share(part: list[Step], syncing: list[tuple[float, float]]) -> float:
    total = sum(each.seconds for each in part)
    covered = sum(max(0.0, min(each.end, stop) - max(each.start, start)) for each in part for start, stop in syncing)
    # Groups sync one at a time, so their times do not overlap; rounding must not make more of them than there is.
    return min(1.0, covered / total) if total else math.nan
