"""bonnie++'s CSV (formats 1.96, 1.97 and 1.98; bonnie++ 2.00 prints the last): one line, one run.

``+++++`` stands where a phase was over before bonnie++ could time it: too fast, never 0. A phase that was left out is empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from zassay.readers import Unreadable
from zassay.tools import Kind, Run, Tool

TOO_FAST = re.compile(r"\+{3,5}")
HEAD = ("format_version", "bonnie_version", "name", "concurrency", "seed", "file_size", "io_chunk_size")
# Format 1.98 has two more, which its own header line does not name.
SEEKS = ("seek_count", "seek_processes")
IO = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
TREE = ("num_files", "max_size", "min_size", "num_dirs", "file_chunk_size")
FILES = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")
PHASES = (*IO, *FILES)
FORMATS = {"1.96": (), "1.97": (), "1.98": SEEKS}
IN_KIB = frozenset(IO) - {"seeks"}
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
SIZES = {"": 1 << 20, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Phase:
    """``rate`` in bytes or operations per second, None when ``too_fast``; ``cpu`` 0 to 1 and ``latency`` (s) where printed."""

    rate: float | None
    too_fast: bool
    cpu: float | None
    latency: float | None


@dataclass(frozen=True)
class Line:
    """One run. ``phases`` has only those that were made; ``size`` of the files in bytes, None where no file was written."""

    format: str
    version: str
    host: str
    concurrency: int
    seed: str
    size: int | None
    phases: dict[str, Phase]


def read(text: str) -> list[Line]:
    """Every run in a text: lines of CSV, whatever else was printed for people; raises Unreadable."""
    if text and not text.endswith("\n"):
        raise Unreadable("bonnie++: the last line is cut off; expected a line end")
    lines = text.replace("\r\n", "\n").split("\n")
    found = [_line(number, line) for number, line in enumerate(lines, 1) if re.match(r"\d+\.\d+[a-z]?,", line, re.ASCII)]
    if not found:
        raise Unreadable("bonnie++: no line of CSV; expected one that begins with its format, such as 1.98,2.00a,")
    return found


def columns(form: str) -> list[str]:
    """The names of a line's fields, in order."""
    io = [name for phase in IO for name in (phase, f"{phase}_cpu")]
    files = [name for phase in FILES for name in (phase, f"{phase}_cpu")]
    return [*HEAD, *FORMATS[form], *io, *TREE, *files, *(f"{phase}_latency" for phase in PHASES)]


def _line(number: int, line: str) -> Line:
    at = f"line {number}"
    values = line.split(",")
    form = values[0]
    if form not in FORMATS:
        raise Unreadable(f"{at}, format_version: {form!r}; expected {', '.join(FORMATS)}")
    names = columns(form)
    if len(values) != len(names):
        raise Unreadable(f"{at}: {len(values)} fields; expected {len(names)} in format {form}")
    row = dict(zip(names, values, strict=True))
    phases = {phase: made for phase in PHASES if (made := _phase(at, phase, row)) is not None}
    if not phases:
        raise Unreadable(f"{at}: no phase has a result; expected at least one")
    size = _size(at, row["file_size"]) if row["file_size"] else None
    concurrency = _whole(at, "concurrency", row["concurrency"])
    return Line(form, row["bonnie_version"], row["name"], concurrency, row["seed"], size, phases)


def _phase(at: str, phase: str, row: dict[str, str]) -> Phase | None:
    said, share, late = row[phase], row[f"{phase}_cpu"], row[f"{phase}_latency"]
    if not said:
        if share or late:
            raise Unreadable(f"{at}, {phase}: empty, but its CPU or latency is not; expected both or neither")
        return None
    too_fast = TOO_FAST.fullmatch(said) is not None
    rate = None if too_fast else _number(at, phase, said) * (1024 if phase in IN_KIB else 1)
    cpu = None if not share or TOO_FAST.fullmatch(share) else _number(at, f"{phase}_cpu", share) / 100
    return Phase(rate, too_fast, cpu, _seconds(at, f"{phase}_latency", late))


def _number(at: str, name: str, text: str) -> float:
    """A rate of 0 is one that bonnie++ could not give; it is no measurement."""
    if not re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) or (not name.endswith("_cpu") and float(text) == 0):
        raise Unreadable(f"{at}, {name}: {text!r}; expected a number above 0, or +++++ where the phase was too fast")
    return float(text)


def _whole(at: str, name: str, text: str) -> int:
    if not re.fullmatch(r"\d+", text, re.ASCII):
        raise Unreadable(f"{at}, {name}: {text!r}; expected a whole number")
    return int(text)


def _seconds(at: str, name: str, text: str) -> float | None:
    match = re.fullmatch(r"(\d+)(us|ms|s)", text, re.ASCII)
    if text and not match:
        raise Unreadable(f"{at}, {name}: {text!r}; expected a time with its unit, such as 12ms")
    return int(match.group(1)) * UNITS[match.group(2)] if match else None


def _size(at: str, text: str) -> int:
    match = re.fullmatch(r"(\d+)([kMGT]?)", text, re.ASCII)
    if not match:
        raise Unreadable(f"{at}, file_size: {text!r}; expected a size such as 4096M")
    return int(match.group(1)) * SIZES[match.group(2)]


METRICS = {
    "putc": "seq_char_write",
    "put_block": "seq_block_write",
    "rewrite": "rewrite",
    "getc": "seq_char_read",
    "get_block": "seq_block_read",
    "seeks": "random_seeks",
    "seq_create": "seq_file_create",
    "seq_stat": "seq_file_stat",
    "seq_del": "seq_file_delete",
    "ran_create": "random_file_create",
    "ran_stat": "random_file_stat",
    "ran_del": "random_file_delete",
}


class Bonnie(Tool):
    """A line is one run: ``-x 4`` gives four, which are repetitions in one session, not four blocks."""

    name = "bonnie"
    kinds = {metric: Kind("B/s" if phase in IN_KIB else "1/s", "higher") for phase, metric in METRICS.items()}

    def runs(self, text: str) -> list[Run]:
        return [_run(line) for line in read(text)]


def _run(line: Line) -> Run:
    rates = {METRICS[name]: phase.rate for name, phase in line.phases.items()}
    values = {metric: rate for metric, rate in rates.items() if rate is not None}
    return Run(line.version, values, tuple(metric for metric, rate in rates.items() if rate is None))
