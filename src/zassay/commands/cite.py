"""Print how to cite a bundle: APA, BibTeX and CITATION.cff."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay.bundle import citation, verifier
from zassay.bundle.verifier import Bag, FolderBag, ZipBag
from zassay.errors import Problem

FORMATS = ("apa", "bibtex", "cff")
MOST = 1 << 20  # bytes of a CITATION.cff


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle's zip, or the folder it was unpacked to")
    parser.add_argument("--format", choices=FORMATS, help="print this form alone")


def main(args: argparse.Namespace) -> int | None:
    text, content_id = read_citation(args.bundle)
    fields = citation.parse_cff(text, f"{args.bundle}: data/CITATION.cff")
    forms = {
        "apa": citation.apa(fields),
        "bibtex": citation.bibtex(fields, args.bundle.name.removesuffix(".zip"), f"content id {content_id}"),
        "cff": text.rstrip("\n"),
    }
    print("\n\n".join(forms[name] for name in FORMATS if args.format in (None, name)))
    return None


def read_citation(path: Path) -> tuple[str, str]:
    """CITATION.cff and content id of a bundle, which is verified first: no one should cite what was altered."""
    if not path.exists():
        raise Problem(f"{path}: no such file or folder")
    bag: Bag = (FolderBag if path.is_dir() else ZipBag)(path)
    problems = verifier.verify(bag)
    if problems:
        raise Problem(f"{path}: not sound: {problems[0]}", f"see all: zassay verify {path}")
    if "Citable: yes\n" not in bag.lines("bag-info.txt") or "data/CITATION.cff" not in bag.files:
        raise Problem(f"{path}: not citable: it holds synthetic data")
    handle, size = bag.open("data/CITATION.cff")
    with handle:
        if size > MOST:
            raise Problem(f"{path}: data/CITATION.cff: {size} bytes, at most {MOST} are read")
        return handle.read(size).decode("utf-8", "replace"), f"sha256:{bag.files['manifest-sha256.txt'].sha256}"
