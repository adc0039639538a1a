"""Readers against what a real guest printed, and against the same cut or spoiled at any byte.

Promised is: a text cut anywhere is Unreadable, or gives some of the same entries with the same values. A text with one
byte changed is Unreadable, or differs in the entry of that line alone. (A digit that became another digit cannot be
seen by a reader; gates compare it with what else is known.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from golden_record import golden, guest_text
from hypothesis import given, settings
from hypothesis import strategies as st

from zassay import readers
from zassay.readers import DiskCounters, Mark, Unreadable

MARKS, DISKS, ARC, SPACE = (guest_text(name) for name in ("marks", "snap.write_end.diskstats", "cold", "space"))
READBACK, VMSTAT, DD, SAMPLES = (guest_text(name) for name in ("readback", "vmstat", "dd.read", "samples"))
# The same forms, short enough to be cut at every byte.
ARC_SHORT = "".join(f"{line}\n" for line in ARC.splitlines()[:14])
VMSTAT_SHORT = "".join(f"{line}\n" for line in VMSTAT.splitlines()[60:70])
TABLES: dict[str, tuple[Callable[[str], Mapping[str, Any]], str]] = {
    "marks": (readers.marks, MARKS),
    "diskstats": (readers.diskstats, DISKS),
    "kstat": (readers.kstat, ARC_SHORT),
    "pairs": (readers.pairs, READBACK),
    "table": (readers.colon_table, VMSTAT_SHORT),
}
EACH = pytest.mark.parametrize("name", TABLES)


# What a real guest printed


def test_marks_of_a_real_guest() -> None:
    found = readers.marks(MARKS)
    assert list(found) == ["write_start", "write_end", "read_start", "read_end"]
    assert found["write_start"] == Mark("write_start", 14.19, 1795254650.029598, (321, 0, 1096, 2735, 131, 0, 86, 0, 0, 0))


def test_busy_and_stolen_shares_of_a_real_guest() -> None:
    found = readers.marks(MARKS)
    busy = readers.busy_share(found["write_start"], found["write_end"])
    # user 21, system 299, idle 336, iowait 172, softirq 20
    assert busy == pytest.approx((21 + 299 + 20) / (21 + 299 + 336 + 172 + 20))
    assert readers.steal_share(found["write_start"], found["write_end"]) == 0


def test_disks_of_a_real_guest_in_bytes() -> None:
    found = readers.diskstats(DISKS)
    assert {"vda", "vda1", "vdb", "vdb1", "vdb9", "vdc"} == set(found)
    words = next(line.split() for line in DISKS.splitlines() if line.split()[2] == "vdb")
    n = [int(word) for word in words[3:]]
    assert found["vdb"] == DiskCounters(n[0], n[2] * 512, n[4], n[6] * 512, n[9])
    assert found["vdb"].bytes_written > 19_000_000


def test_arc_of_a_real_guest() -> None:
    found = readers.kstat(ARC)
    assert found["c_max"] == 64 << 20
    assert found["hits"] + found["misses"] > 0
    assert found["data_size"] < 0.05 * found["c_max"]
    assert len(found) == len(ARC.splitlines()) - 2


def test_what_dd_said(tmp_path: object) -> None:
    assert readers.dd_bytes(DD) == 32 << 20
    short = "0+1 records in\n0+1 records out\n12 bytes copied, 0.001 s, 12.0 kB/s\n"
    assert readers.dd_bytes(short) == 12


def test_read_back_and_space_of_a_real_guest() -> None:
    found = readers.pairs(READBACK)
    assert found["property.compression"] == "lz4" and found["pool.ashift"] == "12"
    assert found["tunable.zfs_fletcher_4_impl"].startswith("fastest [scalar]")
    assert golden().space() == (33609728, 19652608)


def test_tables_of_a_real_guest() -> None:
    assert readers.colon_table(VMSTAT)["pswpout"] == 0
    memory = readers.colon_table(guest_text("meminfo"))
    assert memory["MemTotal"] == 467632 * 1024 and memory["HugePages_Total"] == 0


def test_samples_of_a_real_guest() -> None:
    found = readers.samples(SAMPLES)
    assert len(found) == 4
    assert [sample.uptime for sample in found] == sorted(sample.uptime for sample in found)
    for sample in found:
        assert set(sample.parts) == {
            "head:1:/proc/stat",
            "file:/proc/meminfo",
            "file:/proc/spl/kstat/zfs/arcstats",
            "file:/proc/diskstats",
            "threads:z_wr_iss",
        }
        assert readers.kstat(sample.parts["file:/proc/spl/kstat/zfs/arcstats"])["c_max"] == 64 << 20
        assert sample.parts["threads:z_wr_iss"] == "z_wr_iss 2\n"


# The same, cut


@EACH
def test_a_cut_text_is_unreadable_or_says_less(name: str) -> None:
    read, text = TABLES[name]
    whole = read(text)
    readable = 0
    for end in range(len(text)):
        try:
            found = read(text[:end])
        except Unreadable:
            continue
        readable += 1
        assert found.items() <= whole.items(), f"cut at {end}"
    assert readable <= text.count("\n") + 1, "only a cut between two lines may go unseen"


@pytest.mark.parametrize("end", range(len(DD)))
def test_a_cut_dd_is_unreadable(end: int) -> None:
    with pytest.raises(Unreadable):
        readers.dd_bytes(DD[:end])


@given(st.integers(0, len(SAMPLES)))
@settings(max_examples=300)
def test_cut_samples_are_the_first_ones(end: int) -> None:
    whole, found = readers.samples(SAMPLES), readers.samples(SAMPLES[:end])
    for mine, theirs in zip(found, whole, strict=False):
        assert mine.uptime == theirs.uptime
        assert mine.parts.items() <= theirs.parts.items()
    for mine, theirs in zip(found[:-1], whole, strict=False):
        assert mine == theirs


# The same, with one byte changed


def flipped(text: str, at: int, byte: int) -> str:
    data = bytearray(text.encode())
    data[at] = byte
    return data.decode(errors="replace")


def entries_near(read: Callable[[str], Mapping[str, Any]], text: str, at: int) -> set[str]:
    """The entries of the line of a byte (of two lines, when the byte ended one)."""
    number = text.encode()[:at].count(b"\n")
    lines = text.splitlines(keepends=True)
    without = lines[:number] + lines[number + (2 if text.encode()[at : at + 1] == b"\n" else 1) :]
    try:
        return set(read(text)) - set(read("".join(without)))
    except Unreadable:  # the header
        return set(read(text))


@EACH
@given(data=st.data(), byte=st.one_of(st.integers(0, 255), st.sampled_from(b"0123456789 \n\t_-.:")))
@settings(max_examples=400)
def test_a_changed_byte_is_unreadable_or_touches_one_entry(name: str, data: st.DataObject, byte: int) -> None:
    read, text = TABLES[name]
    at = data.draw(st.integers(0, len(text.encode()) - 1))
    whole = read(text)
    try:
        found = read(flipped(text, at, byte))
    except Unreadable:
        return
    near = entries_near(read, text, at)
    assert {key for key in whole if found.get(key) != whole[key]} <= near
    assert len(set(found) - set(whole)) <= 1, "one byte cannot make two entries"


@given(st.integers(0, len(DD) - 1), st.one_of(st.integers(0, 255), st.sampled_from(b"0123456789 \n")))
@settings(max_examples=400)
def test_a_changed_dd_is_unreadable_or_has_another_digit(at: int, byte: int) -> None:
    try:
        found = readers.dd_bytes(flipped(DD, at, byte))
    except Unreadable:
        return
    pairs = zip(f"{found:08}", str(32 << 20), strict=True)
    assert sum(mine != theirs for mine, theirs in pairs) <= 1, "one digit changed, none was lost or gained"


@given(st.integers(0, len(SAMPLES) - 1), st.one_of(st.integers(0, 255), st.sampled_from(b"0123456789 \n#=")))
@settings(max_examples=400)
def test_a_changed_sample_is_unreadable_or_is_one_sample(at: int, byte: int) -> None:
    whole = readers.samples(SAMPLES)
    try:
        found = readers.samples(flipped(SAMPLES, at, byte))
    except Unreadable:
        return
    assert len(found) in (len(whole), len(whole) - 1)
    different = [index for index, mine in enumerate(found) if mine != whole[index]]
    assert len(different) <= 1
    assert len(found) == len(whole) or different in ([], [len(found) - 1])


# Each reader's own traps


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (readers.marks, MARKS + MARKS),
        (readers.marks, MARKS.replace("cpu ", "cpu0 ")),
        (readers.marks, "a 1.00 2.000000 cpu" + " ٣" * 10 + "\n"),
        (readers.marks, MARKS.replace(" 0 0 0\n", " 0 0\n")),
        (readers.kstat, ARC + "hits 4 1\n"),
        (readers.kstat, ARC + "more 4 1_000\n"),
        (readers.kstat, ""),
        (readers.kstat, "\n".join(ARC.splitlines()[2:]) + "\n"),
        (readers.diskstats, DISKS + DISKS.splitlines()[0] + "\n"),
        (readers.diskstats, DISKS.replace("vdb ", "vdb 1 ")),
        (readers.diskstats, DISKS.replace(" vdb ", " vdb -")),
        (readers.pairs, SPACE + "used\t1\n"),
        (readers.pairs, "key value\n"),
        (readers.pairs, "key\tvalue\tmore\n"),
        (readers.colon_table, VMSTAT + "pswpin 7\n"),
        (readers.dd_bytes, DD + DD),
        (readers.dd_bytes, "dd: error reading '/dev/vdc': Input/output error\n" + DD),
        (readers.dd_bytes, ""),
        (readers.samples, "= head:1:/proc/stat 1\nx\n"),
        (readers.samples, SAMPLES.replace("= threads:z_wr_iss 11", "= threads:z_wr_iss 12", 1)),
        (readers.samples, SAMPLES.replace("= threads:z_wr_iss 11", "= threads:z_wr_iss 99999", 1)),
        (readers.samples, SAMPLES + "rubbish\n"),
    ],
)
def test_what_is_not_of_its_form_is_unreadable(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


@pytest.mark.parametrize("text", ["1_000", " 1", "1 ", "+1", "٣", "", "1.0", "0x1", "--1"])
def test_a_whole_number_is_digits_alone(text: str) -> None:
    with pytest.raises(Unreadable):
        readers.whole(text, "x")
    assert readers.whole("-12", "x") == -12


def test_cpu_states_that_run_backwards_are_unreadable() -> None:
    found = readers.marks(MARKS)
    with pytest.raises(Unreadable, match="do not grow"):
        readers.busy_share(found["write_end"], found["write_start"])
    with pytest.raises(Unreadable, match="do not grow"):
        readers.busy_share(found["write_end"], found["write_end"])


def test_a_name_is_found_whatever_its_place_in_the_kstat() -> None:
    head, rows = ARC.splitlines()[:2], ARC.splitlines()[2:]
    assert readers.kstat("\n".join([*head, *reversed(rows)]) + "\n") == readers.kstat(ARC)
