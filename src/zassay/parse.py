"""Raw becomes parsed: gates first, then metrics run by run, and the ledger with its labels. Needs no virtual machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from zassay import gates
from zassay.gates import UNREADABLE, Verdict
from zassay.ledger import book
from zassay.record import RunFiles
from zassay.workloads import READ

BUFFERED = "buffered"


def parse_run(folder: Path) -> dict[str, Any]:
    """One raw folder as JSON: status (ok, invalid, failed), reason, gates, flags, the runs of the boot, circumstances.

    Each of ``runs`` has its number, ``measurements``, ``void`` (metrics that cannot be had, with the reason), ``ledger``
    (one book for each phase, in order) and ``latencies`` by operation. A boot that does not count has none.
    """
    run = RunFiles(folder)
    parsed: dict[str, Any] = {"status": run.status["status"], "reason": run.status["reason"], "run": run.status}
    if run.status["status"] != "ok":
        step = run.status.get("step") or "start"
        reason = f"step {step}: {run.status['reason']}"
        return parsed | {"reason": reason, "gates": [], "flags": [], "runs": [], "facts": _facts(run), "settings": run.settings}
    found = gates.check_all(run)
    status, reason, flags = judge(found, emulated=_facts(run)["validity"]["class"] == "E")
    parsed |= {"status": status, "reason": reason, "gates": [vars(each) for each in found]}
    parsed |= {"flags": flags + buffered(run), "facts": _facts(run), "settings": run.settings}
    return parsed | _numbers(run, parsed)


def _facts(run: RunFiles) -> dict[str, Any]:
    return run.facts if (run.folder / "facts.json").is_file() else {}


def judge(found: list[Verdict], emulated: bool) -> tuple[str, str, list[str]]:
    """(status, reason, flags) from the gates' findings. A gate of single metrics voids these alone, and does so by itself."""
    failed = [each for each in found if not each.passed]
    flags = [each.gate for each in failed if each.protects == gates.METRICS or (emulated and each.protects == gates.TIMES)]
    voiding = [each for each in failed if each.gate not in flags]
    return ("invalid" if voiding else "ok"), "; ".join(each.reason for each in voiding), flags


def buffered(run: RunFiles) -> list[str]:
    """A write smaller than twice the memory, or four times ZFS's dirty limit, was partly a write into memory."""
    wanted = run.workload.wanted_bytes(run.plan)
    size = max((wanted.get(span.name, 0) for span in run.spans if span.moves != READ), default=None)
    if size is None:
        return []
    dirty = int(run.settings["tunables"].get("zfs_dirty_data_max", 0))
    small = size < 2 * run.settings["machine"]["memory"] or size < 4 * dirty
    return [BUFFERED] if small else []


def _numbers(run: RunFiles, parsed: dict[str, Any]) -> dict[str, Any]:
    """Metrics and ledgers; what cannot be read makes the boot invalid, never a number."""
    try:
        return {"runs": [_one(run, number, parsed["status"] == "ok") for number in run.numbers]}
    except UNREADABLE as error:
        reason = "; ".join(filter(None, [parsed["reason"], f"unreadable output: {error}"]))
        return {"runs": [], "status": "invalid", "reason": reason}


def _one(run: RunFiles, number: int, counts: bool) -> dict[str, Any]:
    books = [book(run, span) for span in run.spans if span.run == number]
    logical, used = run.space(number)
    metrics = run.workload.metrics(run, number) if counts else {}
    fast = run.workload.too_fast(run, number) if counts else frozenset[str]()
    return {
        "run": number,
        "measurements": metrics,
        "void": dict.fromkeys(sorted(fast), "the tool could not time it: too fast"),
        "space": {"logical_bytes": logical, "used_bytes": used},
        "ledger": [asdict(each) for each in books],
        "latencies": _latencies(run, number) if counts else {},
    }


def _latencies(run: RunFiles, number: int) -> dict[str, list[tuple[float, int]]]:
    """Operation -> (seconds, count) pairs."""
    return {operation: sorted(counts.items()) for operation, counts in run.workload.histograms(run, number).items()}
