"""Show what a study would measure here: cells, sizes, what cannot be kept, and about how long it takes."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable

from zassay import campaign, predict, schema, study
from zassay.study import Cell
from zassay.units import show_bytes, show_seconds

WIDTH = 110
LEAST_DATA = 2 << 20  # less is a block


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("--scale", help="a file of config/scales/ (default: the campaign's)")
    parser.add_argument(
        "--accel", choices=["tcg", "kvm"], help="predict for this accelerator (default: the campaign's, or what works)"
    )


def main(args: argparse.Namespace) -> None:
    setup = campaign.load(scale=args.scale)
    what = study.load(setup.root, args.study, setup.scale)
    print(f"{what.name} ({what.source}): {what.title}\n{what.question}")
    _sizes(what)
    _factors(what, schema.load_yaml(setup.root / "studies" / what.name / "study.yaml", "study")["factors"])
    _unkept(what)
    _cells(what, setup, args.accel or predict.accelerator(setup))


def _sizes(what: study.Study) -> None:
    print("\nsizes:")
    arc, memory = what.sizes["arc"], what.sizes["memory"]
    for name, size in what.sizes.items():
        print(f"  {name:<12} {show_bytes(size):>10}   {size:>14} B   {size / arc:<8.4g} × arc   {size / memory:<8.4g} × memory")


def _factors(what: study.Study, factors: dict[str, Iterable[str]]) -> None:
    """Levels at this scale; in brackets those of the study that it does not measure."""
    print("\nfactors:")
    for factor, levels in factors.items():
        here = {cell.levels[factor] for cell in what.cells}
        shown = [level if level in here else f"({level})" for level in levels]
        print(f"  {factor:<20} {', '.join(shown)}")


def _unkept(what: study.Study) -> None:
    print("\nwhat of the source cannot be kept:")
    for line in what.unkept:
        print(textwrap.fill(line, WIDTH, initial_indent="  - ", subsequent_indent="    "))


def _cells(what: study.Study, setup: campaign.Campaign, accel: str) -> None:
    seconds, measured = predict.cells(what, setup.scale.name, accel)
    machine, blocks = setup.scale.machine, setup.scale.blocks
    size = f"{machine.cpus} CPUs, {show_bytes(machine.memory)}"
    print(f"\n{len(what.cells)} cells × {blocks} blocks on machine {machine.name} ({size}):")
    width = max(len(cell.id) for cell in what.cells)
    for heading, cells in _parts(what).items():
        print(f"  {heading}")
        for cell in cells:
            guess = "" if cell.id in measured else " (a guess)"
            print(f"    {cell.id:<{width}}  {show_seconds(seconds[cell.id])}{guess}")
    whole = show_seconds(blocks * predict.total(seconds))
    basis = f"{len(measured)} of {len(what.cells)} cells from this host's own runs, the others from the bytes they move"
    print(f"\npredicted with {accel}: {whole} ({basis})")


def _parts(what: study.Study) -> dict[str, list[Cell]]:
    """Cells by what they do, in the order of the study."""
    found: dict[str, list[Cell]] = {}
    for cell in what.cells:
        found.setdefault(heading(cell, what.sizes["arc"]), []).append(cell)
    return found


def heading(cell: Cell, arc: int) -> str:
    """The workload and its words."""
    words = dict(cell.settings.workload)
    tool = words.pop("tool")
    return f"{tool}: {', '.join(f'{key} {_amount(key, value, arc)}' for key, value in words.items())}"


def _amount(key: str, value: int | str, arc: int) -> str:
    """Sizes of data as a ratio too; numbers below 1024 are counts."""
    if isinstance(value, str) or value < 1024 or key.endswith("_s"):
        return str(value)
    return show_bytes(value) + (f" ({value / arc:.3g} × arc)" if value >= LEAST_DATA else "")
