"""Lay out results/report.html as results/report.pdf, for printing."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay.campaign import project_root
from zassay.pdf import print_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", type=Path, nargs="?", help="the report's page (default: results/report.html)")
    parser.add_argument("--out", type=Path, help="file to write (default: beside the page)")


def main(args: argparse.Namespace) -> None:
    page = args.page or project_root() / "results" / "report.html"
    out = args.out or page.with_suffix(".pdf")
    print_page(page, out)
    print(f"{out}: {out.stat().st_size} bytes")
