"""Measure a bundle's campaign again on this host, compare claim by claim, and write a bundle that names the old one."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from zassay import replicate, workspace
from zassay.campaign import project_root
from zassay.errors import unknown
from zassay.machine import supervise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle's zip, or the folder it was unpacked to")
    parser.add_argument("--scale", help="measure at another scale than the original (default: the same)")
    parser.add_argument("--workspace", type=Path, help="folder to work in; an interrupted replication goes on in it")
    parser.add_argument("--cores", type=int, default=4, help="what Snakemake is given [%(default)s]")
    parser.add_argument("--trust", action="store_true", help="follow recipes of the bundle that are not our own")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def main(args: argparse.Namespace) -> None:
    supervise.install()
    root = project_root()
    known = [path.stem for path in (root / "config" / "scales").glob("*.yaml")]
    if args.scale and args.scale not in known:
        raise unknown("--scale", "scale", args.scale, known)
    with tempfile.TemporaryDirectory(prefix="zassay-replicate-") as work:
        place = Path(work) / "workspace" if args.dry_run else args.workspace or default_place(root, args.bundle, args.scale)
        made = workspace.make(args.bundle, root, place.absolute(), args.scale)
        replicate.prepare(made, args.trust or args.dry_run, say)
        if args.dry_run:
            say(f"would run, in the workspace: {' '.join(replicate.command(args.cores))}")
            say("would then compare the two bundles, circumstances first" + ("; needs --trust" if made.foreign else ""))
            return
        replicate.measure(made, args.cores, say)
        replicate.conclude(made, root, Path(work) / "compare", say)


def say(text: str) -> None:
    print(text, flush=True)


def default_place(root: Path, bundle: Path, scale: str | None) -> Path:
    name = bundle.resolve().name.removesuffix(".zip")
    return root / "results" / "replications" / (f"{name}-{scale}" if scale else name)
