"""Errors of benchmarks that only some workloads can make, put into copies of real records: each makes its own gate fire.

Beside ``test_sins_recorded`` (a copy), these are records of fio, bonnie++, a read beside writers and parallel writers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from golden_record import RUNS, change, copied, recorded, rewrite

from zassay import gates, parse
from zassay.record import RunFiles
from zassay.tools import bonnie

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in RUNS.glob("*.tar.xz"))
COPY = "copy"
FIO, BONNIE, READ, WRITERS = "fio", "bonnie", "checksum-read", "parallel-writers"


@dataclass(frozen=True)
class Sin:
    """What was done wrong to which record, the gate that has to see it, and words that its reason has to hold."""

    what: str
    record: str
    gate: str
    commit: Callable[[Path], object]
    seen: str


def row(name: str, pattern: str, new: str) -> Callable[[Path], None]:
    return lambda record: rewrite(record, name, lambda text: re.sub(pattern, new, text, flags=re.M))


def fact(edit_facts: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda record: change(record, "facts.json", edit_facts)


def counter(span: str, what: str, name: str, add: int) -> Callable[[Path], None]:
    """Let a counter have grown by so much more between the marks of a span."""

    def more(match: re.Match[str]) -> str:
        return f"{match.group(1)}{int(match.group(2)) + add}"

    return lambda record: rewrite(
        record, f"snap.{span}.{what}", lambda text: re.sub(rf"^({name}:? +(?:4 +)?)(\d+)", more, text, flags=re.M)
    )


def both(*commits: Callable[[Path], object]) -> Callable[[Path], None]:
    def all_of(record: Path) -> None:
        for commit in commits:
            commit(record)

    return all_of


def fio_json(run: str, commit: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def change_it(record: Path) -> None:
        path = record / "guest" / f"fio.{run}.json"
        value = json.loads(path.read_text())
        commit(value)
        path.write_text(json.dumps(value))

    return change_it


def half_the_work(found: dict[str, Any]) -> None:
    """As fio would print a run that read half as much in half the time."""
    read = found["jobs"][0]["read"]
    for key in ("io_bytes", "io_kbytes", "total_ios", "runtime"):
        read[key] //= 2
    read["iops"] = 1000 * read["total_ios"] / read["runtime"]
    read["bw_bytes"] = 1000 * read["io_bytes"] // read["runtime"]
    read["bw"] = read["bw_bytes"] // 1024
    for key in ("clat_ns", "lat_ns", "slat_ns"):
        read.pop(key, None)


def csv(name: str, **fields: str) -> Callable[[Path], None]:
    """Other words in a line of bonnie++, by the names of its fields."""

    def other(text: str) -> str:
        row = dict(zip(bonnie.columns("1.98"), text.rstrip("\n").split(","), strict=True))
        return ",".join((row | fields).values()) + "\n"

    return lambda record: rewrite(record, name, other)


def kept_by_the_host(record: Path) -> None:
    """The disks were opened through the host's page cache, as a QEMU command line without cache.direct has them."""
    fact(lambda f: f.update(qemu=[re.sub(r"cache\.direct=on", "cache.direct=off", word) for word in f["qemu"]]))(record)


def faster_than_the_disk(record: Path) -> None:
    """The machine's disk is said to be slower than what was read from it."""
    change(record, "settings.json", lambda found: found["machine"]["disks"]["pool0"].update(bytes_per_s=1 << 20))


def died(record: Path) -> None:
    """One of the writers ends a second after the read began: its record stops, with no word of an end."""
    text = (record / "guest" / "marks").read_text()
    start = next(float(line.split()[1]) for line in text.splitlines() if line.startswith("read_start "))
    rewrite(record, "writers.read", lambda said: "".join(_until(said.splitlines(keepends=True), start + 1)))


def _until(lines: list[str], moment: float) -> list[str]:
    return [line for line in lines if line.split()[0] != "1" or float(line.split()[1]) <= moment]


def gave_up(record: Path) -> None:
    """The first writer ends before its last four MiB, and says that it ended."""

    def short(text: str) -> str:
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if line.split()[0] != "0" or int(line.split()[2]) <= 60 << 20]
        last = max(float(line.split()[1]) for line in lines)
        return "".join([*kept, f"0 {last} {60 << 20} end\n"])

    rewrite(record, "writers.write", short)


def no_drop(record: Path) -> None:
    """The cold protocol of the second run did nothing: the ARC still held its data."""
    row("cold.2", r"^data_size( +4 +)\d+", r"data_size\g<1>50331648")(record)


# As a real pool of 2.1 showed it after bonnie++ with dedup=on: no two blocks alike.
DEDUP = """
 dedup: DDT entries 2048, size 297B on disk, 176B in core

bucket              allocated                       referenced
______   ______________________________   ______________________________
refcnt   blocks   LSIZE   PSIZE   DSIZE   blocks   LSIZE   PSIZE   DSIZE
------   ------   -----   -----   -----   ------   -----   -----   -----
     1       2K    256M      2M      2M       2K    256M      2M      2M
 Total       2K    256M      2M      2M       2K    256M      2M      2M
"""


def nothing_alike(record: Path) -> None:
    """Writers that were to repeat their buffers, as ior's do, wrote other data each time."""
    change(record, "settings.json", lambda found: found["properties"].update(dedup="on"))
    row("readback", r"^property\.dedup\toff$", "property.dedup\ton")(record)
    (record / "guest" / "dedup").write_text(DEDUP)


def loads(**after: float) -> Callable[[Path], None]:
    """What the host did meanwhile, for records that do not tell it: ten seconds on two cores, eight of them our guest's."""
    quiet = {"all_s": 20.0, "busy_s": 8.5, "stolen_s": 0.0, "guest_s": 8.0, "memavailable_bytes": 8e9, "heat_count": 0.0}
    before = dict.fromkeys(quiet, 0.0) | {"memavailable_bytes": 8e9}
    return fact(lambda f: f.update(host_load={"before": before, "after": quiet | after}))


SHORT_CSV = "1.98,2.00a,zassay,1,1795265732,128M"
SINS = [
    Sin("zeros where buffers were to be laid out", FIO, "payload", row("file", r"^(\d+) \d+ ", r"\1 1 "), "786432"),
    Sin("buffers that do not compress", FIO, "payload", row("file", r"^(\d+) \d+ ", r"\1 786432 "), "1.000"),
    Sin("data where holes were to be", "fio-holes", "payload", row("file", r"^(\d+) \d+ ", r"\1 786432 "), "1.000"),
    Sin(
        "a working set within the ARC",
        FIO,
        "workingset",
        row("snap.randread.5_end.arcstats", r"^c_max( +4 +)\d+", r"c_max\g<1>536870912"),
        "384 MiB",
    ),
    Sin("a repeat that was dropped", FIO, "counted", fio_json("randread.3", half_the_work), "randread.3 16777216"),
    Sin("a repeat without output", FIO, "counted", lambda r: (r / "guest" / "fio.randread.4.json").unlink(), "no such file"),
    Sin(
        "an error that fio tells and forgives", FIO, "tool", fio_json("layout", lambda f: f["jobs"][0].update(error=5)), "error 5"
    ),
    Sin(
        "reads that neither the ARC nor the disks delivered",
        FIO,
        "ledger",
        both(
            counter("randread_end", "arcstats", "demand_data_misses", 9000),
            counter("randread_end", "arcstats", "misses", 9000),
        ),
        "read from the pool's disks in randread",
    ),
    Sin(
        "a tool that says it read more than the kernel gave it",
        FIO,
        "ledger",
        counter("randread.2_end", "io", "rchar", -30_000_000),
        "the kernel",
    ),
    Sin("disks faster than they can be", READ, "hostcache", faster_than_the_disk, "moved"),
    Sin("disks opened through the host's cache", COPY, "hostcache", kept_by_the_host, "opened through"),
    Sin(
        "blocks that were cloned and not written",
        FIO,
        "clones",
        lambda r: (r / "guest" / "cloned").write_text("bcloneused\t1048576\n"),
        "1048576",
    ),
    Sin(
        "a phase too fast to be timed",
        BONNIE,
        "toofast",
        csv("bonnie.csv", put_block="+++++", put_block_cpu="+++"),
        "seq_block_write",
    ),
    Sin(
        "a phase that was left out",
        BONNIE,
        "tool",
        csv("bonnie.2.csv", put_block="", put_block_cpu="", put_block_latency=""),
        "no seq_block_write",
    ),
    Sin(
        "a line of bonnie++ cut short",
        BONNIE,
        "counted",
        lambda r: (r / "guest" / "bonnie.2.csv").write_text(SHORT_CSV),
        "cut off",
    ),
    Sin("a smaller file than was asked for", BONNIE, "counted", csv("bonnie.csv", file_size="64M"), "67108864"),
    Sin("writers that died early", READ, "overlap", died, "%"),
    Sin("a writer that never began", READ, "overlap", row("writers.read.2", r"^1 .*\n", ""), "0.0%"),
    Sin("a second run that was not cold", READ, "cold", no_drop, "75.0%"),
    Sin("a reader that read something else", READ, "content", row("md5.read.2", r"^[0-9a-f]{4}", "0000"), "read.2: md5 0000"),
    Sin(
        "a writer that failed",
        WRITERS,
        "tool",
        row("writers.write", r"^(2 \S+ \d+) end$", r"\1 error No space left"),
        "No space left",
    ),
    Sin("a writer that wrote less", WRITERS, "counted", gave_up, "write 197132288"),
    Sin("buffers that were to repeat and did not", WRITERS, "dedup", nothing_alike, "1.00"),
    Sin("another image's kernel", FIO, "image", fact(lambda f: f["guest"].update(kernel="6.12.1-amd64")), "6.12.1"),
    Sin("a swapped image", FIO, "image", lambda r: change(r, "status.json", lambda s: s.update(image_digest="0" * 64)), "000000"),
    Sin("other threads than were set", COPY, "threads", row("samples", r"^z_wr_iss \d+$", "z_wr_iss 3"), "3"),
    Sin("a host that does other work", COPY, "host", loads(busy_s=12.0), "20.0%"),
    Sin("a host that is robbed itself", COPY, "host", loads(stolen_s=1.0, busy_s=9.5), "5.0%"),
    Sin("a host without memory to spare", COPY, "host", loads(memavailable_bytes=1e8), "95.37 MiB"),
    Sin("a host without room on its disk", COPY, "host", loads(free_bytes=1e8), "95.37 MiB"),
    Sin("a host too hot to go on", COPY, "throttle", loads(heat_count=3.0), "heat_count 3"),
    Sin("a quota that held us back", COPY, "throttle", loads(quota_s=0.5), "quota_s 0.5"),
    Sin(
        "a panic on the console",
        FIO,
        "quiet",
        lambda r: (r / "console.log").write_text("Kernel panic - not syncing: x\n"),
        "Kernel panic",
    ),
]


def test_every_gate_has_a_sin() -> None:
    """Here or among those of a copy. Gates are found by looking: one that nothing can make fire is a defect."""
    from faults.test_sins_recorded import GATES
    from faults.test_sins_recorded import SINS as OTHERS

    assert {sin.gate for sin in SINS} | {sin.gate for sin in OTHERS} == set(GATES)


def of(name: str, folder: Path) -> Path:
    return copied(folder) if name == COPY else recorded(name, folder)


def fired(record: Path) -> set[str]:
    return {each.gate for each in gates.check_all(RunFiles(record)) if not each.passed}


@pytest.mark.parametrize("name", NAMES)
def test_records_of_real_guests_pass_every_gate_but_that_of_a_busy_host(tmp_path: Path, name: str) -> None:
    """They were taken while others worked on the host, and its gate says so: of times that are no evidence anyway."""
    record = of(name, tmp_path)
    assert fired(record) <= {"host"}
    parsed = parse.parse_run(record)
    assert (parsed["status"], parsed["reason"]) == ("ok", "")
    assert all(run["measurements"] and not run["void"] for run in parsed["runs"])


@pytest.mark.parametrize("sin", SINS, ids=lambda sin: sin.what)
def test_a_sin_makes_its_gate_fire_and_no_other(tmp_path: Path, sin: Sin) -> None:
    record = of(sin.record, tmp_path)
    before = fired(record)
    sin.commit(record)
    assert fired(record) - before == {sin.gate}
    reason = next(each.reason for each in gates.check_all(RunFiles(record)) if each.gate == sin.gate)
    assert reason.startswith(f"gate {sin.gate}: expected ") and sin.seen in reason


@pytest.mark.parametrize("sin", SINS, ids=lambda sin: sin.what)
def test_a_sin_leaves_no_value_that_counts(tmp_path: Path, sin: Sin) -> None:
    record = of(sin.record, tmp_path)
    change(record, "facts.json", lambda facts: facts["validity"].update({"class": "V"}))
    change(record, "facts.json", lambda facts: facts.pop("host_load", None))
    sin.commit(record)
    parsed = parse.parse_run(record)
    if sin.gate == "toofast":
        assert parsed["status"] == "ok" and "toofast" in parsed["flags"]
        assert [sorted(run["void"]) for run in parsed["runs"]] == [["seq_block_write"], []]
        assert "seq_block_write" not in parsed["runs"][0]["measurements"]
    else:
        assert parsed["status"] == "invalid" and f"gate {sin.gate}: " in parsed["reason"]
        assert all(run["measurements"] == {} for run in parsed["runs"])


def test_a_rotten_output_of_any_run_gives_no_other_number(tmp_path: Path) -> None:
    """Whatever file of a record is lost, its boot is void or its numbers are the same."""
    for name in NAMES:
        record = of(name, tmp_path)
        whole = parse.parse_run(record)
        for path in sorted((record / "guest").iterdir()):
            data = path.read_bytes()
            path.unlink()
            parsed = parse.parse_run(record)
            path.write_bytes(data)
            values = [run["measurements"] for run in parsed["runs"]]
            assert parsed["status"] == "invalid" or values == [run["measurements"] for run in whole["runs"]], path.name
