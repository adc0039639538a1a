"""Put a study's parsed runs into one tidy table, dataset.csv; beside it what figures draw of the runs, and timing.json."""

from __future__ import annotations

import argparse

from zassay import campaign, dataset, plan, series, study, timing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")


def main(args: argparse.Namespace) -> None:
    setup = campaign.load()
    study_dir = setup.study_dir(study.check_name(setup.root, args.study))
    planned = plan.read(study_dir)
    count = dataset.write(study_dir, planned)
    timing.write(study_dir, planned)
    for name, rows in series.write(study_dir, planned).items():
        if rows:
            print(f"{study_dir / name}: {rows} rows")
    print(f"{study_dir / 'dataset.csv'}: {count} rows")
