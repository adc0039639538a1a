"""Ask the statistics how many further blocks a study needs, by interval width alone; or plan sizes from a pilot."""

from __future__ import annotations

import argparse

from zassay import campaign, study
from zassay.errors import Problem
from zassay.proc import run

DEADLINE_S = 300.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("--plan", action="store_true", help="blocks and runs for the next campaign, these data being a pilot")
    parser.add_argument("--least", type=int, default=10, help="blocks before the rule may stop (default: 10)")
    parser.add_argument("--most", type=int, default=40, help="blocks at which it stops in any case (default: 40)")


def main(args: argparse.Namespace) -> None:
    """Prints what the engine says; it writes blocks.json (rule and path of half-widths) beside the dataset."""
    setup = campaign.load()
    name = study.check_name(setup.root, args.study)
    folder = setup.study_dir(name)
    if not (folder / "dataset.csv").is_file():
        raise Problem(f"{folder}/dataset.csv is missing", "measure first: snakemake --cores 4")
    words = [str(setup.root / "analysis" / "exec" / "blocks"), "--study-dir", str(folder)]
    words += ["--claims", str(setup.root / "studies" / name / "claims.yaml")]
    words += ["--plan"] if args.plan else ["--least", str(args.least), "--most", str(args.most)]
    print(run(words, deadline_s=DEADLINE_S).out, end="")
