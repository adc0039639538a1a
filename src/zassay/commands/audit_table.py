"""Recompute a published table: ratios, totals, conversions, means and their spread, as far as rounding allows.

Findings: impossible (no rounding explains it), truncated (digits were cut off), suspect (a reason is needed).
FILE.audit.yaml beside FILE.csv may declare relations that units and labels do not give away.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay.bundle.reanalyse import RSCRIPT
from zassay.campaign import project_root
from zassay.errors import Problem
from zassay.proc import run

DEADLINE_S = 120.0
FORMATS = ("text", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", type=Path, metavar="FILE.csv", help="columns metric and value (see docs/import.md), or any CSV")
    parser.add_argument("--format", choices=FORMATS, default="text", help="text (default), csv or json")
    parser.add_argument("--all", action="store_true", help="text: list the checks that came out right, too")


def main(args: argparse.Namespace) -> None:
    if not args.table.is_file():
        raise Problem(f"{args.table}: no such file", "expected a CSV file with one heading line")
    script = project_root() / "analysis" / "exec" / "audit"
    argv = [*RSCRIPT, str(script), f"--format={args.format}", *(["--all"] if args.all else []), str(args.table.resolve())]
    done = run(argv, deadline_s=DEADLINE_S, cwd=args.table.resolve().parent, env={"LC_ALL": "C.UTF-8"}, check=False)
    if done.code:
        raise _problem(done.out)
    print(done.out, end="")


def _problem(said: str) -> Problem:
    """R's own message (what is wrong and where, then what was expected), without the command that nobody typed."""
    first, *rest = said.removeprefix("error: ").splitlines() or ["R ended without a word"]
    return Problem(first, "\n".join(line.removeprefix("ℹ ") for line in rest))
