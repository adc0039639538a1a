"""Virtual hardware: what ``machines/<name>.yaml`` says, as types."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zassay import schema, units
from zassay.errors import unknown

SCHEMA = "machine"


@dataclass(frozen=True)
class DiskSpec:
    """One data disk role of a machine: where its bytes live and how fast it may be (bytes/s and operations/s, 0 = no limit)."""

    role: str
    device_class: str
    bytes_per_s: int = 0
    operations_per_s: int = 0


@dataclass(frozen=True)
class MachineSpec:
    """A machine: vCPUs, memory (bytes), CPU model per accelerator, disks by role, and how its guests are made (clone or boot)."""

    name: str
    cpus: int
    memory: int
    mode: str
    cpu_model: dict[str, str] = field(default_factory=dict)
    disks: tuple[DiskSpec, ...] = ()

    def disk(self, role: str) -> DiskSpec:
        for disk in self.disks:
            if disk.role == role:
                return disk
        raise unknown(f"machines/{self.name}.yaml", "disk role", role, [disk.role for disk in self.disks])


def load(root: Path, name: str, where: str = "machines/") -> MachineSpec:
    """Read ``machines/<name>.yaml``; raises Problem naming file and key (for an unknown name: ``where`` it was asked for)."""
    folder = root / "machines"
    path = folder / f"{name}.yaml"
    if not path.is_file():
        raise unknown(where, "machine", name, [each.stem for each in folder.glob("*.yaml")])
    return _parse(name, schema.load_yaml(path, SCHEMA))


def _parse(name: str, raw: dict[str, Any]) -> MachineSpec:
    return MachineSpec(
        name=name,
        cpus=raw["cpus"],
        memory=units.with_unit(raw["memory"], f"machines/{name}.yaml: memory"),
        mode=raw["mode"],
        cpu_model=raw["cpu_model"],
        disks=tuple(_disk(f"machines/{name}.yaml: disks.{role}", role, value) for role, value in raw["disks"].items()),
    )


def _disk(where: str, role: str, raw: dict[str, Any]) -> DiskSpec:
    return DiskSpec(
        role=role,
        device_class=raw["class"],
        bytes_per_s=units.with_unit(raw["bytes_per_s"], f"{where}.bytes_per_s") if "bytes_per_s" in raw else 0,
        operations_per_s=int(raw.get("operations_per_s", 0)),
    )
