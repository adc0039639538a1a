"""Show what a study would measure here: cells, sizes, what cannot be kept, and about how long it takes."""

from __future__ import annotations

import argparse

from zassay import campaign, study
from zassay.progress import History, prior_s
from zassay.units import show_bytes, show_seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("--scale", help="a file of config/scales/ (default: the campaign's)")
    parser.add_argument("--accel", choices=["tcg", "kvm"], default="tcg", help="predict for this accelerator")


def main(args: argparse.Namespace) -> None:
    setup = campaign.load(scale=args.scale)
    what = study.load(setup.root, args.study, setup.scale)
    print(f"{what.name} ({what.source}): {what.title}\n{what.question}\n")
    _sizes(what)
    _unkept(what)
    _cells(what, setup, args.accel)


def _sizes(what: study.Study) -> None:
    arc = what.sizes["arc"]
    for name, size in what.sizes.items():
        print(f"  {name:<12} {show_bytes(size):>10}   {size / arc:g} × arc")


def _unkept(what: study.Study) -> None:
    print("\nwhat of the source cannot be kept:")
    for line in what.unkept:
        print(f"  - {line}")


def _cells(what: study.Study, setup: campaign.Campaign, accel: str) -> None:
    history = History(campaign.cache_dir(), what.name, setup.scale.name, accel)
    total = 0.0
    print(f"\n{len(what.cells)} cells × {setup.scale.blocks} blocks on machine {setup.scale.machine.name}:")
    for cell in what.cells:
        seconds = history.predict(cell.id, prior_s(int(cell.settings.workload.get("size", 0)), accel))
        total += seconds * setup.scale.blocks
        print(f"  {cell.id:<28} {show_seconds(seconds)}")
    print(f"\npredicted with {accel}: {show_seconds(total)}")
