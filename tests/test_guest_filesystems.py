"""Every filesystem, pool layout, scheduler and collector in a real guest: made, read back, made cold with a proof."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import rig
from rig import MIB, fetch, run, settings

from zassay import collectors, disks, filesystems, readers, registry, scheduler
from zassay.collectors import console, contention, iostat, locks, pool, slab, txgs
from zassay.errors import Problem
from zassay.filesystems import MOUNT
from zassay.filesystems.kernel import COUNT_FILES, KernelFilesystem
from zassay.gates.readback import chosen
from zassay.machine.qemu import Guest
from zassay.study import Settings

pytestmark = [pytest.mark.guest, pytest.mark.slow]
SIZE = 32 * MIB
BESIDE = {"log0": "ssd", "log1": "ssd", "cache0": "ssd", "special0": "ssd", "special1": "ssd"}
POOL = [f"pool{number}" for number in range(6)]
KERNELS = sorted(registry.every(filesystems, KernelFilesystem))  # type: ignore[type-abstract]
FILL = f"dd if=/dev/urandom of={MOUNT}/payload bs=1M count={SIZE // MIB} 2>/dev/null\n"
CLEAR = f"""cd /
umount {MOUNT} 2>/dev/null || true
zpool destroy tank 2>/dev/null || true
rm -rf $OUT /dev/disk/by-id/virtio-pool.*
"""
SERIALS = "for d in /sys/block/vd*; do s=; read -r s <$d/serial || true; "


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    try:
        with rig.guest([*((role, "") for role in POOL), *((role, "") for role in BESIDE)], 384 * MIB) as found:
            yield found
    except Problem as problem:
        if "is not built" not in problem.message or os.environ.get("CI"):
            raise
        pytest.skip(f"{problem.message}: {problem.hint}")


def kept(guest: Guest, name: str) -> str:
    """One of the guest's files; with ZASSAY_KEEP=FOLDER also left there, to become a golden sample."""
    text = fetch(guest, name)
    if os.environ.get("ZASSAY_KEEP"):
        (Path(os.environ["ZASSAY_KEEP"]) / name).write_text(text)
    return text


def make(guest: Guest, of: Settings) -> None:
    run(guest, CLEAR)
    run(guest, filesystems.get(of.filesystem).create(of, rig.devices(of)))


def wrong(guest: Guest, expected: dict[str, str]) -> dict[str, tuple[str, str]]:
    found = {key: chosen(value) for key, value in readers.pairs(fetch(guest, "readback")).items()}
    return {key: (value, found.get(key, "")) for key, value in expected.items() if found.get(key) != value}


def bytes_read(guest: Guest) -> int:
    """Of all disks under test."""
    found = readers.diskstats(run(guest, "cat /proc/diskstats\n"))
    names = run(guest, f"{SERIALS}printf '%s\\t%s\\n' ${{d##*/}} $s; done\n")
    return sum(found[name].bytes_read for name, serial in readers.pairs(names).items() if serial in (*POOL, *BESIDE))


@pytest.mark.parametrize("name", ["zfs", *KERNELS])
def test_a_filesystem_does_what_it_says(guest: Guest, name: str) -> None:
    of = settings(name)
    filesystem = filesystems.get(name)
    make(guest, of)
    assert wrong(guest, filesystem.expected(of)) == {}
    before = run(guest, f"{FILL}{filesystem.flush()}\nsha256sum <{MOUNT}/payload\n")
    run(guest, filesystem.after())
    logical, used = filesystem.space(fetch(guest, "space"))
    assert SIZE <= logical <= SIZE + MIB // 2 and SIZE <= used <= 1.1 * SIZE + 2 * MIB, (logical, used)
    unwell, full = filesystem.health(fetch(guest, "pool"))
    assert unwell == "" and 0.05 < full < 0.5
    run(guest, filesystem.make_cold())
    assert filesystem.cached(fetch(guest, "cold")) < 0.05
    start = bytes_read(guest)
    assert run(guest, f"sha256sum <{MOUNT}/payload\n") == before
    assert SIZE <= bytes_read(guest) - start < 1.2 * SIZE, "a cold read comes from the device"


@pytest.mark.parametrize("name", KERNELS)
def test_the_proof_of_a_cold_cache_can_fail(guest: Guest, name: str) -> None:
    filesystem = filesystems.get(name)
    make(guest, settings(name))
    run(guest, f"{FILL}{filesystem.flush()}\n{{ {COUNT_FILES.rstrip()}\n}} >$OUT/cold\n")
    assert filesystem.cached(fetch(guest, "cold")) > 0.95


@pytest.mark.parametrize("name", KERNELS)
def test_what_a_study_says_otherwise_is_read_back(guest: Guest, name: str) -> None:
    others = {
        "ext3": {"ext3.mount.commit": "9", "ext3.mkfs.inode_size": "128"},
        "ext4": {"ext4.mount.data": "writeback", "ext4.mount.delalloc": "off", "ext4.mkfs.block_size": "1024"},
        "xfs": {"xfs.mkfs.reflink": "0", "xfs.mount.logbsize": "64k", "xfs.mount.atime": "relatime"},
        "btrfs": {"btrfs.mount.compress": "lzo", "btrfs.mkfs.metadata": "single", "btrfs.mkfs.no_holes": "off"},
        "reiserfs": {"reiserfs.mount.data": "journal", "reiserfs.mkfs.hash": "tea"},
    }[name]
    of = settings(name, properties=others)
    make(guest, of)
    expected = filesystems.get(name).expected(of)
    assert wrong(guest, expected) == {}
    assert {key: expected[key.partition(".")[2]] for key in others} == others


LAYOUTS = {
    "stripe": POOL[:2],
    "mirror": POOL[:3],
    "mirrors": POOL[:4],
    "raidz1": POOL[:3],
    "raidz2": POOL[:4],
    "raidz3": POOL[:5],
    "draid1:3d:6c:1s": POOL,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pool_of_every_layout(guest: Guest, layout: str) -> None:
    of = settings("zfs", pool={"layout": layout, "disks": LAYOUTS[layout]})
    pooled(guest, of)


@pytest.mark.parametrize(
    "beside",
    [
        {"log": ["log0"]},
        {"cache": ["cache0"]},
        {"log": ["log0", "log1"], "log_layout": "mirror", "cache": ["cache0"]},
        {"special": ["special0", "special1"], "special_layout": "mirror", "log": ["log0", "log1"], "cache": ["cache0"]},
    ],
    ids=lambda beside: "+".join(key for key in beside if "_" not in key),
)
def test_a_pool_with_other_devices_beside_its_disks(guest: Guest, beside: dict[str, object]) -> None:
    pooled(guest, settings("zfs", pool={"layout": "mirror", "disks": POOL[:2], **beside}))


def pooled(guest: Guest, of: Settings) -> None:
    filesystem = filesystems.get("zfs")
    make(guest, of)
    assert wrong(guest, filesystem.expected(of)) == {}
    written = counted_writes(guest, f"{FILL}{filesystem.flush()}\n", of)
    assert 0.95 * SIZE * filesystem.pressed(of) <= written <= 1.3 * SIZE * filesystem.pressed(of) + 16 * MIB
    run(guest, filesystem.make_cold())
    assert filesystem.cached(fetch(guest, "cold")) < 0.05
    status = run(guest, f"zpool status tank\nls {MOUNT}\n")
    assert "payload" in status and "DEGRADED" not in status and all(role in status for role in disks.roles(of.pool))


def counted_writes(guest: Guest, script: str, of: Settings) -> int:
    """Bytes that a script writes to the disks of the pool itself."""
    names = readers.pairs(run(guest, f"{SERIALS}printf '%s\\t%s\\n' $s ${{d##*/}}; done\n"))
    before = readers.diskstats(run(guest, "cat /proc/diskstats\n"))
    after = readers.diskstats(run(guest, f"{script}cat /proc/diskstats\n"))
    return sum(after[names[role]].bytes_written - before[names[role]].bytes_written for role in of.pool["disks"])


@pytest.mark.parametrize("name", scheduler.KNOWN)
def test_a_scheduler_is_set_on_the_disks_under_test_alone(guest: Guest, name: str) -> None:
    of = settings("zfs", scheduler=name, pool={"layout": "mirror", "disks": POOL[:2], "log": ["log0"]})
    before = chosen(run(guest, f"rm -rf $OUT\n{disks_schedulers('pool2')}"))
    run(guest, scheduler.script(of))
    assert wrong(guest, scheduler.expected(of)) == {}
    assert len(scheduler.expected(of)) == 3
    assert chosen(run(guest, disks_schedulers("pool2"))) == before


def disks_schedulers(role: str) -> str:
    """Of one disk, by its role."""
    return f'{SERIALS}if [ "$s" = {role} ]; then cat $d/queue/scheduler; fi; done\n'


def test_every_collector_collects(guest: Guest) -> None:
    of = settings("zfs")
    make(guest, of)
    every = registry.every(collectors, collectors.Collector)
    chosen_ones = [cls() for cls in every.values()]
    guest.put("/run/zassay/sampler", collectors.SAMPLER.read_bytes())
    specs = " ".join(spec for each in chosen_ones for spec in each.specs)
    start = collectors.start_all(chosen_ones, 1)
    load = f"for n in 1 2 3; do {FILL}zpool sync tank; done\necho collected >/dev/kmsg\nsleep 1\n"
    run(guest, f"{start}perl /run/zassay/sampler 0.5 $OUT/samples {specs} </dev/null &\necho $! >/run/zassay/sampler.pid\n{load}")
    run(guest, f"kill $(cat /run/zassay/sampler.pid)\n{collectors.stop_all(chosen_ones)}", 300)
    left = run(guest, "pgrep -x 'perf|zpool|cat|bpftrace' || true\n")
    assert left == "", f"collectors left running: {left}"
    samples = readers.samples(kept(guest, "samples"))
    assert len(samples) > 4
    last = samples[-2].parts
    assert [spec for spec in specs.split() if not last[spec] and "tank/io" not in spec] == []
    assert readers.kstat(last["file:/proc/spl/kstat/zfs/arcstats"])["c_max"] == rig.ARC
    for name in ("dbufstats", "zfetchstats"):
        assert readers.kstat(last[f"file:/proc/spl/kstat/zfs/{name}"])
    groups = txgs.every(samples)
    assert [each.txg for each in groups] == list(range(groups[0].txg, groups[-1].txg + 1))
    assert sum(each.bytes_written for each in groups) >= 3 * SIZE
    assert sum(pool.assign_waits(last[pool.ASSIGN]).values()) >= 0
    assert slab.kernel_bytes(last[slab.KERNEL])["kmalloc-4k"] > 0
    assert any(each.text == "collected" for each in console.messages(kept(guest, console.FILE)))
    counted = contention.counts(kept(guest, contention.FILE), kept(guest, f"{contention.FILE}.start"))
    assert len(counted) >= 2 and sum(count for _, count in counted) > 0
    assert sum(each.count for each in locks.waits(kept(guest, locks.FILE))) > 0
    rows = iostat.table(kept(guest, iostat.FILE))
    assert {row.vdev for row in rows} == {"tank", "virtio-pool0-part1"}
    assert max(row.values["bandwidth.write"] for row in rows) > 0
