"""The order of one boot: named steps around one guest, everything they said kept verbatim.

The raw folder appears whole (written aside, renamed) with a ``status.json`` that says ok, or which step failed and why.
A failed run is data too: it is kept with its reason and never measured over silently.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import shutil
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zassay import collectors, disks, files, filesystems, registry, scheduler, workloads
from zassay.errors import Problem
from zassay.filesystems import Filesystem
from zassay.machine import hostload
from zassay.machine.channel import Reply
from zassay.machine.qemu import Guest
from zassay.study import Cell, Settings
from zassay.workloads import Phase

OUT = "/run/zassay/run"
PREAMBLE = f"""set -eu -o pipefail
OUT={OUT}
mark() {{
    # Both clocks in one 10 ms step of the coarser: a guest that loses its CPU between two reads must not make them disagree.
    until read -r _up _ </proc/uptime; _now=$EPOCHREALTIME; read -r _again _ </proc/uptime; [ $_up = $_again ]; do :; done
    read -r _ _cpu </proc/stat
    printf '%s %s %s cpu %s\\n' "$1" "$_up" "$_now" "$_cpu" >>$OUT/marks
}}
snap() {{
    cat /proc/diskstats >$OUT/snap.$1.diskstats
    if [ -r /proc/spl/kstat/zfs/arcstats ]; then cat /proc/spl/kstat/zfs/arcstats >$OUT/snap.$1.arcstats; fi
}}
"""
# Built-ins where they do: each process costs 30 ms and more on an emulated CPU.
FACTS = """{
read -r _ _ v _ </proc/version; printf 'kernel\\t%s\\n' "$v"
"""
MORE_FACTS = """read -r v </sys/devices/system/clocksource/clocksource0/current_clocksource; printf 'clocksource\\t%s\\n' "$v"
while IFS=: read -r k v; do
    case $k in
        "model name"*) printf 'cpu_model\\t%s\\n' "${v# }" ;;
        flags*) printf 'cpu_flags\\t%s\\n' "${v# }"; break ;;
    esac
done </proc/cpuinfo
for d in /sys/block/vd*; do
    read -r s <$d/serial || true; printf 'disk.%s\\t%s\\n' "$s" "${d##*/}"
    read -r v <$d/queue/scheduler; printf 'scheduler.%s\\t%s\\n' "$s" "$v"
done
} >$OUT/facts
"""


def facts_script(filesystem: Filesystem) -> str:
    return FACTS + filesystem.facts() + MORE_FACTS


def procedure_digest(settings: Settings) -> str:
    """What is done to a guest under these settings, as a digest: when our scripts change, a record is of something else."""
    filesystem = filesystems.of(settings)
    phases = workloads.steps(settings, filesystem, "SOURCE")
    # One word for all disks of the commonest pool; the words of others tell which disk goes where.
    devices = ["POOL"] if len(disks.roles(settings.pool)) == 1 else disks.roles(settings.pool)
    scripts = [
        PREAMBLE,
        facts_script(filesystem),
        collectors.SAMPLER.read_text(),
        filesystem.warm(settings),
        filesystem.create(settings, devices),
        filesystem.after(),
    ]
    beside = [scheduler.script(settings), *_beside(settings)]
    return files.sha256_json([*scripts, *(phase.script for phase in phases), *filter(None, beside)])


def _chosen(settings: Settings) -> list[collectors.Collector]:
    every = registry.every(collectors, collectors.Collector)
    return [every[name]() for name in settings.collect["names"]]


def _beside(settings: Settings) -> tuple[str, str]:
    """What starts and ends the collectors that are tools of their own; two empty texts where there are none."""
    chosen = _chosen(settings)
    return collectors.start_all(chosen, settings.collect["interval_s"]), collectors.stop_all(chosen)


@dataclass
class Run:
    """One run under way: the cell, the guest, and the folder aside in which its record grows."""

    cell: Cell
    guest: Guest
    aside: Path
    source_serial: str
    base_facts: dict[str, Any]
    step: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    host_phases: dict[str, dict[str, Any]] = field(default_factory=dict)
    _transcript: list[str] = field(default_factory=list)

    def do(self, script: str, deadline_s: float) -> Reply:
        """Run a script in the guest after the preamble; all of it goes into the transcript."""
        reply = self.guest.run(PREAMBLE + script, deadline_s)
        self._note(script, reply)
        if reply.code != 0:
            raise StepFailed(self.step, script, reply)
        return reply

    def _note(self, script: str, reply: Reply) -> None:
        entry = {"step": self.step, "script": script, "code": reply.code, "guest_s": reply.guest_s}
        entry |= {"host_s": round(reply.host_s, 4), "out": _text(reply.out), "err": _text(reply.err)}
        self._transcript.append(files.canonical_json(entry))

    def save_transcript(self) -> None:
        files.write_text(self.aside / "transcript.jsonl", "".join(f"{line}\n" for line in self._transcript))

    @contextlib.contextmanager
    def named(self, step: str) -> Iterator[None]:
        self.step = step
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[step] = round(self.seconds.get(step, 0.0) + time.monotonic() - start, 4)


class StepFailed(Problem):
    """A guest command that failed: its last words first, then the whole command as it can be pasted."""

    def __init__(self, step: str, script: str, reply: Reply) -> None:
        tail = (_text(reply.out) + _text(reply.err)).strip().splitlines()[-10:]
        late = " (its deadline passed)" if reply.code == 124 else ""
        last = tail[-1] if tail else "it printed nothing"
        shown = "\n".join(f"| {line}" for line in script.strip().splitlines()[:20])
        super().__init__(
            f"exit code {reply.code}{late}: {last}", "\n".join([*tail[:-1], f"guest command of step {step}:", shown])
        )


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()


def prepare(run: Run) -> None:
    """Set the clock, write down what this guest is, make the filesystem."""
    settings = run.cell.settings
    filesystem = filesystems.of(settings)
    devices = [disks.device(role) for role in disks.roles(settings.pool)]
    if scheduling := scheduler.script(settings):
        with run.named("scheduler"):
            run.do(scheduling, 60)
    with run.named("facts"):
        run.do(f"mkdir -p $OUT\ndate -s @{time.time():.3f} >/dev/null\n{facts_script(filesystem)}", 60)
    with run.named("create"):
        run.do(filesystem.create(settings, devices), 120)


def start_sampling(run: Run) -> None:
    with run.named("sampling"):
        run.guest.put("/run/zassay/sampler", collectors.SAMPLER.read_bytes())
        wanted = run.cell.settings.collect
        specs = " ".join(spec for each in _chosen(run.cell.settings) for spec in each.specs)
        run.do(
            f"{_beside(run.cell.settings)[0]}setsid perl /run/zassay/sampler {wanted['interval_s']} $OUT/samples {specs} "
            "</dev/null >/dev/null 2>$OUT/sampler.err &\necho $! >/run/zassay/sampler.pid\n",
            20,
        )


def work(run: Run) -> None:
    """The workload's phases, each its own step; the host's clock and load are read around the whole for their gates."""
    settings = run.cell.settings
    filesystem = filesystems.of(settings)
    source = f"/dev/disk/by-id/virtio-{run.source_serial}"
    load = hostload.read(run.guest.pid, run.guest.console.parent)
    with run.named("clock-before"):
        before = _clocks(run)
    for phase in workloads.steps(settings, filesystem, source):
        with run.named(("measure." if phase.measures else "prepare.") + phase.name):
            _do_phase(run, phase)
    with run.named("clock-after"):
        after = _clocks(run)
    run.base_facts["clock"] = {"host_s": after[0] - before[0], "guest_s": after[1] - before[1]}
    run.base_facts["host_load"] = {"before": load, "after": hostload.read(run.guest.pid, run.guest.console.parent)}


def _do_phase(run: Run, phase: Phase) -> None:
    """The host's side of the virtual disks is read around each measured phase, outside the guest's own counters."""
    if not phase.measures:
        run.do(phase.script, phase.deadline_s)
        return
    start = _host_side(run)
    run.do(phase.script, phase.deadline_s)
    run.host_phases[phase.name] = {"start": start, "end": _host_side(run)}


def _host_side(run: Run) -> dict[str, Any]:
    """Bytes and operations of each virtual disk as QEMU counts them, and what QEMU itself had of the host's disks."""
    kept = ("rd_bytes", "wr_bytes", "rd_operations", "wr_operations")
    found = run.guest.qmp.execute("query-blockstats")
    nodes = {each.get("node-name", ""): {key: each["stats"][key] for key in kept} for each in found}
    return {"disks": nodes, "process": hostload.process_io(run.guest.pid)}


def _clocks(run: Run) -> tuple[float, float]:
    """(host, guest) seconds at one moment, to within half the round trip."""
    start = time.monotonic()
    reply = run.do("printf '%s' $EPOCHREALTIME\n", 20)
    end = time.monotonic()
    try:
        return (start + end) / 2, float(reply.text)
    except ValueError:
        raise Problem(f"the guest's clock says {reply.text[:80]!r}, which is no time") from None


def collect(run: Run) -> None:
    """Stop the sampler, let the filesystem account for itself, bring the guest's files out."""
    filesystem = filesystems.of(run.cell.settings)
    stop = _beside(run.cell.settings)[1]
    with run.named("after"):
        run.do(
            f"kill $(cat /run/zassay/sampler.pid)\n{stop}cat /proc/vmstat >$OUT/vmstat\ncat /proc/meminfo >$OUT/meminfo\n"
            f"dmesg >$OUT/dmesg\n{filesystem.after()}",
            300 if stop else 60,
        )
    with run.named("fetch"):
        archive = run.guest.must(f"tar -C {OUT} -cf - .", 60).out
        unpack(archive, run.aside / "guest")
        files.write_json(
            run.aside / "host.json", {"blockstats": run.guest.qmp.execute("query-blockstats"), "phases": run.host_phases}
        )


def unpack(archive: bytes, folder: Path) -> None:
    """Plain files of a guest's tar, by their bare names: a guest cannot write anywhere else on the host."""
    folder.mkdir()
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                name = Path(member.name).name
                source = tar.extractfile(member) if member.isfile() else None
                if source and name not in ("", "..", "."):
                    (folder / name).write_bytes(source.read())
    except tarfile.TarError as error:
        raise Problem(f"the archive of the guest's files cannot be read: {error}") from error


STEPS = (prepare, start_sampling, work, collect)


def measure(run: Run) -> dict[str, Any]:
    """Do every step; returns the status: ok, or failed with the step and the reason."""
    started = datetime.now(UTC)
    start = time.monotonic()
    status: dict[str, Any] = {"status": "ok", "reason": "", "step": ""}
    try:
        for step in STEPS:
            step(run)
    except Problem as problem:
        status = {"status": "failed", "reason": problem.message, "hint": problem.hint, "step": run.step}
    run.save_transcript()
    status |= {
        "started_at": started.isoformat(timespec="milliseconds"),
        "duration_s": round(time.monotonic() - start, 3),
    }
    return status | {"seconds": run.seconds}


def settle(run_folder: Path, aside: Path, status: dict[str, Any]) -> None:
    """The status last, then the rename: a raw folder is whole or it is not there."""
    files.write_json(aside / "status.json", status)
    run_folder.parent.mkdir(parents=True, exist_ok=True)
    aside.rename(run_folder)


def keep_aside(run_folder: Path, why: str) -> None:
    """Move an earlier record out of the way without losing it: ``block-01`` becomes ``block-01.<why>-<n>``."""
    number = 1
    while (kept := run_folder.with_name(f"{run_folder.name}.{why}-{number}")).exists():
        number += 1
    run_folder.rename(kept)


def drop_aside(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def load_status(run_folder: Path) -> dict[str, Any] | None:
    path = run_folder / "status.json"
    return json.loads(path.read_text()) if path.is_file() else None
