"""Compare bundles: how their circumstances differ, and claim by claim what the original predicts and what came out."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from zassay.bundle import comparison
from zassay.campaign import project_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundles", type=Path, nargs="+", metavar="BUNDLE", help="zips or folders, the original first")
    parser.add_argument(
        "--out", type=Path, help="keep environment.csv, claims.csv, links.csv, summary.csv and comparison.txt in this folder"
    )


def main(args: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="zassay-compare-") as work:
        out = (args.out or Path(work) / "out").absolute()
        comparison.compare(args.bundles, Path(work), out, project_root(), print)
