"""Parallel writers in ior's words: tasks, blocks, transfers, segments, a file per process or one shared by all.

``ior`` itself does it where the guest has it; Debian does not package it. Where not, our own writers do the same
writes of the payload's bytes (fio cannot write given bytes): each task's buffer of one transfer, again and again, as ior does.
"""

from __future__ import annotations

from zassay.errors import unknown
from zassay.filesystems import MOUNT, Filesystem
from zassay.ledger import book
from zassay.readers import Unreadable
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.tools import ior
from zassay.workloads import WRITE, Phase, Span, Workload, runs, telemetry
from zassay.workloads.shell import counters, deadline, timed
from zassay.workloads.writers import PUT, Beat, beats, command

LAYOUTS = ("file-per-process", "shared")


class ParallelWriters(Workload):
    name = "parallel-writers"
    may_lack = telemetry.MAY_LACK | {"writer_rate_min", "writer_rate_max"}

    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        size = total(settings)
        return [
            Phase(
                "tool",
                f"{PUT}if command -v ior >/dev/null; then echo ior; else echo own; fi >$OUT/writers.tool\n",
                20,
                measures=False,
            ),
            *(
                Phase(span.name, _measured(settings, filesystem, source, span), deadline(size), True)
                for span in self.spans(settings)
            ),
            Phase("flush", f"{filesystem.flush()}\n{filesystem.accounts()}", 120, measures=False),
        ]

    def spans(self, settings: Settings) -> list[Span]:
        # What a later run writes takes the place of what was there: only the first is all that the pool holds.
        return [Span("write", number, WRITE, whole=number == 1 == runs(settings)) for number in range(1, runs(settings) + 1)]

    def names(self, settings: Settings) -> frozenset[str]:
        own = "aggregate_rate compressratio cpu_busy logical_bytes used_bytes writer_rate_min writer_rate_max".split()
        return frozenset(own) | telemetry.names(settings)

    def metrics(self, run: RunFiles, number: int) -> dict[str, float]:
        span = next(each for each in run.spans if each.run == number)
        logical, used = run.space()
        common = {"compressratio": logical / used, "logical_bytes": float(logical), "used_bytes": float(used)}
        return common | _rates(run, span) | telemetry.metrics(run, span) | {"cpu_busy": book(run, span).cpu_busy}

    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        return {span.name: _counted(run, span) for span in run.spans}

    def wanted_bytes(self, settings: Settings) -> dict[str, int]:
        return {span.name: total(settings) for span in self.spans(settings)}

    def failures(self, run: RunFiles) -> list[str]:
        if own(run):
            records = [(span.name, record[-1]) for span in run.spans for record in _beats(run, span)]
            return [f"{name}: {last.word}" for name, last in records if last.word != "end"]
        outputs = {span.name: ior.read(run.text(f"ior.{span.name}.json")) for span in run.spans}
        return [f"{name}: {output.failure}" for name, output in outputs.items() if output.failure]

    def payload_bytes(self, settings: Settings) -> int:
        return max(1 << 20, int(settings.workload["tasks"]) * int(settings.workload["transfer"]))


def total(settings: Settings) -> int:
    return _each(settings) * int(settings.workload["tasks"])


def _each(settings: Settings) -> int:
    return int(settings.workload["block"]) * int(settings.workload.get("segments", 1))


def _measured(settings: Settings, filesystem: Filesystem, source: str, span: Span) -> str:
    """The time of the writing ends when the last byte is on the device: each task ends with an fsync, and then the flush."""
    name, branches = span.name, (_ior(settings, span.name), _own(settings, source, span.name))
    work = f"if [ $tool = ior ]; then\n    {branches[0]}\nelse\n    {branches[1]}\nfi\n{filesystem.flush()}\n"
    return f"{counters(filesystem)}read -r tool <$OUT/writers.tool\n{timed(name, work)}"


def _ior(settings: Settings, name: str) -> str:
    said = settings.workload
    words = f"-a POSIX -w -k -e -b {said['block']} -t {said['transfer']} -s {said.get('segments', 1)}"
    each = " -F" if shape(settings) == LAYOUTS[0] else ""
    out = f"-O summaryFormat=JSON -O summaryFile=$OUT/ior.{name}.json"
    return f"mpirun --allow-run-as-root --oversubscribe -n {said['tasks']} ior {words}{each} -o {MOUNT}/ior {out}"


def _own(settings: Settings, source: str, name: str) -> str:
    tasks, block = int(settings.workload["tasks"]), int(settings.workload["block"])
    apart = shape(settings) == LAYOUTS[0]
    return command(
        {
            "dir": MOUNT,
            "out": f"$OUT/writers.{name}",
            "data": source,
            "keep": tasks * int(settings.workload["transfer"]),
            "own": 1,
            "count": tasks,
            "files": tasks if apart else 1,
            "block": int(settings.workload["transfer"]),
            "part": block,
            "stride": block if apart else block * tasks,
            "size": _each(settings),
            "total": _each(settings),
            "fsync": "end",
            "rate": 0,
        }
    )


def shape(settings: Settings) -> str:
    name = str(settings.workload.get("layout", LAYOUTS[0]))
    if name not in LAYOUTS:
        raise unknown("settings.workload.layout", "layout", name, LAYOUTS)
    return name


def own(run: RunFiles) -> bool:
    return run.text("writers.tool").strip() == "own"


def _beats(run: RunFiles, span: Span) -> list[list[Beat]]:
    found = beats(run.text(f"writers.{span.name}"))
    if sorted(found) != list(range(int(run.settings["workload"]["tasks"]))):
        raise Unreadable(f"writers: {len(found)} writers left a record")
    return list(found.values())


def _counted(run: RunFiles, span: Span) -> int:
    if own(run):
        return sum(record[-1].moved for record in _beats(run, span))
    return ior.read(run.text(f"ior.{span.name}.json")).moved or 0


def _rates(run: RunFiles, span: Span) -> dict[str, float]:
    """Of all: bytes from the first begin to the last end. Of one: from its own begin to its own end."""
    if not own(run):
        (values,) = (each.values for each in ior.Ior().runs(run.text(f"ior.{span.name}.json")))
        return {"aggregate_rate": values["aggregate_rate"]}
    records = _beats(run, span)
    if not all(record[-1].uptime > record[0].uptime for record in records):
        raise Unreadable("writers: one ended as it began")
    rates = [record[-1].moved / (record[-1].uptime - record[0].uptime) for record in records]
    span_s = max(record[-1].uptime for record in records) - min(record[0].uptime for record in records)
    moved = sum(record[-1].moved for record in records)
    return {"aggregate_rate": moved / span_s, "writer_rate_min": min(rates), "writer_rate_max": max(rates)}
