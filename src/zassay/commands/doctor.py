"""Say what this host lacks: accelerator, tools and versions, disk, memory; each line ok, missing or fix."""

from __future__ import annotations

import argparse

from zassay import doctor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--probe", action="store_true", help="try KVM by booting an image's kernel (up to ten seconds)")


def main(args: argparse.Namespace) -> int:
    """Print each finding as it is made; 1 when any is not ok."""
    bad = 0
    for finding in doctor.findings(args.probe):
        print(finding, flush=True)
        bad += finding.state != "ok"
    return 1 if bad else 0
