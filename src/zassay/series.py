"""What happened inside the runs that count: series.csv from samples, latency.csv from histograms (docs/series.md).

Both feed figures alone. A record whose samples cannot be read gives no rows: it says so in the gates, if it matters there.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from zassay import collectors, files, registry
from zassay.collectors import Collector, Point
from zassay.dataset import number
from zassay.readers import Sample, Unreadable
from zassay.record import RunFiles
from zassay.workloads import Span

SERIES = ["study", "cell", "block", "run", "t_s", "series", "value", "unit"]
LATENCY = ["study", "cell", "block", "run", "op", "bin_s", "count"]
Row = dict[str, Any]


def write(study_dir: Path, plan: dict[str, Any]) -> dict[str, int]:
    """Write both tables; returns their rows by name. One without a row is not written, and an older one removed."""
    counts = {}
    tables: dict[str, tuple[list[str], Callable[[RunFiles], Iterator[Row]]]] = {
        "series.csv": (SERIES, series),
        "latency.csv": (LATENCY, latencies),
    }
    for name, (names, rows) in tables.items():
        found = [head | row for head, run in _counting(study_dir, plan) for row in rows(run)]
        (study_dir / name).unlink(missing_ok=True)
        if found:
            _table(study_dir / name, names, found)
        counts[name] = len(found)
    return counts


def _table(path: Path, names: list[str], found: Iterable[Row]) -> None:
    with files.atomic(path) as handle:
        writer = csv.DictWriter(handle, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def _counting(study_dir: Path, plan: dict[str, Any]) -> Iterator[tuple[Row, RunFiles]]:
    """The records of boots that count, in the order of cell and block."""
    for turn in sorted(plan["order"], key=lambda turn: (turn["cell"], turn["block"])):
        place = f"{turn['cell']}/block-{turn['block']:02d}"
        if files.read_json(study_dir / "parsed" / f"{place}.json")["status"] == "ok":
            head = {"study": plan["study"], "cell": turn["cell"], "block": turn["block"]}
            yield head, RunFiles(study_dir / "raw" / place)


def series(run: RunFiles) -> Iterator[Row]:
    """Samples of each run by collector, and when it was in which phase where it has several."""
    every = registry.every(collectors, Collector)
    wanted = [every[name]() for name in run.plan.collect["names"]]
    for at in run.numbers:
        spans = [span for span in run.spans if span.run == at]
        start, end = run.pair(spans[0])[0].uptime, run.pair(spans[-1])[1].uptime
        points = sorted(_points(run, wanted, spans, start, end), key=lambda point: point.uptime)
        for point in points:
            if start <= point.uptime <= end:
                moment = {"run": at, "t_s": number(round(point.uptime - start, 3)), "series": point.series}
                yield moment | {"value": number(point.value), "unit": point.unit}


def _points(run: RunFiles, wanted: list[Collector], spans: list[Span], start: float, end: float) -> Iterator[Point]:
    if len(spans) > 1:
        yield from (Point(run.pair(span)[0].uptime, f"phase_{span.phase}", run.elapsed(span), "s") for span in spans)
    yield from (Point(start + t_s, name, value, unit) for t_s, name, value, unit in run.workload.logged(run, spans[0].run))
    seen = window(run.samples, start, end)
    for collector in wanted if seen else []:
        try:
            yield from collector.series(run, seen)
        except Unreadable:
            continue


def window(samples: list[Sample], start: float, end: float) -> list[Sample]:
    """The samples of a stretch, and the last one before it, from which its first second is counted."""
    before = [sample for sample in samples if sample.uptime < start]
    return before[-1:] + [sample for sample in samples if start <= sample.uptime <= end]


def latencies(run: RunFiles) -> Iterator[Row]:
    for at in run.numbers:
        for operation, counts in run.workload.histograms(run, at).items():
            for seconds, count in sorted(counts.items()):
                yield {"run": at, "op": operation, "bin_s": number(seconds), "count": count}
