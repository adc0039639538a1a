"""How long reading many outputs of a tool takes: ``python bench/parsing.py`` prints a line for bench.md."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from zassay.tools.fio import Fio

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "fio"
# Two jobs with histograms of both directions, a group with one, and a file without: what campaigns leave.
SAMPLES = ("3.33-jobs-plus.json", "3.33-grouped-plus.json", "3.33-single.json")
BOUND_S = 60.0


def seconds_to_read(count: int, folder: Path) -> tuple[float, int]:
    """(seconds, bytes) of reading ``count`` files from disk, each to its metrics."""
    texts = [(GOLDEN / name).read_text(encoding="utf-8") for name in SAMPLES]
    paths = [folder / f"{number}.json" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(texts[number % len(texts)], encoding="utf-8")
    tool = Fio()
    start = time.perf_counter()
    for path in paths:
        if not tool.runs(path.read_text(encoding="utf-8"))[0].values:
            raise SystemExit(f"{path}: no values")
    return time.perf_counter() - start, sum(path.stat().st_size for path in paths)


def line(count: int = 10_000) -> tuple[str, str, str]:
    """(what, measured, bound) for the table of the bench."""
    with tempfile.TemporaryDirectory(prefix="zassay-parsing-") as folder:
        seconds, size = seconds_to_read(count, Path(folder))
    measured = f"{seconds:.1f} s ({1000 * seconds / count:.2f} ms each, {size / 2**20:.0f} MiB in all)"
    return f"parsing {count:,} fio JSON files", measured, f"≤ {BOUND_S:.0f} s"


if __name__ == "__main__":
    print(" | ".join(line(*(int(word) for word in sys.argv[1:]))))
