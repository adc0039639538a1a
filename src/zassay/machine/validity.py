"""What the data of a machine may decide: B bare metal, V virtualised, E emulated. The lowest evidence wins."""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

from zassay import files
from zassay.machine.accel import Accelerator

ORDER = "SEVB"


def host_facts() -> dict[str, Any]:
    """This host: kernel, CPU, cores, memory (bytes), whether it is itself a guest."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.M)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    return {
        "kernel": platform.release(),
        "cpu_model": model.group(1) if model else "unknown",
        "cores": cpuinfo.count("processor\t"),
        "memory": int(memory.group(1)) * 1024 if memory else 0,
        "itself_a_guest": bool(re.search(r"^flags.*\bhypervisor\b", cpuinfo, re.M)),
        "vmx_or_svm": bool(re.search(r"^flags.*\b(vmx|svm)\b", cpuinfo, re.M)),
        # No host name: a name says nothing about the measurement and may be private. The digest tells hosts apart.
        "id": files.sha256_json([_machine_id(), model.group(1) if model else ""])[:12],
    }


def _machine_id() -> str:
    path = Path("/etc/machine-id")
    return path.read_text().strip() if path.is_file() else ""


def validity(accel: Accelerator, host: dict[str, Any], query_kvm: dict[str, Any]) -> dict[str, Any]:
    """``class`` and the evidence for it: E unless QEMU itself says that KVM is on and the host's CPU can do it."""
    kvm = accel.name == "kvm" and bool(query_kvm.get("enabled")) and bool(host["vmx_or_svm"])
    label = "V" if kvm else "E"
    evidence = {
        "accelerator": accel.name,
        "why": accel.why,
        "query_kvm": query_kvm,
        "host_vmx_or_svm": host["vmx_or_svm"],
    }
    return {"class": label, "nested": kvm and bool(host["itself_a_guest"]), "evidence": evidence}
