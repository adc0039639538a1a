"""Read one file to its end while others write: with md5sum, or with fio's sequential read where ``reader: fio`` says so.

The file is the payload, copied in before; md5sum's digest of it is compared with that of its source. Each run reads it
cold unless the settings say otherwise, since the writers of a run before have used the cache. A read that is not done
after ``cap_s`` is cut off: its time is then a lower bound, and ``capped`` says so.
"""

from __future__ import annotations

import re

from zassay import workloads
from zassay.errors import unknown
from zassay.filesystems import MOUNT, Filesystem
from zassay.ledger import book
from zassay.readers import Unreadable, colon_table, whole
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.tools.fio import read
from zassay.workloads import READ, Pace, Phase, Span, Workload, numbered, runs
from zassay.workloads.shell import cache_phases, cold, counters, deadline, timed

FILE = f"{MOUNT}/payload"
MIB = 1 << 20
READERS = ("md5sum", "fio")
TIMED_OUT = 124
_DIGEST = re.compile(r"([0-9a-f]{32}) [ *]\S+\n", re.ASCII)
JOB = """[global]
thread=1
[read]
filename={file}
size={size}
rw=read
bs={block}
ioengine=psync
invalidate=0
fadvise_hint=0
runtime={cap}
"""


class ChecksumRead(Workload):
    name = "checksum-read"
    packages = {"debian": ("coreutils", "fio")}

    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        size = int(settings.workload["size"])
        copy = (
            f"dd if={source} bs={MIB} count={size // MIB} iflag=direct 2>$OUT/dd.layout | tee {FILE} | md5sum >$OUT/md5.source\n"
            f"{filesystem.flush()}\n"
        )
        found = [Phase("layout", copy, deadline(size), measures=False)]
        warm = Phase("warm", f"md5sum {FILE} >$OUT/md5.warm\n", deadline(size), measures=False)
        found += cache_phases(settings, filesystem, warm)
        for span in self.spans(settings):
            if span.run > 1 and settings.cache == "cold":
                found.append(cold(filesystem, span.run))
            found.append(Phase(span.name, _measured(settings, filesystem, span), cap(settings) + 60, True, under_load=True))
        return found

    def spans(self, settings: Settings) -> list[Span]:
        # Whole only where nothing else was read or written meanwhile, nothing was cached, and nothing can cut it off.
        alone = settings.cache == "cold" and workloads.background(settings) is None and "cap_s" not in settings.workload
        return [Span("read", number, READ, whole=alone) for number in range(1, runs(settings) + 1)]

    def names(self, settings: Settings) -> frozenset[str]:
        loaded = {"writer_rate", "writer_overlap"} if workloads.background(settings) else set()
        return frozenset({"read_time", "read_rate", "capped"} | loaded)

    def metrics(self, run: RunFiles, number: int) -> dict[str, float]:
        span = next(each for each in run.spans if each.run == number)
        seconds = read_seconds(run, span)
        found = {"read_time": seconds, "read_rate": run.counted[span.name] / seconds, "capped": float(cut_off(run, span))}
        if load := workloads.background(run.plan):
            done = load.achieved(run, span)
            found |= {"writer_rate": done.rate, "writer_overlap": done.overlap}
        return found

    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        return {span.name: _counted(run, span) for span in run.spans}

    def wanted_bytes(self, settings: Settings) -> dict[str, int]:
        """Of a read that may be cut off it is known only afterwards how far it had to come."""
        return {} if "cap_s" in settings.workload else super().wanted_bytes(settings)

    def moved_bytes(self, settings: Settings) -> int:
        return int(settings.workload["size"]) * (1 + runs(settings) + (settings.cache == "warm"))

    def pace(self, run: RunFiles, span: Span) -> Pace:
        return Pace(read_seconds(run, span))

    def cold_proofs(self, settings: Settings) -> list[str]:
        return [numbered("cold", number) for number in range(1, runs(settings) + 1)] if settings.cache == "cold" else []

    def differences(self, run: RunFiles) -> list[str] | None:
        """A read that was not cut off has to have come to its end, and md5sum's to have read what was written."""
        wanted, said = digest(run, "md5.source"), []
        for span in run.spans:
            if not cut_off(run, span):
                said += _short(run, span) if reader(run.plan) == "fio" else _other(run, span, wanted)
        return said

    def failures(self, run: RunFiles) -> list[str]:
        if reader(run.plan) != "fio":
            return []
        jobs = [job for span in run.spans for job in read(run.text(f"fio.{span.name}.json")).jobs]
        return [f"{job.name}: fio error {job.error}" for job in jobs if job.error]


def reader(settings: Settings) -> str:
    name = str(settings.workload.get("reader", READERS[0]))
    if name not in READERS:
        raise unknown("settings.workload.reader", "reader", name, READERS)
    return name


def cap(settings: Settings) -> int:
    return int(settings.workload.get("cap_s", deadline(int(settings.workload["size"]))))


def _measured(settings: Settings, filesystem: Filesystem, span: Span) -> str:
    """The exit code is kept: timeout's own says that the read was cut off, which is a result and no failure."""
    name, late = span.name, cap(settings)
    if reader(settings) == "fio":
        text = JOB.format(file=FILE, size=settings.workload["size"], block=settings.workload.get("block", 128 << 10), cap=late)
        before = f"cat >$OUT/fio.{name}.job <<'END'\n{text}END\n"
        work = f"fio --output-format=json+ --output=$OUT/fio.{name}.json $OUT/fio.{name}.job || code=$?\n"
    else:
        before, work = "", f"timeout {late} md5sum {FILE} >$OUT/md5.{name} || code=$?\n"
    after = f"echo $code >$OUT/code.{name}\n[ $code = 0 ] || [ $code = {TIMED_OUT} ]\n"
    return f"{counters(filesystem)}{before}code=0\n{timed(name, work)}{after}"


def cut_off(run: RunFiles, span: Span) -> bool:
    if reader(run.plan) == "fio":
        return _counted(run, span) < int(run.settings["workload"]["size"])
    return whole(run.text(f"code.{span.name}").strip(), "code") == TIMED_OUT


def read_seconds(run: RunFiles, span: Span) -> float:
    """fio's own account of its read: its start alone takes a second on an emulated CPU, that of md5sum is nothing."""
    if reader(run.plan) != "fio":
        return run.elapsed(span)
    return read(run.text(f"fio.{span.name}.json")).merged["read"].runtime_s


def _counted(run: RunFiles, span: Span) -> int:
    """md5sum says a digest and no count: one that came to its end has read the file, else the kernel's count is what there is."""
    if reader(run.plan) == "fio":
        return read(run.text(f"fio.{span.name}.json")).merged["read"].moved
    if not cut_off(run, span):
        digest(run, f"md5.{span.name}")
        return int(run.settings["workload"]["size"])
    before, after = run.snaps(span, "io")
    return colon_table(after)["rchar"] - colon_table(before)["rchar"]


def digest(run: RunFiles, name: str) -> str:
    match = _DIGEST.fullmatch(run.text(name))
    if not match:
        raise Unreadable(f"{name}: no digest of md5sum")
    return match.group(1)


def _other(run: RunFiles, span: Span, wanted: str) -> list[str]:
    found = digest(run, f"md5.{span.name}")
    return [] if found == wanted else [f"{span.name}: md5 {found}, of the source {wanted}"]


def _short(run: RunFiles, span: Span) -> list[str]:
    size, moved = int(run.settings["workload"]["size"]), book(run, span).application or 0
    return [] if moved == size else [f"{span.name}: {moved} of {size} bytes"]
