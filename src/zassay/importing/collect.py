"""Files become runs: each is read by its tool's parser and put into its cell, block and place in the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zassay import files, tools
from zassay.errors import Problem
from zassay.importing.mapping import Map, Place, factors_of
from zassay.readers import Unreadable
from zassay.study import slug
from zassay.tools import Run, Tool


@dataclass(frozen=True)
class Made:
    """One run from outside: the file it came from, its cell and place, and what the tool says."""

    path: Path
    sha256: str
    cell: str
    levels: dict[str, str]
    block: int
    run: int
    told: Run


def collect(mapping: Map, paths: Sequence[Path], say: Callable[[str], None]) -> tuple[dict[str, list[str]], list[Made]]:
    """(levels by factor, runs in order of cell, block and run); raises Problem for the first file that is not in order."""
    tool = tools.get(mapping.tool, f"{mapping.path}: tool")
    _refuse_twice(paths)
    places = [(path, mapping.place(path)) for path in paths]
    factors = factors_of(mapping.path, [place for _, place in places], mapping.order)
    made: list[Made] = []
    for number, (path, place) in enumerate(places, 1):
        made += read_file(tool, path, place, factors)
        if number % 1000 == 0:
            say(f"{number} of {len(places)} files read")
    _refuse_collisions(made)
    return factors, sorted(made, key=lambda each: (each.block, each.cell, each.run))


def _refuse_twice(paths: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for path in paths:
        if seen.setdefault(path.resolve(), path) is not path:
            raise Problem(f"{path}: is given twice", "name each file once")


def read_file(tool: Tool, path: Path, place: Place, factors: dict[str, list[str]]) -> list[Made]:
    try:
        runs = tool.runs(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: byte {error.start} is no text", f"expected output of {tool.name}") from error
    except Unreadable as error:
        raise Problem(
            f"{path}: {error}", f"not whole, or not output of {tool.name}; leave it out or repair its source"
        ) from error
    if place.run is not None and len(runs) > 1:
        raise Problem(
            f"{path}: holds {len(runs)} runs, the map calls it run {place.run}", "leave run out: the file counts its own"
        )
    levels = {factor: place.levels[factor] for factor in factors}
    cell = "_".join(map(slug, levels.values()))
    digest = files.sha256_file(path)
    first = place.run or 1
    return [Made(path, digest, cell, levels, place.block, first + at, told) for at, told in enumerate(runs)]


def _refuse_collisions(made: list[Made]) -> None:
    seen: dict[tuple[str, int, int], Made] = {}
    cells: dict[str, Made] = {}
    for each in made:
        other = seen.setdefault((each.cell, each.block, each.run), each)
        if other is not each:
            where = f"run {each.run} of cell {each.cell} in block {each.block}"
            raise Problem(f"{other.path} and {each.path} are both {where}", "tell them apart: {run} or {block} in the pattern")
        same = cells.setdefault(each.cell, each)
        if same.levels != each.levels:
            raise Problem(f"{same.path} and {each.path}: two cells would both be called {each.cell}", "rename a level")


def metrics_of(tool: Tool, made: list[Made]) -> list[str]:
    """Metrics that some run has a value for, or could not time, in the tool's order."""
    seen = {name for each in made for name in (*each.told.values, *each.told.too_fast)}
    return [name for name in tool.kinds if name in seen]
