"""Analyse a bundle again from its tables, with no virtual machine, and compare the outcome byte for byte."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from zassay.bundle.reanalyse import Compared, reanalyse, verdict_changes
from zassay.campaign import project_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle's zip, or the folder it was unpacked to")
    parser.add_argument("--out", type=Path, help="new folder to keep the outcome in (default: a temporary one, removed)")


def main(args: argparse.Namespace) -> int:
    """0 when every derived file is the bundle's own, byte for byte, else 1."""
    start = time.monotonic()
    with ExitStack() as stack:
        made = args.out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="zassay-reanalyse-"))) / "again"
        found = reanalyse(args.bundle, made.absolute(), project_root(), lambda text: print(text, flush=True))
        tell(found, made.absolute())
    print(f"{time.monotonic() - start:.0f} s" + (f"; outcome in {args.out}" if args.out else ""))
    return int(any(item.state != "same" for item in found))


def tell(found: Sequence[Compared], out: Path) -> None:
    counts = Counter(item.state for item in found)
    for item in found:
        if item.state != "same" or item.name.endswith((".csv", ".html")):
            print(f"  {item.state:<8} {item.name}")
        if item.state == "differs" and item.name.endswith("/verdicts.csv"):
            for line in verdict_changes(out / "bundle" / item.name, out / item.name):
                print(f"           {line}")
    odd = len(found) - counts["same"]
    print(
        f"the same, byte for byte: {counts['same']} of {len(found)} files"
        if odd
        else f"the same, byte for byte: all {len(found)} files"
    )
