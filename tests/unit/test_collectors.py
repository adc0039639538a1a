"""What collectors say to a guest, and what is read from what they left: golden samples, and no number from a spoiled one."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zassay import collectors, readers, registry
from zassay.collectors import Collector, console, contention, iostat, locks, lockstacks, pool, slab, txgs
from zassay.readers import Sample, Unreadable

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "collectors-debian-12"
EVERY = registry.every(collectors, Collector)
BESIDE = sorted(name for name, cls in EVERY.items() if cls().start(1))


def text(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def part(spec: str) -> str:
    return readers.samples(text("samples"))[-1].parts[spec]


# What is said to a guest


def test_what_a_guest_is_asked_for_is_all_that_was_wanted() -> None:
    wanted = "arc dbuf prefetch pool txgs vm cpu memory disk nic iostat slab contention locks lockstacks console threads"
    assert set(wanted.split()) <= set(EVERY)


def test_collectors_of_files_alone_say_nothing_beside_the_sampler() -> None:
    """So that the scripts of a study that wants no others stay as they are, and its records with them."""
    plain = [EVERY[name]() for name in EVERY if name not in BESIDE]
    assert (collectors.start_all(plain, 1), collectors.stop_all(plain)) == ("", "")
    assert {"cpu", "memory", "arc", "disk", "threads"} <= set(EVERY) - set(BESIDE)


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_started_is_ended_by_its_id(name: str) -> None:
    start, stop = EVERY[name]().start(0.5), EVERY[name]().stop()
    pid = f"{collectors.PIDS}.{name}"
    assert f"echo $! >{pid}\n" in start and f"_pid=$(cat {pid})" in stop
    assert "pkill" not in stop and "killall" not in stop and "kill -KILL -- -$_pid" in stop
    for script in (start, stop):
        checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=20, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid is not installed")
@pytest.mark.parametrize(
    ("command", "signal"), [("sleep 60", "TERM"), ("sh -c 'trap \"\" TERM INT; sleep 60' >/dev/null", "TERM")]
)
def test_even_what_does_not_want_to_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, signal: str
) -> None:
    monkeypatch.setattr(collectors, "PIDS", str(tmp_path / "pid"))
    monkeypatch.setattr(collectors, "END_S", 1)
    script = (
        f"{collectors.beside('x', command)}sleep 0.3\n{collectors.ended('x', signal)}if [ -e /proc/$_pid ]; then sleep 0.3; fi\n"
    )
    said = f"{script}wait || true\nif kill -0 $_pid 2>/dev/null; then echo alive; else echo gone; fi"
    ran = subprocess.run(["bash", "-eu", "-c", said], capture_output=True, text=True, timeout=30, check=False)
    assert ran.stdout.strip() == "gone", ran.stderr


# What is read


def test_transaction_groups() -> None:
    samples = readers.samples(text("samples"))
    groups = txgs.every(samples)
    assert [each.txg for each in groups] == list(range(groups[0].txg, groups[-1].txg + 1))
    done = [each for each in groups if each.state == "C"]
    assert len(done) >= 2 and sum(each.bytes_written for each in done) > 40 << 20
    for each in done:
        start, end = each.synced_at
        assert 0 < each.birth <= start < end < samples[-1].uptime + 5 and each.dirty >= 0


def test_a_group_is_taken_as_it_was_last_seen() -> None:
    head = " ".join(txgs.COLUMNS)
    first = f"{head}\n7 1000000000 S 1 2 3 4 5 6 7 8 9\n"
    later = f"{head}\n7 1000000000 C 1 2 4096 4 5 2000000000 500000000 0 250000000\n8 3000000000 O 0 0 0 0 0 0 0 0 0\n"
    (seven, eight) = txgs.every([Sample(1.0, {txgs.SPEC: first}), Sample(2.0, {txgs.SPEC: later}), Sample(3.0, {txgs.SPEC: ""})])
    assert (seven.txg, seven.state, seven.bytes_written, seven.sync_s) == (7, "C", 4096, 0.25)
    assert seven.synced_at == (3.5, 3.75) and eight.state == "O"


def test_slabs() -> None:
    found = slab.kernel_bytes(part(slab.KERNEL))
    assert 1 << 20 < found["dentry"] < 64 << 20 and len(found) > 50


def test_pool_counters() -> None:
    assert readers.kstat(part(pool.Pool.specs[0]))["trim_extents_written"] == 0
    assert pool.assign_waits("") == {}
    head = "50 1 0x01 4 4896 1 2\nname                            type data\n"
    assert pool.assign_waits(f"{head}1024 ns                         4    3\n2048 ns                         4    0\n") == {
        1.024e-6: 3,
        2.048e-6: 0,
    }


def test_kernel_messages() -> None:
    found = console.messages(text("kmsg"))
    assert found[-1] == console.Message(4, 441.935956, "collected")
    assert found[0].at == 0.0 and all(a.at <= b.at for a, b in zip(found[-10:], found[-9:], strict=False))
    assert console.messages("6,1,5,-;a;b\n SUBSYSTEM=block\n DEVICE=b1:2\n4,2,6,c;x\n") == [
        console.Message(6, 5e-6, "a;b"),
        console.Message(4, 6e-6, "x"),
    ]


def test_waits_for_locks_by_interval() -> None:
    found = contention.counts(text("contention"), text("contention.start"))
    assert found[0] == (pytest.approx(396.56 + 1.013257690), 0)
    assert sum(count for _, count in found) > 50
    assert contention.counts("     1.0,<not counted>,,lock:contention_begin,0,0.00,,\n", "1.00\n") == []


def test_waits_for_locks_by_caller() -> None:
    found = locks.waits(text("locks"))
    assert found[0] == locks.Waits(
        34, pytest.approx(0.46104), pytest.approx(0.05234), pytest.approx(0.01356), "mutex", "kthread+0xd7"
    )
    assert {each.kind for each in found} == {"mutex", "rwlock:R", "rwlock:W"}


def test_waits_for_locks_by_stack() -> None:
    found = lockstacks.stacks(text("lockstacks"))
    assert all(a.total_s >= b.total_s for a, b in itertools.pairwise(found))
    assert found[0].kind.endswith("mutex")
    assert any("zio_dva_throttle" in each.functions for each in found)
    assert lockstacks.stacks('{"type": "attached_probes", "data": {"probes": 3}}\n') == []


def test_vdevs_by_interval() -> None:
    rows = iostat.table(text("zpool.iostat"))
    assert {row.vdev for row in rows} == {"tank", "virtio-pool0-part1"}
    assert [row.at for row in rows] == sorted(row.at for row in rows) and rows[0].at > 1_700_000_000
    assert max(row.values["bandwidth.write"] for row in rows) > 1 << 20
    assert {"capacity.alloc", "total_wait.read", "scrub.wait", "trim.wait", "syncq_read.pend", "trimq_write.activ"} <= {
        *rows[0].values,
        "total_wait.read",
        "scrub.wait",
        "trim.wait",
    }
    assert "scrub.wait" not in rows[0].values, "what zpool could not tell is not there"


def test_columns_that_a_later_version_adds_are_read_by_their_names() -> None:
    """2.2 has rebuild beside trim, and a queue of its own for it: as inserted here into what 2.1 said."""
    groups = "capacity operations bandwidth total_wait scrub trim rebuild rebuildq_write"
    columns = "pool alloc free read write read write read write wait wait wait pend activ"
    dashes = "---- ---- ----"
    (row,) = iostat.table(f"1795268873\n{groups}\n{columns}\n{dashes}\ntank 1 2 3 4 5 6 7 - - - 9 10 11\n{dashes}\n")
    assert row.values["rebuild.wait"] == 9 and row.values["rebuildq_write.activ"] == 11 and "total_wait.write" not in row.values


READERS: dict[str, Callable[[str], object]] = {
    "contention": lambda said: contention.counts(said, "1.00"),
    "locks": locks.waits,
    "lockstacks": lockstacks.stacks,
    "kmsg": console.messages,
    "zpool.iostat": iostat.table,
}


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_cut_off_is_refused_or_a_part_of_the_whole(name: str, data: st.DataObject) -> None:
    """Each is ended at any moment, so a last line may be missing; what is there has to be what was there."""
    whole = text(name)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    every = READERS[name](whole)
    try:
        found = READERS[name](cut)
    except Unreadable:
        return
    assert isinstance(found, list) and isinstance(every, list)
    assert all(each in every for each in found)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("contention", ",0,,lock", ",-1,,lock"),
        ("contention", "lock:contention_begin", "lock:contention_end"),
        ("locks", "461.04 ms", "461.04 fortnights"),
        ("locks", "contended   total wait", "contested   total wait"),
        ("locks", "        34    461.04", "        3x    461.04"),
        ("lockstacks", '"count": 1,', '"count": "x",'),
        ("lockstacks", '{"type": "attached', '{"kind": "attached'),
        ("lockstacks", '{"type": "stats"', '{"type": "stats'),
        ("kmsg", "6,", "x,"),
        ("zpool.iostat", "capacity", "capacities"),
        ("zpool.iostat", "alloc", "allocated"),
        ("zpool.iostat", "tank  ", "tank x  "),
        ("zpool.iostat", "syncq_read ", ""),
    ],
)
def test_what_is_spoiled_is_refused(name: str, old: str, new: str) -> None:
    whole = text(name)
    assert old in whole, f"{old!r} is not in {name}"
    with pytest.raises(Unreadable):
        READERS[name](whole.replace(old, new, 1))


@pytest.mark.parametrize(
    "bad", ["x", "txg birth\n", " ".join(txgs.COLUMNS) + "\n1 2 C 3\n", " ".join(txgs.COLUMNS) + "\n1 2 Z 3 4 5 6 7 8 9 10 11\n"]
)
def test_transaction_groups_that_are_spoiled_are_refused(bad: str) -> None:
    with pytest.raises(Unreadable):
        txgs.table(bad)


def test_slabs_that_are_spoiled_are_refused() -> None:
    whole = part(slab.KERNEL)
    for bad in (whole[:-20], whole.replace("version: 2.", "version: 9."), " : ".join(whole.rsplit(" : tunables ", 1))):
        with pytest.raises(Unreadable):
            slab.kernel_bytes(bad)
