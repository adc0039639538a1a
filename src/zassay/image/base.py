"""The base: a root file system made by mmdebstrap from locked packages alone, the same bytes whoever makes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from zassay import proc
from zassay.errors import Problem
from zassay.image import initrd
from zassay.image.catalog import ImageSpec
from zassay.image.ext4 import PATH
from zassay.image.lock import Lock
from zassay.image.steps import Steps, contained

BUILD_DEADLINE_S = 3600
INDEX_DEADLINE_S = 300
CLEAN_DEADLINE_S = 300
# Half of all files and most waiting for the disk would be for what nobody reads in a guest that lives for minutes.
DPKG_OPTIONS = (
    "force-unsafe-io",
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/info/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
)


@contextmanager
def workspace(name: str) -> Iterator[Path]:
    """A folder that other uids may enter (mmdebstrap without root works under a mapped uid), gone afterwards.

    A folder in use is locked; an unlocked one of the same name is what a killed build left behind, and is removed.
    """
    place = temporary()
    prefix = f"zassay-{os.getuid()}-{name}-"
    for left in place.glob(f"{prefix}*"):
        with _locked(left) as free:
            if free:
                end_users(left)
                remove(left)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    folder.chmod(0o755)
    with _locked(folder):
        try:
            yield folder
        finally:
            remove(folder)


def temporary() -> Path:
    return Path(os.environ.get("TMPDIR") or "/var/tmp")


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder; gives False when another process does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def end_users(folder: Path) -> None:
    """End what a killed build of ours left running in a folder: without root nothing ends mmdebstrap's children with it."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in path.read_bytes() and int(path.parent.name) != os.getpid():
                os.kill(int(path.parent.name), signal.SIGKILL)


def remove(folder: Path) -> None:
    """Remove a folder, also one with files of mapped uids."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists() and os.getuid() != 0:
        proc.run(["mmdebstrap", "--unshare-helper", "rm", "-rf", str(folder)], deadline_s=CLEAN_DEADLINE_S, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def make_tar(spec: ImageSpec, repository: Path, work: Path, steps: Steps, out: Path, env: Mapping[str, str]) -> None:
    """Make the root file system as a tar; ``env`` (time zone, locale, ...) must not matter to its bytes."""
    hooks = copy_hooks(spec.folder / "base", work)
    scratch = work / "tmp"
    scratch.mkdir(mode=0o1777)
    scratch.chmod(0o1777)
    argv = mmdebstrap(spec, repository, hooks, out)
    settings = {**hook_environment(spec, hooks), "TMPDIR": str(scratch), "PATH": PATH, **env}
    steps.run("base", argv, deadline_s=BUILD_DEADLINE_S, env=settings)


def mmdebstrap(spec: ImageSpec, repository: Path, hooks: Path, out: Path) -> list[str]:
    root = os.getuid() == 0
    argv = [
        "mmdebstrap",
        "--verbose",
        f"--mode={'root' if root else 'unshare'}",
        "--variant=apt",
        "--format=tar",
        "--architectures=amd64",
        f"--include={','.join(spec.packages)}",
        *(f"--dpkgopt={option}" for option in DPKG_OPTIONS),
        f"--essential-hook={hooks}/early.sh",
        f"--customize-hook={hooks}/customize.sh",
        spec.suite,
        str(out),
        f"deb [trusted=yes] copy://{repository} ./",
    ]
    # Without root mmdebstrap makes such namespaces itself, with more uids than we may map.
    return contained(argv, mounts=True) if root else argv


def hook_environment(spec: ImageSpec, hooks: Path) -> dict[str, str]:
    return {
        "SOURCE_DATE_EPOCH": str(spec.source_date_epoch),
        "ZASSAY_BASE": str(hooks),
        "ZASSAY_BOOT_MODULES": " ".join(spec.boot_modules),
        "ZASSAY_MASKED_UNITS": " ".join(spec.masked_units),
    }


def make_repository(lock: Lock, store: Path, work: Path) -> Path:
    """A folder of packages with an index: the only place the build takes packages from."""
    repository = work / "repository"
    repository.mkdir()
    for package in lock.packages:
        _place(store / f"{package.sha256}.deb", repository / f"{package.name}_{package.arch}.deb")
    index = proc.run(["sh", "-c", "dpkg-scanpackages --multiversion . 2>/dev/null"], deadline_s=INDEX_DEADLINE_S, cwd=repository)
    (repository / "Packages").write_text(index.out, encoding="utf-8")
    _open_to_all(repository)
    return repository


def copy_hooks(source: Path, work: Path) -> Path:
    hooks = work / "hooks"
    shutil.copytree(source, hooks)
    _open_to_all(hooks)
    return hooks


def _place(source: Path, target: Path) -> None:
    """A hard link where that is possible, since the cache may be in a folder that mapped uids may not enter."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _open_to_all(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        executable = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if executable else 0o644)


def compare_with_lock(status: Path, lock: Lock) -> None:
    """Raise Problem unless exactly the locked packages are installed (``status``: the root's dpkg status file)."""
    installed = set(_installed(status.read_text(encoding="utf-8")))
    locked = {(package.name, package.version) for package in lock.packages}
    if installed != locked:
        lines = [f"locked, not installed: {n}={v}" for n, v in sorted(locked - installed)]
        lines += [f"installed, not locked: {n}={v}" for n, v in sorted(installed - locked)]
        raise Problem("the root file system does not hold the locked packages", "\n".join(lines[:20]))


def _installed(status: str) -> Iterator[tuple[str, str]]:
    for stanza in status.split("\n\n"):
        keys = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line and not line.startswith(" "))
        if keys.get("Status", "").endswith(" installed"):
            yield keys["Package"], keys["Version"]


def only(folder: Path, pattern: str) -> Path:
    """The one file of a pattern; raises Problem when there are none or several."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise Problem(f"{folder}: {len(found)} files are called {pattern}", "an image has exactly one kernel")
    return found[0]


def keep_modules(root: Path, out: Path) -> None:
    """Keep what the measuring initrd is made of: busybox and the kernel's modules with their lists."""
    tree = only(root / "usr/lib/modules", "*")
    unneeded = shutil.ignore_patterns("build", "source", "gpu", "media", "wireless", "sound", "infiniband", "ethernet")
    shutil.copytree(tree, out / "lib" / "modules" / tree.name, ignore=unneeded)
    (out / "bin").mkdir()
    shutil.copyfile(root / "usr/bin/busybox", out / initrd.BUSYBOX)
