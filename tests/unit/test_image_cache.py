"""The cache: entries are whole or absent, one flipped byte is found, what killed builds left is removed."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from zassay import files
from zassay.errors import Problem
from zassay.image import base, build, cache, catalog, keys, lock, manifest
from zassay.image.steps import Steps

NAME = "debian-12"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / "cache"


def make_entry(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "disk.qcow2").write_bytes(b"disk" * 1000)
    (path / "initrd").write_bytes(b"initrd")
    described = {name: manifest.describe(path, name) for name in ("disk.qcow2", "initrd")}
    files.write_json(path / cache.MANIFEST, {"files": described})
    cache.write_sums(path, {})
    return path


def test_an_untouched_entry_verifies_also_with_sha256sum(tmp_path: Path) -> None:
    path = make_entry(tmp_path / "entry")
    assert cache.verify(path) == []
    subprocess.run(["sha256sum", "--check", "--quiet", cache.SUMS], cwd=path, check=True, timeout=20)


@pytest.mark.parametrize("name", ["disk.qcow2", "initrd", cache.MANIFEST])
def test_one_flipped_byte_is_found(tmp_path: Path, name: str) -> None:
    path = make_entry(tmp_path / "entry")
    data = bytearray((path / name).read_bytes())
    data[len(data) // 2] ^= 1
    before = files.sha256_file(path / name)
    if name == cache.MANIFEST:
        data = bytearray((path / name).read_bytes().replace(b'"size": 6', b'"size": 7'))
    (path / name).write_bytes(data)
    faults = cache.verify(path)
    assert faults == [f"{name}: is {files.sha256_file(path / name)}, expected {before}"]


def test_a_lost_file_and_a_lost_list_are_found(tmp_path: Path) -> None:
    path = make_entry(tmp_path / "entry")
    (path / "initrd").unlink()
    assert "initrd: is (no file)" in cache.verify(path)[0]
    (path / cache.SUMS).unlink()
    assert cache.SUMS in cache.verify(path)[0]


def test_an_image_that_is_not_built_says_how(home: Path) -> None:
    with pytest.raises(Problem) as caught:
        cache.entry(NAME)
    assert f"zassay image build {NAME}" in caught.value.hint
    assert not home.exists()


def test_a_failed_build_leaves_nothing(home: Path) -> None:
    target = cache.folder(NAME) / "key"
    with pytest.raises(RuntimeError), cache.aside(target) as making:
        (making / "half").touch()
        raise RuntimeError
    assert list(cache.folder(NAME).iterdir()) == []
    assert str(target).startswith(str(home))


def test_what_a_killed_build_left_is_removed(home: Path) -> None:
    left = cache.folder(NAME) / ".making-base-123"
    left.mkdir(parents=True)
    cache.prune(NAME)
    assert not left.exists()
    assert home.exists()


def test_the_link_is_replaced_but_never_a_folder(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    cache.link(tmp_path / "images" / NAME, one)
    cache.link(tmp_path / "images" / NAME, two)
    assert (tmp_path / "images" / NAME).readlink() == two
    (tmp_path / "images" / "real").mkdir()
    with pytest.raises(Problem, match="is a folder"):
        cache.link(tmp_path / "images" / "real", one)


def test_a_workspace_is_removed_but_not_from_under_another_build(home: Path, tmp_path: Path) -> None:
    with base.workspace("x") as one:
        with base.workspace("x") as two:
            assert one.is_dir()
            assert two.is_dir()
        killed = two
        killed.mkdir()
        with subprocess.Popen(["sh", "-c", "echo; read _", str(killed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as orphan:
            assert orphan.stdout is not None
            assert orphan.stdout.readline() == b"\n"
            with base.workspace("x"):
                assert not killed.exists()
                assert one.is_dir()
            assert orphan.wait(20) == -signal.SIGKILL
    assert list(tmp_path.glob("zassay-*")) == []
    assert not home.exists()


def layers(spec: catalog.ImageSpec) -> keys.Keys:
    """Fake layers in the cache, as if base and Packer had run."""
    known = keys.of(spec)
    base_layer, disk_layer = (cache.folder(NAME) / f"{kind}-{getattr(known, kind)}" for kind in ("base", "disk"))
    (base_layer / "modules/bin").mkdir(parents=True)
    (base_layer / "modules/bin/busybox").write_bytes(b"box")
    tree = base_layer / "modules/lib/modules/6.1"
    tree.mkdir(parents=True)
    (tree / "modules.dep").write_text("".join(f"{name}.ko:\n" for name in spec.initrd_modules))
    for name in spec.initrd_modules:
        (tree / f"{name}.ko").touch()
    (base_layer / "vmlinux").write_bytes(b"elf")
    digests = dict.fromkeys(("tar_sha256", "ext4_sha256", "disk_sha256", "lock_sha256"), "0" * 64)
    files.write_json(base_layer / build.BASE_RECORD, {**digests, "source_date_epoch": 1, "seconds": 1})
    disk_layer.mkdir()
    for name in (build.DISK, f"{NAME}.box"):
        (disk_layer / name).write_bytes(name.encode())
    described = {name: manifest.describe(disk_layer, name) for name in (build.DISK, f"{NAME}.box")}
    record = {"built_at": "t", "accelerator": "tcg", "packer": "1.6.6", "box_version": "1", "files": described}
    record |= {"selftest": {"kernel": "6.1.0", "zfs": "2.1.11"}, "packages": [], "seconds": 1}
    files.write_json(disk_layer / build.DISK_RECORD, record)
    return known


def never(_: Path) -> str:
    raise AssertionError("nothing is to be booted")


def test_layers_that_are_there_make_an_entry_without_building(home: Path, tmp_path: Path) -> None:
    spec = catalog.load(NAME)
    known = layers(spec)
    path = build.build(spec, Steps(NAME, tmp_path / "logs"), never)
    assert path == home / "images" / NAME / known.entry == cache.entry(NAME)
    assert cache.verify(path) == []
    written = cache.manifest(path)
    assert written["key"] == known.entry
    assert {"disk.qcow2", "vmlinux", "initrd", f"{NAME}.box"} <= set(written["files"])
    shutil.rmtree(cache.folder(NAME) / f"disk-{known.disk}")
    assert build.build(spec, Steps(NAME, tmp_path / "logs"), never) == path


def test_removing_keeps_what_still_fits_only_when_asked_to(home: Path, tmp_path: Path) -> None:
    spec = catalog.load(NAME)
    known = layers(spec)
    path = build.build(spec, Steps(NAME, tmp_path / "logs"), never)
    old = home / "images" / NAME / "base-0"
    old.mkdir()
    assert cache.remove(spec, keep=known) == [old]
    assert cache.verify(path) == []
    assert path in cache.remove(spec, keep=None)
    assert not path.exists()


def test_a_guest_with_other_packages_than_the_lock_is_refused(tmp_path: Path) -> None:
    one = lock.Package("a", "1", "all", "0" * 64, 1, "pool/a")
    (tmp_path / "packages.tsv").write_text("a\t2\tall\n")
    with pytest.raises(Problem, match="differ in 2 packages") as caught:
        manifest.packages(tmp_path / "packages.tsv", lock.Lock("t", (one,)))
    assert "a=2 (all)" in caught.value.hint


def test_a_failed_step_names_command_log_and_next_action(tmp_path: Path) -> None:
    steps = Steps(NAME, tmp_path)
    with pytest.raises(Problem) as caught, steps.step("base", "make it"):
        steps.run("base", ["sh", "-c", "echo reason; exit 3"], deadline_s=20)
    assert "step base" in caught.value.message
    assert "exit code 3: sh -c 'echo reason; exit 3'" in caught.value.message
    for part in ("reason", str(tmp_path / "base.log"), "zassay image build debian-12"):
        assert part in caught.value.hint


def test_a_root_with_other_packages_than_the_lock_is_refused(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text("Package: a\nStatus: install ok installed\nVersion: 1\n\nPackage: b\nStatus: deinstall ok config-files\n")
    one = lock.Package("a", "1", "all", "0" * 64, 1, "pool/a")
    base.compare_with_lock(status, lock.Lock("t", (one,)))
    with pytest.raises(Problem, match="does not hold the locked packages"):
        base.compare_with_lock(status, lock.Lock("t", ()))
