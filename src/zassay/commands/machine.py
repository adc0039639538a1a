"""Boot a study's image once and write down what the machine really is: accelerator, kernel, ZFS, CPU, clock."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay import campaign, facts, files, study
from zassay.machine import hostlock, supervise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("--out", type=Path, help="where to write the facts as JSON (default: print them)")


def main(args: argparse.Namespace) -> None:
    supervise.install()
    setup = campaign.load()
    what = study.load(setup.root, args.study, setup.scale)
    with hostlock.alone(print):
        found = {image: facts.facts(setup, image, what) for image in sorted({c.settings.image for c in what.cells})}
    for image, each in found.items():
        print(facts.summary(image, each))
    if args.out:
        files.write_json(args.out, found)
