"""Take in outputs of fio, bonnie++ or ior from outside: the same dataset, estimates and report, unchecked gates marked.

A map says which cell, block and run each file is (docs/import.md). Files are read whole and copied; none is changed.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

from zassay import campaign
from zassay.bundle.reanalyse import RSCRIPT
from zassay.errors import Problem
from zassay.importing import collect, layout, mapping, questions
from zassay.proc import run

DEADLINE_S = 600.0
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="outputs of one tool")
    parser.add_argument("--study", required=True, metavar="NAME", help="what the data shall be called")
    parser.add_argument("--map", type=Path, required=True, dest="mapping", metavar="FILE.yaml", help="what each file is")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="a new folder, with results and report of its own (default: results/NAME)"
    )
    parser.add_argument("--claims", type=Path, metavar="FILE.yaml", help="claims to decide (default: explore every factor)")
    parser.add_argument("--report", action="store_true", help="also estimate, draw and write DIR/report.html")


def main(args: argparse.Namespace) -> None:
    root = campaign.project_root()
    out = (args.out or root / "results" / args.study).absolute()
    check(args.study, out)
    known = mapping.load(args.mapping)
    factors, made = collect.collect(known, args.files, print)
    planned = layout.plan(args.study, known, factors, made)
    making = out.with_name(f".{out.name}.importing")
    shutil.rmtree(making, ignore_errors=True)
    try:
        count = layout.write(making / args.study, known, planned, made)
        questions.write(making / questions.STUDIES / args.study, planned, known.about, args.claims)
        questions.write_config(making / questions.CONFIG, planned, known.about)
        making.rename(out)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    failed = sum(bool(each.told.failure) for each in made)
    where = out / args.study / "dataset.csv"
    print(f"{where}: {count} rows, {len(made)} runs ({failed} failed), class {known.validity}")
    if args.report:
        for argv in stages(root, out, args.study):
            print(run(argv, deadline_s=DEADLINE_S, cwd=root, env={"LC_ALL": "C.UTF-8"}).out, end="")


def check(name: str, out: Path) -> None:
    if not NAME.fullmatch(name):
        raise Problem(f"--study {name}", "expected small letters, digits and hyphens")
    if out.exists():
        raise Problem(f"{out}: exists already", "name a new folder: --out DIR, or remove it")


def stages(root: Path, out: Path, name: str) -> list[list[str]]:
    """The later stages as commands; each may be run again by hand."""
    programs = root / "analysis" / "exec"
    asked, folder = out / questions.STUDIES, out / name
    common = ["--study-dir", str(folder), "--claims", str(asked / name / "claims.yaml")]
    report = ["--results", str(out), "--studies", name, "--studies-dir", str(asked), "--config", str(out / questions.CONFIG)]
    steps = [
        ["figures", *common, "--set", "data"],
        ["estimate", *common, "--lint", str(folder / "figures" / "lint.json")],
        ["figures", *common, "--set", "claims"],
        ["report", *report, "--out", str(out / "report.html")],
    ]
    return [[*RSCRIPT, str(programs / name), *words] for name, *words in steps]
