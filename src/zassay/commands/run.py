"""Measure one block of a study: every cell once, in the planned order, each in a fresh guest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zassay import campaign, files, plan, runner, study
from zassay.errors import Problem
from zassay.machine import hostlock, supervise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("--block", type=int, required=True, help="which block, from 1")
    parser.add_argument("--done", type=Path, help="written when the block is complete")
    parser.add_argument("--log", type=Path, help="log file (default: results/logs/run/<study>/block-NN.log)")
    parser.add_argument(
        "--retry-failed", action="store_true", help="measure failed runs again; the failed records are kept beside"
    )


def main(args: argparse.Namespace) -> None:
    supervise.install()
    setup = campaign.load()
    study_dir = setup.study_dir(args.study)
    what = study.load(setup.root, args.study, setup.scale)
    planned = plan.read(study_dir)
    if not 1 <= args.block <= planned["blocks"]:
        raise Problem(f"--block {args.block}: the plan has blocks 1 to {planned['blocks']}")
    _same_plan(what, planned, study_dir)
    log = args.log or setup.results / "logs" / "run" / args.study / f"block-{args.block:02d}.log"
    with hostlock.alone(lambda text: print(text, file=sys.stderr, flush=True)):
        counts = runner.run_block(setup, what, planned, args.block, log, args.retry_failed)
    if counts["ok"] == 0:
        raise Problem(f"every run of block {args.block} failed", f"log: {log}\nraw records: {study_dir / 'raw'}")
    if args.done:
        files.write_json(args.done, {"block": args.block, "prereg": planned["prereg"], **counts})


def _same_plan(what: study.Study, planned: dict[str, object], study_dir: Path) -> None:
    """A study edited between plan and run would be measured under a registration that does not cover it."""
    cells: list[dict[str, str]] = planned["cells"]  # type: ignore[assignment]
    if {c["id"]: c["digest"] for c in cells} != {c.id: c.settings.digest for c in what.cells}:
        raise Problem(
            f"{study_dir / 'plan.json'} is not the plan of the study as it is now",
            f"write it anew: zassay plan {what.name}",
        )
