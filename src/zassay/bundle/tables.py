"""CSV files as the bundle ships them: their schema, and no cell that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from zassay.errors import Problem

MAX_CELL = 128 << 10  # characters; more is not a table
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|NaN|-?INF")
DATETIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MISSING = ("", "NA")
# From narrow to wide; a column has the first type that every one of its cells fits.
TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("boolean", re.compile(r"true|false|TRUE|FALSE")),
    ("integer", re.compile(r"[+-]?\d{1,18}")),
    ("number", NUMBER),
    ("datetime", DATETIME),
)


@dataclass
class Table:
    """What is in a CSV: ``fields`` as (name, Table Schema type), rows below the header, and formula cells by column."""

    path: Path
    fields: list[tuple[str, str]] = field(default_factory=list)
    rows: int = 0
    formulas: dict[str, int] = field(default_factory=dict)


def rows_of(path: Path) -> Iterator[list[str]]:
    """The rows of a CSV, header first, streamed; raises Problem for what is not a table."""
    csv.field_size_limit(MAX_CELL)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            yield from _checked(path, handle)
    except (csv.Error, UnicodeDecodeError) as error:
        raise Problem(f"{path}: not a table: {error}", f"legal: UTF-8, commas, cells up to {MAX_CELL} characters") from error
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from error


def _checked(path: Path, handle: TextIO) -> Iterator[list[str]]:
    width = 0
    reader = csv.reader(handle, strict=True)
    for row in reader:
        if width and len(row) != width:
            raise Problem(f"{path}: line {reader.line_num} has {len(row)} cells, its header has {width}")
        width = len(row)
        yield row
    if not width:
        raise Problem(f"{path}: empty: not even a header")


def records_of(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV as {column: text}, streamed."""
    rows = rows_of(path)
    header = next(rows)
    return (dict(zip(header, row, strict=True)) for row in rows)


def is_formula(text: str) -> bool:
    """Would a spreadsheet run this cell? Numbers and a lone sign are harmless."""
    return len(text) > 1 and text[0] in "=+-@\t\r" and not NUMBER.fullmatch(text)


def inspect(path: Path) -> Table:
    """One pass over a CSV: its schema and its formula cells."""
    rows = rows_of(path)
    header = next(rows)
    possible = [dict(TYPES) for _ in header]
    filled = [False] * len(header)
    table = Table(path)
    for row in rows:
        table.rows += 1
        for index, text in enumerate(row):
            if text not in MISSING:
                filled[index] = True
                _narrow(possible[index], text)
            if is_formula(text):
                table.formulas[header[index]] = table.formulas.get(header[index], 0) + 1
    kinds = (next(iter(left), "string") if seen else "string" for left, seen in zip(possible, filled, strict=True))
    table.fields = list(zip(header, kinds, strict=True))
    return table


def _narrow(possible: dict[str, re.Pattern[str]], text: str) -> None:
    for kind in [kind for kind, pattern in possible.items() if not pattern.fullmatch(text)]:
        del possible[kind]


def write_escaped(path: Path, to: Path) -> None:
    """Copy a CSV with an apostrophe before each formula cell, so that a spreadsheet shows it as text."""
    with to.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        for row in rows_of(path):
            writer.writerow([f"'{text}" if is_formula(text) else text for text in row])
