"""An image from nothing to a cache entry: packages, base, disk, initrd; a layer is built when its inputs changed."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zassay import files
from zassay.errors import Problem
from zassay.image import base, cache, debs, disk, ext4, initrd, kernel, keys, lock, manifest, packer
from zassay.image.catalog import ImageSpec
from zassay.image.steps import Steps

Probe = Callable[[Path], str]

BASE_RECORD = "base.json"
DISK_RECORD = "disk.json"
DISK = "disk.qcow2"
FREE_BYTES = 8 << 30
HOST_TOOLS = {
    "mmdebstrap": "mmdebstrap",
    "dpkg-scanpackages": "dpkg-dev",
    "fakeroot": "fakeroot",
    "mke2fs": "e2fsprogs",
    "debugfs": "e2fsprogs",
    "sfdisk": "fdisk",
    "grub-mkimage": "grub-common",
    "qemu-img": "qemu-utils",
    "qemu-system-x86_64": "qemu-system-x86",
    "ssh-keygen": "openssh-client",
    "zstd": "zstd",
}


def build(spec: ImageSpec, steps: Steps, probe: Probe) -> Path:
    """The entry of the image as its files are now, built as far as needed.

    ``probe`` says which accelerator (kvm or tcg) works here, given a kernel to try it with; it is asked only when Packer
    is to boot something.
    """
    known = keys.of(spec)
    target = cache.folder(spec.name) / known.entry
    if (target / cache.MANIFEST).is_file():
        return target
    with cache.locked(spec.name, steps.say):
        if not (target / cache.MANIFEST).is_file():
            cache.prune(spec.name)
            _build(spec, known, steps, probe, target)
    return target


def _build(spec: ImageSpec, known: keys.Keys, steps: Steps, probe: Probe, target: Path) -> None:
    base_layer = cache.folder(spec.name) / f"base-{known.base}"
    if not (base_layer / BASE_RECORD).is_file():
        check_host(spec)
        with cache.aside(base_layer) as making:
            make_base(spec, steps, making)
    disk_layer = cache.folder(spec.name) / f"disk-{known.disk}"
    if not (disk_layer / DISK_RECORD).is_file():
        check_host(spec)
        with cache.aside(disk_layer) as making:
            make_disk(spec, steps, base_layer, making, probe(base_layer / "vmlinux"))
    with cache.aside(target) as making:
        assemble(spec, known.entry, steps, base_layer, disk_layer, making)
        if keys.of(spec) != known:
            raise Problem(f"the files of image {spec.name} changed while it was built", "start the build again")


def check_host(spec: ImageSpec) -> None:
    """Raise Problem for tools or room that a build would miss only after minutes."""
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = sorted({package for tool, package in HOST_TOOLS.items() if shutil.which(tool, path=search) is None})
    if not disk.GRUB.is_dir():
        missing.append("grub-pc-bin")
    if missing:
        raise Problem(f"host packages are missing: {', '.join(missing)}", f"apt-get install {' '.join(missing)}")
    packer.check()
    if os.getuid() != 0 and shutil.which("newuidmap") is None:
        raise Problem("without root the base is built under mapped uids: newuidmap is missing", "apt-get install uidmap")
    for place in (cache.home(), base.temporary()):
        _check_room(place, spec)


def _check_room(place: Path, spec: ImageSpec) -> None:
    place.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place).free
    if free < FREE_BYTES:
        raise Problem(
            f"{place}: {free / 2**30:.1f} GiB free; building {spec.name} takes up to {FREE_BYTES >> 30} GiB",
            "make room, or name other folders in ZASSAY_CACHE and TMPDIR",
        )


def make_root(spec: ImageSpec, steps: Steps, work: Path, out: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Build tar and ext4 (``root.tar``, ``root.ext4`` in ``out``, ``root/`` in ``work``); returns their digests."""
    locked = lock.read(spec.lock)
    with steps.step("packages", "check, fetch what is missing"):
        debs.fetch(locked, cache.debs(), say=steps.say)
        debs.check(locked, cache.debs())
    with steps.step("base", f"{len(locked.packages)} packages, zfs compiled natively (about 4 minutes)"):
        repository = base.make_repository(locked, cache.debs(), work)
        base.make_tar(spec, repository, work, steps, out / "root.tar", env)
    with steps.step("ext4", "the same files as an ext4 file system"):
        (work / "root").mkdir()
        ext4.make(spec, out / "root.tar", work / "root", out / "root.ext4", steps)
        base.compare_with_lock(work / "root" / "var/lib/dpkg/status", locked)
        return {f"{kind}_sha256": files.sha256_file(out / f"root.{kind}") for kind in ("tar", "ext4")}


def make_base(spec: ImageSpec, steps: Steps, out: Path) -> None:
    begin = time.monotonic()
    with base.workspace(spec.name) as work:
        digests = make_root(spec, steps, work, out, {})
        (out / "root.tar").unlink()
        with steps.step("boot", "bootable disk, direct-boot kernel, modules"):
            disk.make(spec, out / "root.ext4", out / "disk.raw", steps)
            (out / "root.ext4").unlink()
            kernel.extract(base.only(work / "root" / "boot", "vmlinuz-*"), out / "vmlinux")
            base.keep_modules(work / "root", out / "modules")
            digests["disk_sha256"] = files.sha256_file(out / "disk.raw")
    record = {
        **digests,
        "lock_sha256": files.sha256_file(spec.lock),
        "source_date_epoch": spec.source_date_epoch,
        "seconds": round(time.monotonic() - begin, 1),
    }
    files.write_json(out / BASE_RECORD, record)


def make_disk(spec: ImageSpec, steps: Steps, base_layer: Path, out: Path, accelerator: str) -> None:
    begin = time.monotonic()
    facts = files.read_json(base_layer / BASE_RECORD)
    version = box_version(spec)
    with base.workspace(f"{spec.name}-packer") as work:
        work.chmod(0o700)
        files.write_json(work / "info.json", {"image": spec.name, "version": version})
        key = packer.make_key(work)
        with steps.step("packer", f"boot the base ({accelerator}), provision, test, pack (about a minute)"):
            given = packer.Input(base_layer / "disk.raw", facts["disk_sha256"], key, accelerator, version)
            packer.build(spec, packer.variables(spec, given, work), work, steps)
        for path in (work / "packer" / DISK, work / f"{spec.name}.box", work / "serial.log"):
            shutil.move(path, out / path.name)
        record = {
            "built_at": manifest.now(),
            "accelerator": accelerator,
            "packer": ".".join(map(str, packer.version())),
            "box_version": version,
            "selftest": files.read_json(work / "self-test.json"),
            "packages": manifest.packages(work / "packages.tsv", lock.read(spec.lock)),
            "files": {name: manifest.describe(out, name) for name in (DISK, f"{spec.name}.box")},
            "seconds": round(time.monotonic() - begin, 1),
        }
    files.write_json(out / DISK_RECORD, record)


def box_version(spec: ImageSpec) -> str:
    """A version Vagrant can compare: the release and the day (UTC) of the lock, such as 12.20261121."""
    return f"{spec.release}.{lock.read(spec.lock).made[:8]}.0"


def assemble(spec: ImageSpec, key: str, steps: Steps, base_layer: Path, disk_layer: Path, out: Path) -> None:
    """Make an entry of the layers; their big files are hard links, so this costs no room and no time."""
    with steps.step("entry", "measuring initrd and manifest"):
        record = files.read_json(disk_layer / DISK_RECORD)
        box = f"{spec.name}.box"
        for path in (disk_layer / DISK, disk_layer / box, base_layer / "vmlinux"):
            os.link(path, out / path.name)
        (out / "modules").symlink_to(Path("..") / base_layer.name / "modules")
        initrd.build(base_layer / "modules", spec.folder / "guest", list(spec.initrd_modules), out / "initrd")
        files.write_json(out / "box.json", box_catalogue(spec, record))
        made = {name: manifest.describe(out, name) for name in ("vmlinux", "initrd", "box.json")}
        base_record = files.read_json(base_layer / BASE_RECORD)
        whole = manifest.make(spec, key, base_record, record, {**record["files"], **made})
        files.write_json(out / cache.MANIFEST, whole)
        cache.write_sums(out, {name: facts["sha256"] for name, facts in whole["files"].items()})


def box_catalogue(spec: ImageSpec, record: dict[str, Any]) -> dict[str, Any]:
    """What ``vagrant box add`` reads to know the box's version."""
    box = f"{spec.name}.box"
    provider = {"name": "libvirt", "url": box, "checksum_type": "sha256", "checksum": record["files"][box]["sha256"]}
    versions = [{"version": record["box_version"], "providers": [provider]}]
    return {"name": f"zassay/{spec.name}", "versions": versions}
