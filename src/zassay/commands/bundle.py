"""Write the citable bundle of a finished campaign: results/bundles/<campaign>-<version>.zip."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from zassay import files
from zassay.bundle.build import Built, build
from zassay.campaign import project_root

SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=project_root(), help="the project's folder [%(default)s]")
    parser.add_argument("--config", type=Path, help="campaign to bundle [config/config.yaml]")
    parser.add_argument("--output", type=Path, help="where to write it; the name must be <campaign>-<version>.zip")
    parser.add_argument("--synthetic-demo", action="store_true", help="bundle made-up data, marked and never citable")


def main(args: argparse.Namespace) -> int | None:
    config = args.config or Path(os.environ.get("ZASSAY_CONFIG") or args.root / "config" / "config.yaml")
    built = build(args.root, config, args.output, args.synthetic_demo)
    files.write_json(args.root / "results" / "bundle.json", summary(built, args.root))
    tell(built)
    return None


def summary(built: Built, root: Path) -> dict[str, object]:
    """results/bundle.json: where the newest bundle is and what identifies it, under a name that does not change."""
    written = built.written
    inside = written.path.resolve().is_relative_to(root.resolve())
    return {
        "path": str(written.path.resolve().relative_to(root.resolve()) if inside else written.path),
        "zip_sha256": written.zip_sha256,
        "content_id": written.content_id,
        "files": written.files,
        "bytes": written.size,
        "workflow": built.source.label,
        "notes": list(built.notes),
        "left_out": [list(item) for item in built.left_out],
    }


def tell(built: Built) -> None:
    written = built.written
    for note in built.notes:
        print(f"note: {note}")
    for name, reason in built.left_out[:SHOWN]:
        print(f"left out: {name}: {reason}")
    if len(built.left_out) > SHOWN:
        print(f"left out: {len(built.left_out) - SHOWN} more, listed in the bundle's README.md")
    print(f"workflow: {built.source.label}")
    print(f"{written.path}: {written.files} files, {written.size} bytes")
    print(f"zip sha256 {written.zip_sha256}")
    print(f"content id {written.content_id}")
