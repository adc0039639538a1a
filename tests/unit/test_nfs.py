"""A filesystem over NFS: the same filesystem, served before its workload and taken down to make it cold."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from rig import settings

from zassay import disks, filesystems
from zassay.errors import Problem
from zassay.filesystems import Filesystem, nfs

DEVICE = disks.device("pool0")
DELEGATED = ("warm", "after", "weigh", "space", "cached", "health", "facts", "counters", "accounts", "pressed")


def over() -> Filesystem:
    return filesystems.of(settings("zfs", path="nfs"))


def test_a_local_path_is_the_filesystem_itself() -> None:
    for path in ("", "local"):
        found = filesystems.of(settings("zfs", path=path))
        assert found.name == "zfs"
        assert not isinstance(found, nfs.OverNfs)
        assert "nfs" not in found.create(settings("zfs"), [DEVICE])


def test_an_unknown_path_is_refused() -> None:
    with pytest.raises(Problem, match='unknown path "smb"'):
        filesystems.of(settings("zfs", path="smb"))


def test_it_is_made_served_and_read_back() -> None:
    of = settings("zfs", path="nfs")
    script, plain = over().create(of, [DEVICE]), filesystems.get("zfs").create(of, [DEVICE])
    assert script.startswith(plain)
    assert script.index("exportfs") < script.index("rpc.nfsd") < script.index("mount -t nfs4") < script.index("path\\t")
    assert over().expected(of) == filesystems.get("zfs").expected(of) | {"path": "nfs4"}


def test_to_make_it_cold_the_server_ends_first_and_serves_again_after() -> None:
    script = over().make_cold()
    steps = ["umount /mnt/zassay", "rpc.nfsd 0", "umount /srv/zassay", "zpool export", "zpool import", "mount -t nfs4"]
    assert [script.index(step) for step in steps] == sorted(script.index(step) for step in steps)


def test_the_rest_is_the_filesystems_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer comes from below; one that the wrapper made up, or left to the base class, would be noticed."""
    under = filesystems.get("zfs")
    for name in DELEGATED:
        monkeypatch.setattr(under, name, lambda *_, name=name: name)
    wrapped = nfs.OverNfs(under)
    for name in DELEGATED:
        words = ["x"] if name in ("warm", "space", "cached", "health", "pressed") else []
        assert getattr(wrapped, name)(*words) == name
    public = {name for name in vars(Filesystem) if not name.startswith("_") and callable(getattr(Filesystem, name))}
    assert public == {*DELEGATED, "create", "flush", "make_cold", "expected"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_its_scripts_are_shell() -> None:
    for text in (over().create(settings("zfs", path="nfs"), [DEVICE]), over().make_cold(), over().flush()):
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, timeout=20, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_read_back_is_the_topmost_mount(tmp_path: Path) -> None:
    """The filesystem and NFS lie over each other: the last line of /proc/mounts is the one in force."""
    mounts = tmp_path / "mounts"
    mounts.write_text("tank/data /mnt/zassay zfs rw 0 0\n127.0.0.1:/ /mnt/zassay nfs4 rw 0 0\nproc /proc proc rw 0 0\n")
    script = nfs.READ_BACK.replace("/proc/mounts", str(mounts)).replace("$OUT", str(tmp_path))
    subprocess.run(["bash", "-euc", script], timeout=20, check=True)
    assert (tmp_path / "readback").read_text() == "path\tnfs4\n"
