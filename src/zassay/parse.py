"""Raw becomes parsed: gates first, then metrics, and the ledger with its label. Needs no virtual machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zassay import gates, workloads
from zassay.gates import UNREADABLE, Verdict
from zassay.ledger import UNKNOWN, ledger
from zassay.record import RunFiles

BUFFERED = "buffered"


def parse_run(folder: Path) -> dict[str, Any]:
    """One raw folder as JSON: status (ok, invalid, failed), reason, gates, flags, measurements, ledger, circumstances."""
    run = RunFiles(folder)
    parsed: dict[str, Any] = {"status": run.status["status"], "reason": run.status["reason"], "run": run.status}
    if run.status["status"] != "ok":
        step = run.status.get("step") or "start"
        return (
            parsed
            | _nothing()
            | {"reason": f"step {step}: {run.status['reason']}", "facts": _facts(run), "settings": run.settings}
        )
    found = gates.check_all(run)
    status, reason, flags = judge(found, emulated=_facts(run)["validity"]["class"] == "E")
    parsed |= {"status": status, "reason": reason, "gates": [vars(each) for each in found]}
    parsed |= {"flags": flags + buffered(run), "facts": _facts(run), "settings": run.settings}
    return parsed | _numbers(run, parsed)


def _facts(run: RunFiles) -> dict[str, Any]:
    return run.facts if (run.folder / "facts.json").is_file() else {}


def _nothing() -> dict[str, Any]:
    return {"measurements": {}, "gates": [], "flags": [], "ledger": {}, "bound": UNKNOWN}


def judge(found: list[Verdict], emulated: bool) -> tuple[str, str, list[str]]:
    """(status, reason, flags) from the gates' findings."""
    failed = [each for each in found if not each.passed]
    flags = [each.gate for each in failed if emulated and each.protects == "times"]
    voiding = [each for each in failed if each.gate not in flags]
    return ("invalid" if voiding else "ok"), "; ".join(each.reason for each in voiding), flags


def buffered(run: RunFiles) -> list[str]:
    """A write smaller than twice the memory, or four times ZFS's dirty limit, was partly a write into memory."""
    size = int(run.settings["workload"].get("size", 0))
    dirty = int(run.settings["tunables"].get("zfs_dirty_data_max", 0))
    small = size < 2 * run.settings["machine"]["memory"] or size < 4 * dirty
    return [BUFFERED] if small else []


def _numbers(run: RunFiles, parsed: dict[str, Any]) -> dict[str, Any]:
    """Metrics and ledger; what cannot be read makes the run invalid, never a number."""
    try:
        book = ledger(run)
        metrics = workloads.get(run.settings["workload"]["tool"]).metrics(run)
    except UNREADABLE as error:
        reason = "; ".join(filter(None, [parsed["reason"], f"unreadable output: {error}"]))
        return _nothing() | {"gates": parsed["gates"], "flags": parsed["flags"], "status": "invalid", "reason": reason}
    bound = {"write": book.write_bound, "read": book.read_bound}
    return {"measurements": metrics if parsed["status"] == "ok" else {}, "ledger": vars(book), "bound": bound}
