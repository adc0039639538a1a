"""Write a study's plan (cells, blocks, seeded order) before its first run."""

from __future__ import annotations

import argparse

from zassay import campaign, files, plan, study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")


def main(args: argparse.Namespace) -> None:
    setup = campaign.load()
    made = plan.make(setup, study.load(setup.root, args.study, setup.scale))
    path = setup.study_dir(args.study) / "plan.json"
    files.write_json(path, made)
    print(f"{path}: {len(made['cells'])} cells × {made['blocks']} blocks, preregistered as {made['prereg'][:12]}")
