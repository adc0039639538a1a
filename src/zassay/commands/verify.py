"""Verify a bundle, zipped or unpacked: any byte changed, missing or added is found and named; nothing is executed."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay.bundle.verifier import MAX_BYTES, MAX_FILES, FolderBag, ZipBag, report
from zassay.errors import Problem
from zassay.files import sha256_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle's zip, or the folder it was unpacked to")
    parser.add_argument("--max-files", type=int, default=MAX_FILES, help="refuse more files than this [%(default)s]")
    parser.add_argument("--max-bytes", type=int, default=MAX_BYTES, help="refuse more content than this [%(default)s]")


def main(args: argparse.Namespace) -> int:
    """0 when every byte is as it was written, else 1."""
    path: Path = args.bundle
    if not path.exists():
        raise Problem(f"{path}: no such file or folder")
    kind = FolderBag if path.is_dir() else ZipBag
    code = report(kind(path, args.max_files, args.max_bytes))
    if code == 0 and path.is_file():
        print(f"zip sha256 {sha256_file(path)}")
    return code
