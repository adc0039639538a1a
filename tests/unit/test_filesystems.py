"""What a filesystem says to a guest and reads from it, as text: options, refusals, read-backs, proofs, accounts."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from golden_record import GOLDEN, load, project
from rig import MIB, settings

from zassay import disks, filesystems, readers, registry, scheduler
from zassay.errors import Problem
from zassay.filesystems import Filesystem, vdevs
from zassay.filesystems.kernel import RESIDENT, KernelFilesystem, others_of
from zassay.readers import Unreadable
from zassay.study import Settings

EVERY = sorted(registry.every(filesystems, Filesystem))  # type: ignore[type-abstract]
KERNELS = sorted(registry.every(filesystems, KernelFilesystem))  # type: ignore[type-abstract]
DEVICE = disks.device("pool0")
# What each may be asked for; zfs-fuse knows less of ZFS than the others take.
ASKED = {"zfs-fuse": {"properties": {"compression": "lzjb", "atime": "off"}}}


def asked(name: str, **changes: Any) -> Settings:
    return settings(name, **(ASKED.get(name, {}) | changes))


def scripts(name: str) -> dict[str, str]:
    filesystem, of = filesystems.get(name), asked(name)
    return {
        "warm": filesystem.warm(of),
        "create": filesystem.create(of, [DEVICE]),
        "flush": filesystem.flush(),
        "make_cold": filesystem.make_cold(),
        "after": filesystem.after(),
        "accounts": filesystem.accounts(),
        "facts": filesystem.facts(),
    }


def test_they_are_the_ones_that_were_asked_for() -> None:
    assert EVERY == ["btrfs", "ext3", "ext4", "reiserfs", "ufs", "xfs", "zfs", "zfs-fuse"]
    assert KERNELS == ["btrfs", "ext3", "ext4", "reiserfs", "xfs"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("name", EVERY)
def test_every_script_is_shell(name: str) -> None:
    for what, text in scripts(name).items():
        for shell in ["bash"] if name != "ufs" else ["bash", "sh"]:
            checked = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, timeout=20, check=False)
            assert (checked.returncode, checked.stderr) == (0, ""), f"{what}: {text}"


def test_the_scripts_of_a_record_are_still_the_same(tmp_path: Path) -> None:
    """A record stays one of the same measurement as long as nothing that was done to its guest changes."""
    cell = load(project(tmp_path))[1].cell("lz4_text_50")
    recorded = [json.loads(line) for line in (GOLDEN / "transcript.jsonl").read_text(encoding="utf-8").splitlines()]
    said = {entry["step"]: entry["script"] for entry in recorded}
    zfs = filesystems.get("zfs")
    tunables = json.loads((GOLDEN / "settings.json").read_text(encoding="utf-8"))["tunables"]
    # The disk had no partition then.
    create = zfs.create(dataclasses.replace(cell.settings, tunables=tunables), ["/dev/disk/by-id/virtio-pool0"])
    assert create == said["create"]
    assert zfs.after() in said["after"]


@pytest.mark.parametrize("name", KERNELS)
def test_every_option_is_said_and_expected_back(name: str) -> None:
    filesystem = filesystems.get(name)
    assert isinstance(filesystem, KernelFilesystem)
    expected = filesystem.expected(asked(name))
    wanted = {f"mkfs.{key}" for key in filesystem.mkfs} | {f"mount.{key}" for key in filesystem.mount}
    assert set(expected) == wanted | {"tunable.vm.dirty_background_bytes"}
    create = filesystem.create(asked(name), [DEVICE])
    for key, value in filesystem.mount.items():
        assert {"on": key, "off": f"no{key}"}.get(value, f"{key}={value}") in create.partition("mount -t")[2]
    assert filesystem.unshown.keys() <= filesystem.mount.keys()
    assert "noatime" in create and f"mount -t {name} " in create
    assert "echo 1048576 >/proc/sys/vm/dirty_background_bytes" in create


@pytest.mark.parametrize("name", KERNELS)
def test_one_template_serves_all_filesystems_of_the_kernel(name: str) -> None:
    assert filesystems.get(name).warm(asked(name)) == filesystems.get("ext4").warm(asked("ext4"))
    assert "xfs" in filesystems.get(name).warm(asked(name))


def test_a_study_changes_an_option_by_its_full_name() -> None:
    of = settings(
        "ext4", properties={"recordsize": "128K", "ext4.mount.commit": "30", "ext4.mkfs.inode_size": "512", "xfs.mkfs.crc": "0"}
    )
    ext4, xfs, zfs = (filesystems.get(name) for name in ("ext4", "xfs", "zfs"))
    assert (ext4.expected(of)["mount.commit"], ext4.expected(of)["mkfs.inode_size"]) == ("30", "512")
    assert "commit=30" in ext4.create(of, [DEVICE]) and "-I 512" in ext4.create(of, [DEVICE])
    assert xfs.expected(of)["mkfs.crc"] == "0" and "crc=0" in xfs.create(of, [DEVICE])
    assert "ext4" not in zfs.create(of, [DEVICE]) and "property.recordsize" in zfs.expected(of)
    assert filesystems.get("ext3").expected(of)["mount.commit"] == "5"


@pytest.mark.parametrize(
    ("name", "properties", "says"),
    [
        ("ext4", {"ext4.mount.commits": "5"}, "(did you mean mount.commit?)"),
        ("ext3", {"ext3.mount.delalloc": "on"}, 'unknown option "mount.delalloc"'),
        ("ext4", {"ext5.mount.commit": "5"}, 'unknown filesystem "ext5"'),
        ("zfs", {"ext5.mount.commit": "5"}, 'unknown filesystem "ext5"'),
        ("zfs", {"recordsiz": "5"}, 'unknown property "recordsiz"'),
        ("zfs-fuse", {"relatime": "on"}, "zfs-fuse does not know relatime"),
        ("zfs-fuse", {"compression": "lz4"}, "zfs-fuse cannot compress with lz4"),
        ("ufs", {"ext5.mount.commit": "5"}, 'unknown filesystem "ext5"'),
    ],
)
def test_an_option_that_nobody_knows_is_refused(name: str, properties: dict[str, str], says: str) -> None:
    with pytest.raises(Problem) as caught:
        filesystems.get(name).create(settings(name, properties=properties), [DEVICE])
    assert says in str(caught.value)


def test_a_property_of_a_user_s_own_is_no_option_of_another_filesystem() -> None:
    assert others_of({"com.example:backup": "on", "xfs.mkfs.crc": "1"}) == {"xfs": {"mkfs.crc": "1"}}
    assert "com.example:backup=on" in filesystems.get("zfs").create(
        settings("zfs", properties={"com.example:backup": "on"}), [DEVICE]
    )


@pytest.mark.parametrize("name", [*KERNELS, "ufs"])
@pytest.mark.parametrize(
    "pool", [{"layout": "mirror", "disks": ["pool0", "pool1"]}, {"layout": "single", "disks": ["pool0"], "log": ["log0"]}]
)
def test_one_disk_is_what_they_take(name: str, pool: dict[str, Any]) -> None:
    of = settings(name, pool=pool)
    with pytest.raises(Problem, match="takes one disk"):
        filesystems.get(name).create(of, [disks.device(role) for role in disks.roles(of.pool)])


@pytest.mark.parametrize("name", ["xfs", "btrfs", "reiserfs"])
def test_a_disk_that_is_too_small_is_told_before_a_guest_is_booted(name: str) -> None:
    with pytest.raises(Problem, match=f"100 MiB is too small for {name}"):
        filesystems.get(name).create(settings(name, pool={"disk_size": 100 * MIB}), [DEVICE])


# What the guest's files say


@pytest.mark.parametrize("name", KERNELS)
def test_space_and_health_are_read_by_name(name: str) -> None:
    filesystem = filesystems.get(name)
    assert filesystem.space("allocated\t7\nfiles\t1\nlogical\t33554432\nresident\t0\nused\t33570816\n") == (33554432, 33570816)
    assert filesystem.health(f"{name}\t400\t100\t300\t25\tONLINE\n") == ("", 0.25)
    assert filesystem.health(f"{name}\t400\t100\t300\t25\tREAD-ONLY\n") == ("READ-ONLY", 0.25)
    for bad in ("logical\t1\n", "used\t1\n", "logical\tmany\nused\t1\n", "logical\t1\nused\t2"):
        with pytest.raises(Unreadable):
            filesystem.space(bad)


def test_a_cold_cache_is_what_the_kernel_says_of_the_files() -> None:
    ext4, fuse, ufs, zfs = (filesystems.get(name) for name in ("ext4", "zfs-fuse", "ufs", "zfs"))
    assert ext4.cached("logical\t1000\nresident\t250\n") == 0.25
    assert ext4.cached("logical\t0\nresident\t0\n") == 0.0
    daemon = "daemon.new\t1024000\ndaemon.imported\t5120000\nmeminfo.MemTotal\t10000\n"
    assert fuse.cached(f"logical\t1000\nresident\t250\n{daemon}") == 0.4
    assert fuse.cached(f"logical\t1000\nresident\t500\n{daemon}") == 0.5
    assert ufs.cached("bufspace.before\t1000\nbufspace.unmounted\t10\n") == 0.01
    head = "9 1 0x01 1 272 1 1\nname type data\n"
    assert zfs.cached(f"{head}c_max 4 100\ndata_size 4 2\n") == 0.02
    assert zfs.cached(f"{head}c_max 4 100\ndata_size 4 2\nl2_size 4 50\n") == 0.52, "what the cache device holds is cached too"


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_pages_in_memory_are_counted(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a").write_bytes(b"x" * 10_000)
    (tmp_path / "deep" / "er" / "b").write_bytes(b"y" * 4096)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "link").symlink_to("/etc/passwd")
    ran = subprocess.run(["perl", "-", str(tmp_path)], input=RESIDENT, capture_output=True, text=True, timeout=20, check=True)
    found = {key: int(value) for key, value in readers.pairs(ran.stdout).items()}
    assert (found["files"], found["logical"]) == (3, 14_096)
    # Just written: 3 pages and 1, if this host's file system keeps a page cache at all.
    assert found["resident"] in (0, 4 * 4096)


# Pools


@pytest.mark.parametrize(
    ("layout", "count", "words"),
    [
        ("single", 1, " a"),
        ("stripe", 2, " a b"),
        ("mirror", 3, "mirror a b c"),
        ("mirrors", 4, "mirror a b mirror c d"),
        ("raidz1", 3, "raidz1 a b c"),
        ("raidz2", 4, "raidz2 a b c d"),
        ("raidz3", 5, "raidz3 a b c d e"),
        ("draid2:2d:5c:1s", 5, "draid2:2d:5c:1s a b c d e"),
        ("draid", 3, "draid a b c"),
    ],
)
def test_a_layout_is_words_of_zpool(layout: str, count: int, words: str) -> None:
    names = list("abcdef"[:count])
    assert vdevs.words({"layout": layout, "disks": names}, names) == words
    assert vdevs.expected({"layout": layout, "disks": names}) == words.strip()


@pytest.mark.parametrize(
    ("layout", "count", "says"),
    [
        ("single", 2, "single of 2 disks"),
        ("stripe", 1, "stripe of 1 disks"),
        ("mirror", 1, "mirror of 1 disks"),
        ("mirrors", 3, "mirrors of 3 disks"),
        ("mirrors", 2, "mirrors of 2 disks"),
        ("raidz2", 2, "raidz2 of 2 disks"),
        ("raidz4", 6, '"raidz4" is not known'),
        ("draid4:2d", 6, '"draid4:2d" is not known'),
        ("draid2:4d:6c:1s", 6, "draid2:4d:6c:1s of 6 disks"),
        ("draid2:2d:6c", 5, "draid2:2d:6c of 5 disks"),
        ("", 1, '"" is not known'),
    ],
)
def test_a_layout_that_cannot_be_is_told(layout: str, count: int, says: str) -> None:
    names = list("abcdef"[:count])
    with pytest.raises(Problem) as caught:
        vdevs.words({"layout": layout, "disks": names}, names)
    assert says in caught.value.message and "settings.pool.layout" in caught.value.message


def test_devices_beside_the_disks_follow_them() -> None:
    pool = {"layout": "mirror", "disks": ["pool0", "pool1"], "log": ["log0", "log1"], "log_layout": "mirror", "cache": ["cache0"]}
    pool |= {"special": ["special0"], "disk_size": 7, "log_size": 3}
    of = settings("zfs", pool=pool)
    names = disks.roles(of.pool)
    assert names == ["pool0", "pool1", "log0", "log1", "cache0", "special0"]
    assert vdevs.words(of.pool, names) == "mirror pool0 pool1 log mirror log0 log1 cache cache0 special special0"
    assert vdevs.expected(of.pool) == "mirror pool0 pool1 special special0 logs mirror log0 log1 cache cache0"
    assert [each.size for each in disks.wanted(of.pool)] == [7, 7, 3, 3, 7, 7]
    assert [each.holds for each in disks.wanted(of.pool)] == ["pool", "pool", "log", "log", "cache", "special"]
    create = filesystems.get("zfs").create(of, [disks.device(name) for name in names])
    for role in names[2:]:
        assert f"ln -sf virtio-{role}-part1 /dev/disk/by-id/virtio-pool.{role}-part1\n" in create


@pytest.mark.parametrize(("kind", "layout"), [("log", "raidz1"), ("cache", "mirror"), ("special", "draid")])
def test_devices_beside_take_few_layouts(kind: str, layout: str) -> None:
    pool = {"layout": "single", "disks": ["pool0"], kind: ["x0", "x1"], f"{kind}_layout": layout}
    with pytest.raises(Problem, match=f'settings.pool.{kind}_layout: "{layout}" is not known'):
        vdevs.words(pool, ["pool0", "x0", "x1"])


@pytest.mark.parametrize(
    ("layout", "count", "factor"),
    [("single", 1, 1), ("stripe", 3, 1), ("mirror", 3, 3), ("mirrors", 6, 2), ("raidz2", 6, 1.5), ("draid1:3d:5c:1s", 5, 4 / 3)],
)
def test_what_the_disks_take_for_a_byte(layout: str, count: int, factor: float) -> None:
    assert vdevs.pressed({"layout": layout, "disks": ["x"] * count}) == pytest.approx(factor)


# Schedulers


def test_a_scheduler_is_set_where_a_study_asks_for_one() -> None:
    assert scheduler.script(settings("zfs")) == "" and scheduler.expected(settings("zfs")) == {}
    of = settings("zfs", scheduler="bfq", pool={"disks": ["pool0"], "log": ["log0"]})
    assert " pool0 log0 " in scheduler.script(of) and "echo bfq >$_d/queue/scheduler" in scheduler.script(of)
    assert scheduler.expected(of) == {"scheduler.pool0": "bfq", "scheduler.log0": "bfq"}
    with pytest.raises(Problem, match='"cfq" is not known'):
        scheduler.script(settings("zfs", scheduler="cfq"))


# FreeBSD's, which the authors have not run


def test_ufs_says_that_nobody_ran_it_and_what_it_would_do() -> None:
    ufs = filesystems.get("ufs")
    assert ufs.not_run and not filesystems.get("zfs").not_run
    create = ufs.create(settings("ufs"), [DEVICE])
    assert "newfs -U -O 2 -b 32768 -f 4096 -m 8 -o time /dev/diskid/DISK-pool0p1 " in create
    assert "mount -t ufs -o noatime /dev/diskid/DISK-pool0p1" in create and "/dev/disk/by-id" not in create
    assert ufs.expected(settings("ufs"))["mkfs.soft_updates"] == "on"
    assert ufs.space("logical\t10\nused\t20\n") == (10, 20)
    assert ufs.health("ufs 400 100 300 25% ONLINE\n") == ("", 0.25)
