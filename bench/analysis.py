"""How fast the statistics are: 10,000 runs (over 100,000 rows) from dataset to verdicts, and the parts of that.

A simulated campaign that pretends to be class V, so that every claim is decided; medians of one session. Prints the table and,
with ``--out``, writes it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from run import MIB, ROOT, Row, median_row, table, timed

from zassay import files

STUDY = "compression-levels"
BLOCKS, RUNS = 20, 18  # 28 cells: 10,080 runs of 12 metrics


def simulated(place: Path) -> tuple[Path, int]:
    """The campaign's folder and its number of rows."""
    folder = place / STUDY
    words = ["--study", STUDY, "--blocks", str(BLOCKS), "--runs", str(RUNS), "--class", "V", "--no-raw", "--out", str(folder)]
    timed([str(ROOT / "analysis/exec/simulate"), *words], ZASSAY_PRETEND="1")
    with (folder / "dataset.csv").open(encoding="utf-8") as handle:
        return folder, sum(1 for _ in handle) - 1


def estimates(repeats: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="zassay-bench-") as place:
        folder, rows = simulated(Path(place))
        paths = ["--study-dir", str(folder), "--claims", str(ROOT / "studies" / STUDY / "claims.yaml")]
        estimate = [str(ROOT / "analysis/exec/estimate"), *paths]
        whole = [timed(estimate) for _ in range(repeats)]
        plain = [timed([*estimate, "--no-mixed-model"])[0] for _ in range(repeats)]
        blocks = [timed([str(ROOT / "analysis/exec/blocks"), *paths])[0] for _ in range(repeats)]
    peak = max(memory for _, memory in whole) / MIB
    return [
        median_row(f"10,080 runs ({rows:,} rows) to verdicts", "≤ 30 s", [seconds for seconds, _ in whole]),
        Row("its memory at most", f"{peak:.0f} MiB", "≤ 2 GiB"),
        median_row("the same without the mixed model", "", plain),
        median_row("the same runs to a number of further blocks", "", blocks),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file to write the table to")
    args = parser.parse_args()
    text = table(estimates(args.repeats))
    print(text)
    if args.out:
        files.write_text(args.out, text)
    load = os.getloadavg()[0]
    if load > 1.5:
        print(f"load {load:.1f}: others were at work, so these seconds are too many", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
