"""Read the raw records of a study into gates, metrics and ledgers (no virtual machine needed)."""

from __future__ import annotations

import argparse

from zassay import campaign, files, parse, plan, study
from zassay.errors import Problem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")


def main(args: argparse.Namespace) -> None:
    setup = campaign.load()
    study_dir = setup.study_dir(study.check_name(setup.root, args.study))
    counts: dict[str, int] = {}
    for turn in plan.read(study_dir)["order"]:
        place = f"{turn['cell']}/block-{turn['block']:02d}"
        if not (study_dir / "raw" / place / "status.json").is_file():
            raise Problem(f"{study_dir / 'raw' / place}: no record of this run", "measure it: snakemake --cores 4")
        parsed = parse.parse_run(study_dir / "raw" / place)
        files.write_json(study_dir / "parsed" / f"{place}.json", parsed)
        counts[parsed["status"]] = counts.get(parsed["status"], 0) + 1
        if parsed["status"] != "ok":
            print(f"{place}: {parsed['status']}: {parsed['reason']}")
    print(f"{args.study}: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
