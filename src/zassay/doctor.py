"""What this host lacks: each finding is one line, ok, missing or fix, with the command that mends it."""

from __future__ import annotations

import getpass
import hashlib
import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from zassay import proc
from zassay.campaign import SHM, SHM_NEEDED, cache_dir, project_root

SETUP = "make setup"
DISK_NEEDED = 6 << 30
MEMORY_NEEDED = 2 << 30
DEADLINE_S = 30.0
# Debian keeps some tools where only root looks.
SEARCH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Finding:
    """``state`` is ok, missing, or fix (it is there, but not as needed); ``mend`` is the next action."""

    state: str
    subject: str
    detail: str
    mend: str = ""

    def __str__(self) -> str:
        tail = f"; run: {self.mend}" if self.mend else ""
        return f"{self.state:<8}{self.subject:<22}{self.detail}{tail}"


@dataclass(frozen=True)
class Tool:
    """A command of the host; ``ask`` prints a version, which must be at least ``least`` (empty: any)."""

    command: str
    ask: tuple[str, ...] = ("--version",)
    least: str = ""


TOOLS = (
    Tool("qemu-system-x86_64", least="7.2"),
    Tool("qemu-img", least="7.2"),
    Tool("mmdebstrap", least="1.3"),
    Tool("packer", least="1.6.6"),
    Tool("mke2fs", ("-V",), "1.47"),
    Tool("fakeroot"),
    Tool("grub-mkimage"),
    Tool("sfdisk"),
    Tool("setpriv"),
    Tool("zstd"),
    Tool("ssh-keygen", ()),
    Tool("Rscript", least="4.2"),
)


def findings(probe: bool = False) -> Iterator[Finding]:
    """Every check in turn; with ``probe``, KVM is tried by booting a kernel (up to ten seconds)."""
    yield from python_packages()
    yield from map(tool, TOOLS)
    yield from host_packages()
    yield from r_packages()
    yield accelerator(probe)
    yield from user_namespaces()
    yield disk("cache", cache_dir())
    yield disk("checkout", project_root())
    yield memory()
    yield shared_memory()


def python_packages() -> Iterator[Finding]:
    """Compare what is installed with requirements/run.lock."""
    wanted = [requirement for requirement in locked() if requirement.marker is None or requirement.marker.evaluate()]
    wrong = [finding for finding in map(_python_package, wanted) if finding.state != "ok"]
    yield from wrong or [Finding("ok", "python packages", f"{len(wanted)} as in requirements/run.lock")]


def locked(lock: Path | None = None) -> list[Requirement]:
    text = (lock or project_root() / "requirements" / "run.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([A-Za-z0-9].*?)\s*\\?$", text, re.M)
    return [Requirement(pin) for pin in pins]


def _python_package(wanted: Requirement) -> Finding:
    subject = f"python {wanted.name}"
    try:
        version = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return Finding("missing", subject, f"wanted {wanted.specifier}", SETUP)
    if version not in wanted.specifier:
        return Finding("fix", subject, f"{version}, wanted {wanted.specifier}", SETUP)
    return Finding("ok", subject, version)


def tool(wanted: Tool) -> Finding:
    """Is the command there, and new enough?"""
    path = shutil.which(wanted.command, path=SEARCH)
    if path is None:
        return Finding("missing", wanted.command, "not found on PATH", SETUP)
    if not wanted.ask:
        return Finding("ok", wanted.command, path)
    answer = proc.run([path, *wanted.ask], deadline_s=DEADLINE_S, check=False).out
    found = re.search(r"\d+(?:\.\d+)+", answer)
    version = found.group() if found else "of unknown version"
    if wanted.least and _number(version) < _number(wanted.least):
        return Finding("fix", wanted.command, f"{version} at {path}, wanted {wanted.least} or newer", SETUP)
    return Finding("ok", wanted.command, version)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def listed() -> list[str]:
    """The Debian packages of config/host-packages.txt."""
    text = (project_root() / "config" / "host-packages.txt").read_text(encoding="utf-8")
    return re.sub(r"#.*", "", text).split()


def host_packages() -> Iterator[Finding]:
    """On a host with dpkg: are the listed packages installed? Elsewhere the tools above must speak for themselves."""
    if not shutil.which("dpkg-query"):
        return
    ask = ["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n"]
    lines = proc.run(ask, deadline_s=DEADLINE_S, check=False).out.splitlines()
    present = {line.split()[-1] for line in lines if line.startswith("ii")}
    absent = [name for name in listed() if name not in present]
    yield from (Finding("missing", f"package {name}", "not installed", SETUP) for name in absent)
    if not absent:
        yield Finding("ok", "host packages", f"{len(listed())} as in config/host-packages.txt")


def r_packages() -> Iterator[Finding]:
    """One Rscript call lists what R can load; Debian writes the names in lower case."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return  # reported among the tools
    script = "cat(rownames(installed.packages()), sep = '\\n')"
    names = proc.run([rscript, "--vanilla", "-e", script], deadline_s=DEADLINE_S, check=False).out.lower().split()
    absent = [name for name in _wanted_of_r() if name not in names]
    yield from (Finding("missing", f"R {name}", "R cannot find it", SETUP) for name in absent)
    if not absent:
        yield Finding("ok", "R packages", f"{len(_wanted_of_r())} found")


def _wanted_of_r() -> list[str]:
    return [name.removeprefix("r-cran-") for name in listed() if name.startswith("r-cran-")]


def accelerator(probe: bool) -> Finding:
    """Never a fault: without KVM guests are emulated, which is slow, and says so in the report."""
    from zassay.machine import accel

    reason = accel.why_not_kvm()
    if reason:
        return Finding("ok", "accelerator", f"tcg: {reason}")
    if not probe:
        return Finding("ok", "accelerator", f"kvm perhaps: {accel.NODE} is usable; a boot decides: zassay doctor --probe")
    return _probed()


def _probed() -> Finding:
    from zassay.machine import accel

    kernels = sorted((project_root() / "results" / "images").glob("*/vmlinux"))
    if not kernels:
        return Finding("ok", "accelerator", "kvm perhaps: the probe boots an image's kernel, and none is built yet")
    found = accel.probe(kernels[0])
    return Finding("ok", "accelerator", f"{found.name}: {found.why}")


def user_namespaces() -> Iterator[Finding]:
    """Without root, mmdebstrap builds in a user namespace: the kernel must allow it and the user own a range of ids."""
    if os.geteuid() == 0:
        yield Finding("ok", "user namespaces", "not needed by root")
        return
    yield _namespaces_allowed()
    yield from (_subordinate(Path(f"/etc/{name}")) for name in ("subuid", "subgid"))


def _namespaces_allowed() -> Finding:
    for name, mend in (
        ("kernel/unprivileged_userns_clone", "sudo sysctl kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "sudo sysctl user.max_user_namespaces=10000"),
    ):
        switch = Path("/proc/sys") / name
        if switch.is_file() and switch.read_text().strip() == "0":
            return Finding("fix", "user namespaces", f"{switch} is 0", mend)
    return Finding("ok", "user namespaces", "allowed")


def _subordinate(table: Path) -> Finding:
    user = getpass.getuser()
    lines = table.read_text().splitlines() if table.is_file() else []
    if any(line.split(":")[0] in (user, str(os.getuid())) for line in lines):
        return Finding("ok", str(table), f"has a range for {user}")
    flag = f"--add-{table.name}s"
    return Finding("missing", str(table), f"has no range for {user}", f"sudo usermod {flag} 100000-165535 {user}")


def disk(what: str, folder: Path) -> Finding:
    """Free space where images and results go; the folder itself need not exist yet."""
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    free = shutil.disk_usage(there).free
    return _room(f"disk ({what})", f"{_gib(free)} free in {folder}", free, DISK_NEEDED)


def memory() -> Finding:
    fields = dict(re.findall(r"^(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M))
    available = int(fields["MemAvailable"]) * 1024
    return _room("memory", f"{_gib(available)} available", available, MEMORY_NEEDED)


def _room(subject: str, detail: str, there: int, needed: int) -> Finding:
    if there >= needed:
        return Finding("ok", subject, detail)
    return Finding("fix", subject, f"{detail}, {_gib(needed)} needed: make room, then go on")


def shared_memory() -> Finding:
    """Guests' memory is kept in /dev/shm when that has room, else in the cache folder."""
    free = shutil.disk_usage(SHM).free if SHM.is_dir() and os.access(SHM, os.W_OK) else 0
    place = "goes there" if free >= SHM_NEEDED else "goes to the cache folder"
    return Finding("ok", str(SHM), f"{_gib(free)} free: guests' memory {place}")


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"


def require_or_exit() -> None:
    """For the Snakefile: one line and the fix when something is missing; looks at files alone, in milliseconds."""
    problem = next(filter(None, (check() for check in QUICK)), None)
    if problem:
        sys.exit(f"zassay: {problem}; run: {SETUP}")


def _lock_is_installed() -> str:
    """Only an environment that tools/setup made has a stamp; another one is its owner's business."""
    stamp, lock = Path(sys.prefix) / "stamp-run", project_root() / "requirements" / "run.lock"
    if not (Path(sys.prefix) / "stamp-venv").is_file():
        return ""
    installed = stamp.read_text().strip() if stamp.is_file() else ""
    same = installed == hashlib.sha256(lock.read_bytes()).hexdigest()
    return "" if same else "the Python packages are not those of requirements/run.lock"


def _tools_are_there() -> str:
    absent = [each.command for each in TOOLS if not shutil.which(each.command, path=SEARCH)]
    return _are_missing(absent)


def _r_packages_are_there() -> str:
    """By folder name, in Debian's R only: where another R keeps its packages is not known without starting it."""
    if shutil.which("Rscript") != "/usr/bin/Rscript":
        return ""
    folders = [Path("/usr/lib/R"), Path("/usr/lib/R/site-library"), Path("/usr/lib/R/library"), *_own_libraries()]
    names = {name.lower() for folder in folders if folder.is_dir() for name in os.listdir(folder)}
    return _are_missing([f"R package {name}" for name in _wanted_of_r() if name not in names])


def _own_libraries() -> Iterable[Path]:
    given = ":".join(os.environ.get(name, "") for name in ("R_LIBS", "R_LIBS_USER", "R_LIBS_SITE"))
    yield from map(Path, filter(None, given.split(":")))
    yield Path("/usr/local/lib/R/site-library")
    yield from Path.home().glob("R/*-library/*")


def _are_missing(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing" if names else ""


QUICK: tuple[Callable[[], str], ...] = (_lock_is_installed, _tools_are_there, _r_packages_are_there)
