"""Boot a study's image once and write down what the machine really is: accelerator, kernel, ZFS, CPU, clock."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay import campaign, files, study
from zassay.machine import check, hostlock, supervise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("--out", type=Path, help="where to write the facts as JSON (default: print them)")


def main(args: argparse.Namespace) -> None:
    supervise.install()
    setup = campaign.load()
    what = study.load(setup.root, args.study, setup.scale)
    with hostlock.alone(print):
        facts = {image: check.facts(setup, image, what) for image in sorted({c.settings.image for c in what.cells})}
    for image, found in facts.items():
        print(check.summary(image, found))
    if args.out:
        files.write_json(args.out, facts)
