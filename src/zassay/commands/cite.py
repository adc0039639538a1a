"""Print how to cite a bundle: APA, BibTeX and CITATION.cff."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay.bundle import citation
from zassay.bundle.opened import content_id, verified
from zassay.errors import Problem

FORMATS = ("apa", "bibtex", "cff")
MOST = 1 << 20  # bytes of a CITATION.cff


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle's zip, or the folder it was unpacked to")
    parser.add_argument("--format", choices=FORMATS, help="print this form alone")


def main(args: argparse.Namespace) -> int | None:
    text, identity = read_citation(args.bundle)
    fields = citation.parse_cff(text, f"{args.bundle}: data/CITATION.cff")
    forms = {
        "apa": citation.apa(fields),
        "bibtex": citation.bibtex(fields, args.bundle.name.removesuffix(".zip"), f"content id {identity}"),
        "cff": text.rstrip("\n"),
    }
    print("\n\n".join(forms[name] for name in FORMATS if args.format in (None, name)))
    return None


def read_citation(path: Path) -> tuple[str, str]:
    """CITATION.cff and content id of a bundle, which is verified first: no one should cite what was altered."""
    bag = verified(path)
    if "Citable: yes\n" not in bag.lines("bag-info.txt") or "data/CITATION.cff" not in bag.files:
        raise Problem(f"{path}: not citable: it holds synthetic data")
    handle, size = bag.open("data/CITATION.cff")
    with handle:
        if size > MOST:
            raise Problem(f"{path}: data/CITATION.cff: {size} bytes, at most {MOST} are read")
        return handle.read(size).decode("utf-8", "replace"), content_id(bag)
