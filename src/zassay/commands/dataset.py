"""Put a study's parsed runs into one tidy table, dataset.csv, with its descriptor and timing.json."""

from __future__ import annotations

import argparse

from zassay import campaign, dataset, plan, study, timing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")


def main(args: argparse.Namespace) -> None:
    setup = campaign.load()
    study_dir = setup.study_dir(study.check_name(setup.root, args.study))
    planned = plan.read(study_dir)
    count = dataset.write(study_dir, planned)
    timing.write(study_dir, planned)
    print(f"{study_dir / 'dataset.csv'}: {count} rows")
