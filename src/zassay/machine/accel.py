"""Which accelerator really works here, found by booting: a /dev/kvm that opens proves nothing.

Some hosts offer a /dev/kvm that opens, answers and runs a toy guest, and hangs every stock kernel for ever. So KVM counts
only when the node can be written, the CPU shows vmx or svm, and the image's own kernel boots under it as far as its
"no root file system" panic within the deadline. The answer is kept per host boot, QEMU and kernel.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from zassay import files, proc
from zassay.errors import Problem
from zassay.machine import leftovers
from zassay.machine.qemu import QEMU

PROBE_DEADLINE_S = 8.0
CONTROL_DEADLINE_S = 60.0
NODE = Path("/dev/kvm")
SIGNS = ("Linux version", "Kernel panic - not syncing: VFS")


@dataclass(frozen=True)
class Accelerator:
    """``name`` is kvm or tcg; ``why`` says in a sentence how we know; ``seconds`` is what finding out cost."""

    name: str
    why: str
    seconds: float


def probe(kernel: Path, *, use_cache: bool = True, trust_flags: bool = True) -> Accelerator:
    """Find the accelerator; with ``trust_flags`` a CPU without vmx or svm is not even tried."""
    cache = leftovers.state_dir() / f"accel-{_key(kernel)}.json"
    if use_cache and cache.is_file():
        return Accelerator(**files.read_json(cache))
    found = _probe(kernel, trust_flags)
    if use_cache:
        files.write_json(cache, asdict(found))
    return found


def _key(kernel: Path) -> str:
    """The answer belongs to this boot of this host, this QEMU and this kernel."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    binary = proc.run(["sh", "-c", f"command -v {QEMU}"], deadline_s=5).out.strip()
    facts = [boot, binary, os.stat(binary).st_mtime_ns, kernel.stat().st_size, kernel.stat().st_mtime_ns]
    return files.sha256_json(facts)[:16]


def _probe(kernel: Path, trust_flags: bool) -> Accelerator:
    start = time.monotonic()
    reason = why_not_kvm(trust_flags)
    if not reason and not boots(kernel, "kvm", "host", PROBE_DEADLINE_S):
        reason = f"{NODE} opens, but the image's kernel did not boot under it (given {PROBE_DEADLINE_S:.0f} s)"
    spent = round(time.monotonic() - start, 3)
    if reason:
        return Accelerator("tcg", f"{reason}; the guest's CPU is emulated (TCG), so times will not be evidence", spent)
    return Accelerator("kvm", f"{NODE} boots the image's own kernel", spent)


def why_not_kvm(trust_flags: bool = True) -> str:
    """The cheap half: node and CPU flags; an empty string when nothing speaks against KVM."""
    if not os.access(NODE, os.R_OK | os.W_OK):
        return f"{NODE} cannot be opened for reading and writing"
    if trust_flags and not re.search(r"^flags.*\b(vmx|svm)\b", Path("/proc/cpuinfo").read_text(), re.M):
        return f"{NODE} is there, but the CPU shows neither vmx nor svm"
    return ""


def boots(kernel: Path, accel: str, cpu: str, deadline_s: float) -> bool:
    """Does this kernel, without a root file system, reach its own panic?"""
    words = [QEMU, "-accel", accel, "-cpu", cpu, "-m", "256", "-nodefaults", "-no-reboot", "-display", "none"]
    words += ["-serial", "stdio", "-kernel", str(kernel), "-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"]
    with proc.child(words, capture=True) as process:
        return _saw_signs(process.stdout, time.monotonic() + deadline_s)


def _saw_signs(stream: object, deadline: float) -> bool:
    descriptor = stream.fileno()  # type: ignore[attr-defined]
    os.set_blocking(descriptor, False)
    seen = ""
    while time.monotonic() < deadline:
        chunk = _read(descriptor)
        if chunk == b"":
            break
        seen += (chunk or b"").decode(errors="replace")
        if all(sign in seen for sign in SIGNS):
            return True
        time.sleep(0.02)
    return all(sign in seen for sign in SIGNS)


def _read(descriptor: int) -> bytes | None:
    """What is there now; None when nothing is, an empty string at the end."""
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None


def choose(wanted: str, kernel: Path) -> Accelerator:
    """``auto`` probes; ``tcg`` is taken as said; ``kvm`` must prove itself."""
    if wanted == "tcg":
        return Accelerator("tcg", "the campaign asks for tcg", 0.0)
    found = probe(kernel)
    if wanted == "kvm" and found.name != "kvm":
        raise Problem(f"config accel: kvm is asked for, but {found.why}", "legal values: auto, kvm, tcg")
    return found
