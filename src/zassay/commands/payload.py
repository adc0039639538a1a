"""Make a payload from its seed, or estimate what ZFS would save on a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from zassay import payloads, units
from zassay.payloads import ratios


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    make = actions.add_parser("make", help="write a payload and print its sha256")
    make.add_argument("name", metavar="NAME", help=f"one of: {', '.join(payloads.names())}")
    make.add_argument("--size", required=True, metavar="BYTES", help="bytes, or a number with KiB, MiB, GiB")
    make.add_argument("--seed", required=True, type=int, metavar="N", help="a whole number from 0")
    make.add_argument("--out", required=True, type=Path, metavar="FILE")
    make.set_defaults(act=_make)
    check = actions.add_parser("check", help="print the compressratio expected of 128 KiB records of a file")
    check.add_argument("file", type=Path, metavar="FILE")
    check.add_argument("--records", type=int, default=64, metavar="N", help="look at N records spread evenly (64)")
    check.set_defaults(act=_check)


def main(args: argparse.Namespace) -> int:
    args.act(args)
    return 0


def _make(args: argparse.Namespace) -> None:
    payload = payloads.get(args.name, where="zassay payload make")
    print(payload.write(args.out, units.parse_bytes(args.size), args.seed))


def _check(args: argparse.Namespace) -> None:
    offsets, whole = ratios.sample(args.file, args.records)
    sizes = ratios.packed_sizes(ratios.read(args.file, offsets))
    print(f"{args.file}: {len(offsets)} of {whole} whole records of 128 KiB; logicalused/used, without metadata")
    print("compression " + "".join(f"{f'{sector} B sectors':>16}" for sector in ratios.SECTORS))
    for setting, packed in sizes.items():
        print(f"{setting:<12}" + "".join(f"{ratios.ratio(packed, sector):>16.4f}" for sector in ratios.SECTORS))
