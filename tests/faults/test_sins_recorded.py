"""Each known error of benchmarks, put into a copy of a real record, makes its own gate fire and no other.

Those that only other workloads can commit are in ``test_sins_workloads``; a gate without a sin in either fails that suite, since
a gate that cannot fail is a defect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from golden_record import GOLDEN, change, copied, rewrite, swap
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zassay import gates, parse, registry
from zassay.gates import Gate
from zassay.record import RunFiles

POOL_DISK = "vdb"
GATES: dict[str, type[Gate]] = registry.every(gates, Gate)  # type: ignore[type-abstract]


@dataclass(frozen=True)
class Sin:
    """What was done wrong, the gate that has to see it, and words that its reason has to hold."""

    what: str
    gate: str
    commit: Callable[[Path], object]
    seen: str


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda record: rewrite(record, name, swap(old, new))


def row(name: str, pattern: str, new: str) -> Callable[[Path], None]:
    return lambda record: rewrite(record, name, lambda text: re.sub(pattern, new, text, flags=re.M))


def fact(edit_facts: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda record: change(record, "facts.json", edit_facts)


def moved(record: Path, phase: str, column: int, size: int) -> None:
    """Let the pool's disk have moved ``size`` bytes in a phase; column 5 counts sectors read, 9 sectors written."""

    def words(end: str) -> list[str]:
        lines = (record / "guest" / f"snap.{phase}_{end}.diskstats").read_text().splitlines()
        return next(line.split() for line in lines if line.split()[2] == POOL_DISK)

    before, after = words("start"), words("end")
    wanted = [*after[:column], str(int(before[column]) + size // 512), *after[column + 1 :]]
    rewrite(record, f"snap.{phase}_end.diskstats", row_of(POOL_DISK, wanted))


def row_of(disk: str, words: list[str]) -> Callable[[str], str]:
    return lambda text: "".join(f"{' '.join(words) if line.split()[2] == disk else line}\n" for line in text.splitlines())


def zeros(record: Path) -> None:
    """Zeros become holes: next to nothing is stored, and next to nothing moves."""
    rewrite(record, "space", lambda text: re.sub(r"^used\t\d+", "used\t131072", text, flags=re.M))
    moved(record, "write", 9, 262144)
    moved(record, "read", 5, 131072)


def stolen(record: Path) -> None:
    """The eighth CPU state is what the host took away: 200 ticks of it during the write."""
    rewrite(record, "marks", lambda text: "".join(_steal(line) for line in text.splitlines(keepends=True)))


def _steal(line: str) -> str:
    words = line.split()
    words[4 + 7] = "0" if words[0] == "write_start" else "200"
    return " ".join(words) + "\n"


def stepped(record: Path) -> None:
    """The guest's clock is set forward by 700 ms in the middle of the read."""

    def later(match: re.Match[str]) -> str:
        return f"{match.group(1)}{float(match.group(2)) + 0.7:.6f}"

    rewrite(record, "marks", lambda text: re.sub(r"^(read_end \S+ )(\S+)", later, text, flags=re.M))


def host_saw_less(record: Path) -> None:
    def less(host: dict[str, Any]) -> None:
        for each in host["blockstats"]:
            each["stats"]["rd_bytes"] //= 16

    change(record, "host.json", less)


SHORT_DD = "31+0 records in\n31+0 records out\n32505856 bytes (33 MB, 31 MiB) copied, 1.2 s, 27.1 MB/s\n"
SINS = [
    Sin("zeros instead of the payload", "payload", zeros, "256.4"),
    Sin("another corpus than the planned", "payload", row("space", r"^used\t\d+", "used\t18000000"), "1.867"),
    Sin("a cold read from a warm ARC", "cold", row("cold", r"^data_size( +4 +)\d+", r"data_size\g<1>33554432"), "50.0%"),
    Sin("a property that did not take", "readback", edit("readback", "compression\tlz4", "compression\toff"), "compression=off"),
    Sin("a property that reads back as nothing", "readback", row("readback", r"^property\.sync\t.*\n", ""), "sync=(nothing)"),
    Sin("a tunable that was not applied", "readback", edit("readback", "batch_pct\t50", "batch_pct\t75"), "batch_pct=75"),
    Sin("another checksum than the pinned", "readback", edit("readback", "fastest [scalar]", "[fastest] scalar"), "=fastest"),
    Sin("a repeat that was dropped", "counted", lambda record: rewrite(record, "dd.read", lambda _: SHORT_DD), "read 32505856"),
    Sin("output of the tool cut short", "counted", edit("dd.write", " copied, ", " cop"), "Unreadable: dd"),
    Sin("no output of the tool", "counted", lambda record: (record / "guest" / "dd.read").unlink(), "left no such file"),
    Sin("other bytes read back", "content", edit("compare", "same", "x y differ: byte 9, line 1"), "differ: byte 9"),
    Sin("a degraded pool", "health", edit("pool", "ONLINE", "DEGRADED"), "DEGRADED"),
    Sin("a nearly full pool", "health", edit("pool", "\t10\t", "\t90\t"), "90% full"),
    Sin("no word of the pool", "health", lambda record: rewrite(record, "pool", lambda _: "tank\n"), "IndexError"),
    Sin("a guest that swapped", "swap", edit("vmstat", "pswpout 0", "pswpout 7"), "7 pages"),
    Sin("a guest that read its swap", "swap", edit("vmstat", "pswpin 0", "pswpin 3"), "3 pages"),
    Sin("CPUs taken away by the host", "steal", stolen, "%"),
    Sin("a clock that runs slow", "clock", fact(lambda f: f["clock"].update(guest_s=f["clock"]["host_s"] * 0.9)), "0.9000"),
    Sin("a clock that was set", "clock", stepped, "0.7"),
    Sin("a clock that stood still", "clock", fact(lambda f: f["clock"].update(host_s=0.0)), "ZeroDivisionError"),
    Sin(
        "a kernel warning",
        "quiet",
        edit("dmesg", "[    0.0", "[    9.0] WARNING: CPU: 1 PID: 7 at x.c:1\n[    0.0"),
        "WARNING: CPU: 1",
    ),
    Sin(
        "a hang", "quiet", edit("dmesg", "[    0.0", "INFO: task dd:9 blocked for more than 120 seconds.\n[    0.0"), "task dd:9"
    ),
    Sin("no memory left", "quiet", edit("dmesg", "[    0.0", "Out of memory: Killed process 7\n[    0.0"), "Killed process 7"),
    Sin("a bad disk", "quiet", edit("dmesg", "[    0.0", "I/O error, dev vdb, sector 8\n[    0.0"), "dev vdb"),
    Sin("tools of another version", "versions", fact(lambda f: f["guest"].update(zfs_tools="zfs-2.2.0-1")), "tools 2.2.0-1"),
    Sin("a read that the host's cache served", "ledger", host_saw_less, "host read"),
    Sin("a read that never reached the disk", "ledger", lambda r: moved(r, "read", 5, 4096), "4096 bytes read from the pool"),
    Sin("a write that stayed in memory", "ledger", lambda r: moved(r, "write", 9, 8 << 20), "8388608 bytes written"),
    Sin(
        "ARC counters that do not add up",
        "ledger",
        row("snap.read_end.arcstats", r"^hits( +4 +)\d+", r"hits\g<1>999999"),
        "are not its",
    ),
    Sin("a guest that named no pool disk", "ledger", fact(lambda f: f["disks"].pop("pool0")), "no disk of the pool"),
]
ALL = pytest.mark.parametrize("sin", SINS, ids=lambda sin: sin.what)


def fired(record: Path) -> list[str]:
    return [each.gate for each in gates.check_all(RunFiles(record)) if not each.passed]


def as_class(record: Path, label: str) -> None:
    change(record, "facts.json", lambda facts: facts["validity"].update({"class": label}))


def test_sins_are_of_gates_that_there_are() -> None:
    """That every gate has one is tested where the last of them are, in test_sins_workloads."""
    assert {sin.gate for sin in SINS} <= set(GATES)


def test_every_gate_passes_the_record_of_a_real_guest() -> None:
    found = gates.check_all(RunFiles(GOLDEN))
    assert {each.gate for each in found} == set(GATES)
    assert [each.reason for each in found if not each.passed] == []


@ALL
def test_a_sin_makes_its_gate_fire_and_no_other(tmp_path: Path, sin: Sin) -> None:
    record = copied(tmp_path)
    sin.commit(record)
    assert fired(record) == [sin.gate]
    reason = next(each.reason for each in gates.check_all(RunFiles(record)) if not each.passed)
    assert reason.startswith(f"gate {sin.gate}: expected ") and sin.seen in reason


@ALL
@pytest.mark.parametrize("label", ["E", "V"])
def test_a_sin_voids_the_run_but_for_times_that_are_no_evidence_anyway(tmp_path: Path, sin: Sin, label: str) -> None:
    record = copied(tmp_path)
    as_class(record, label)
    sin.commit(record)
    parsed = parse.parse_run(record)
    if label == "E" and GATES[sin.gate].protects == "times":
        assert (parsed["status"], parsed["reason"], sin.gate in parsed["flags"]) == ("ok", "", True)
        assert parsed["runs"][0]["measurements"]["compressratio"] == pytest.approx(1.71, abs=0.01)
    else:
        assert parsed["status"] == "invalid"
        assert f"gate {sin.gate}: " in parsed["reason"]
        assert all(run["measurements"] == {} for run in parsed["runs"])


@pytest.mark.parametrize(("ratio", "passed"), [(1.0, True), (3.9, True), (4.2, False), (250.0, False), (0.9, False)])
def test_under_a_setting_that_nobody_promised_the_payload_is_still_bounded(tmp_path: Path, ratio: float, passed: bool) -> None:
    record = copied(tmp_path)
    change(record, "settings.json", lambda found: found["properties"].update(compression="zstd-fast-1000"))
    row("space", r"^used\t\d+", f"used\t{33609728 / ratio:.0f}")(record)
    verdict = GATES["payload"]().verdict(RunFiles(record))
    assert verdict.passed is passed


def test_gates_of_times_are_those_we_mean() -> None:
    assert {name for name, gate in GATES.items() if gate.protects == "times"} == {"clock", "host", "steal", "throttle"}
    assert {name for name, gate in GATES.items() if gate.protects == "metrics"} == {"toofast"}
    assert {gate.protects for gate in GATES.values()} == {"times", "counts", "metrics"}


def test_two_sins_are_both_told(tmp_path: Path) -> None:
    record = copied(tmp_path)
    for sin in SINS:
        if sin.what in ("a degraded pool", "a guest that swapped"):
            sin.commit(record)
    reason = parse.parse_run(record)["reason"]
    assert "gate health: " in reason and "; gate swap: " in reason


# No record, however spoiled, becomes another number or an end of the program

WHOLE = parse.parse_run(GOLDEN)
FILES = sorted(path.name for path in (GOLDEN / "guest").iterdir())


def spoiled(tmp_path: Path, name: str, data: bytes | None) -> dict[str, Any]:
    record = copied(tmp_path)
    path = record / "guest" / name
    path.write_bytes(data) if data is not None else path.unlink()
    return parse.parse_run(record)


def told_or_the_same(parsed: dict[str, Any]) -> None:
    if parsed["status"] == "ok":
        assert parsed["runs"][0]["measurements"] == WHOLE["runs"][0]["measurements"]
    else:
        assert parsed["status"] == "invalid" and all(run["measurements"] == {} for run in parsed["runs"])
        assert parsed["reason"]
    json.dumps(parsed)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", [None, b"", b"\n", b"\xff\xfe\n", b"0\n" * 40], ids=["gone", "empty", "blank", "bytes", "zeros"])
def test_a_file_that_is_gone_or_rubbish_gives_no_other_number(tmp_path: Path, name: str, data: bytes | None) -> None:
    told_or_the_same(spoiled(tmp_path, name, data))


@given(name=st.sampled_from(FILES), share=st.floats(0, 1))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_gives_no_other_number(tmp_path: Path, name: str, share: float) -> None:
    data = (GOLDEN / "guest" / name).read_bytes()
    told_or_the_same(spoiled(tmp_path, name, data[: int(share * len(data))]))


def test_host_files_that_are_not_json_void_the_run(tmp_path: Path) -> None:
    record = copied(tmp_path)
    (record / "host.json").write_text("{")
    assert parse.parse_run(record)["status"] == "invalid"
