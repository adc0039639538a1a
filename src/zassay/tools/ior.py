"""ior's results (3.x and 4.0), as JSON or as the table for people: one repetition is one run, rates over all tasks.

Each rate must agree with its time and with the bytes that tasks, blocks and segments make; the summary at the end must
agree with the results above it, so an output that was cut short is not believed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from zassay.readers import Unreadable
from zassay.tools import Kind, Run, Tool, ior_text
from zassay.tools.fields import Node, agree, document

MIB = 1 << 20
ACCESSES = ("write", "read")


@dataclass(frozen=True)
class Result:
    """One access of one repetition: bytes per second over all tasks, and seconds from first open to last close."""

    access: str
    bandwidth: float
    seconds: float


@dataclass(frozen=True)
class Output:
    """One test. ``moved`` is what each repetition writes or reads in bytes; None where ior stopped at a deadline instead."""

    version: str
    began: str
    tasks: int
    file_per_process: bool
    repetitions: int
    moved: int | None
    results: tuple[Result, ...]
    failure: str = ""

    def of(self, access: str) -> list[Result]:
        return [result for result in self.results if result.access == access]


def read(text: str) -> Output:
    """What ior printed to its output or its summary file; raises Unreadable."""
    failures = [line.strip() for line in text.splitlines() if "ERROR" in line]
    if failures:
        return Output("", "", 0, False, 0, None, (), failures[0])
    output = _from_json(document(text, "ior")) if text.lstrip().startswith("{") else _from_text(text)
    if not output.results:
        raise Unreadable("Results: empty; expected a write or a read")
    for access in {result.access for result in output.results}:
        made = len(output.of(access))
        if made != output.repetitions:
            raise Unreadable(f"Results: {made} of {access}; expected {output.repetitions}, one for each repetition")
    return output


def _from_json(top: Node) -> Output:
    tests = top.nodes("tests")
    if len(tests) != 1:
        raise Unreadable(f"tests: {len(tests)}; expected one test in a file")
    (test,) = tests
    given, options = test.node("Parameters"), test.node("Options")
    rows = _rows(test if "Results" in test else options, "Results")
    made = [(row, _result(row)) for row in rows if row.text("access") in ACCESSES]
    tasks = options.whole("tasks")
    moved = None
    if not given.whole("deadlineForStonewall"):
        moved = given.whole("blockSize") * given.whole("segmentCount") * tasks
        for row, result in made:
            slack = _slack(result.bandwidth / MIB, result.seconds, 5e-5, 5e-5)
            agree(row.at("bwMiB"), result.bandwidth * result.seconds, moved * slack, moved, "totalTime and the bytes moved")
    results = tuple(result for _, result in made)
    _check_summary({row.text("operation"): row.number("bwMaxMIB") for row in top.nodes("summary")}, results, 1e-3)
    whole = given.whole("filePerProc") == 1
    return Output(top.text("Version"), top.text("Began"), tasks, whole, given.whole("repetitions"), moved, results)


def _result(row: Node) -> Result:
    return Result(row.text("access"), row.number("bwMiB") * MIB, row.number("totalTime"))


def _rows(node: Node, key: str) -> Iterable[Node]:
    """Rows of results; some versions put those of a repetition into a list of their own."""
    found = node.get(key)
    if not isinstance(found, list):
        raise Unreadable(f"{node.at(key)}: {str(found)[:60]!r}; expected a list")
    for index, each in enumerate(found):
        rows = each if isinstance(each, list) else [each]
        yield from (Node(row, f"{node.at(key)}[{index}]") for row in rows)


def _from_text(text: str) -> Output:
    table = ior_text.read(text)
    moved: int | None = None
    if not table.stopped:
        moved = round(table.moved_mib * MIB)
    results = []
    for number, row in table.rows:
        result = Result(row["access"], float(row["bw(MiB/s)"]) * MIB, float(row["total(s)"]))
        if moved is not None:
            slack = _slack(result.bandwidth / MIB, result.seconds, _half(row["bw(MiB/s)"]), _half(row["total(s)"]))
            agree(f"line {number}, bw(MiB/s)", result.bandwidth * result.seconds, moved * slack, moved, "total(s) and aggs(MiB)")
        results.append(result)
    _check_summary(table.most, tuple(results), 0.5)
    whole = table.options["access"] == "file-per-process"
    tasks, repetitions = (ior_text.whole(table.options, key) for key in ("tasks", "repetitions"))
    return Output(table.version, table.options["Began"], tasks, whole, repetitions, moved, tuple(results))


def _half(printed: str) -> float:
    """Half of the last digit printed."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def _slack(rate: float, seconds: float, half_rate: float, half_seconds: float) -> float:
    """The relative error that rounding of a rate and a time can bring into their product."""
    if not rate or not seconds:
        raise Unreadable(f"Results: {rate:g} MiB/s in {seconds:g} s; expected both above 0")
    return 1.01 * (half_rate / rate + half_seconds / seconds) + 1e-9


def _check_summary(most: dict[str, float], results: tuple[Result, ...], slack: float) -> None:
    """The summary names each access that was made, with the fastest of its results (MiB/s)."""
    fastest: dict[str, float] = {}
    for result in results:
        fastest[result.access] = max(result.bandwidth / MIB, fastest.get(result.access, 0.0))
    if set(fastest) != set(most):
        raise Unreadable(f"summary: of {sorted(most)}; expected {sorted(fastest)}, as in the results")
    for access, rate in fastest.items():
        agree(f"summary of {access}", most[access], slack, rate, "the fastest of the results")


METRICS = {"write": "aggregate_rate", "read": "aggregate_read_rate"}


class Ior(Tool):
    """``aggregate_rate`` is of writing, over all tasks."""

    name = "ior"
    kinds = dict.fromkeys(METRICS.values(), Kind("B/s", "higher"))

    def runs(self, text: str) -> list[Run]:
        output = read(text)
        if output.failure:
            return [Run(output.version, failure=output.failure)]
        return [_run(output, number) for number in range(output.repetitions)]


def _run(output: Output, number: int) -> Run:
    made = {access: output.of(access)[number] for access in ACCESSES if output.of(access)}
    values = {METRICS[access]: result.bandwidth for access, result in made.items()}
    seconds = sum(result.seconds for result in made.values())
    return Run(output.version, values, started_at=_iso(output.began), duration_s=seconds)


def _iso(began: str) -> str:
    """Local time of a host whose zone ior does not say."""
    try:
        return datetime.strptime(began.strip(), "%a %b %d %H:%M:%S %Y").isoformat()
    except ValueError:
        return ""
