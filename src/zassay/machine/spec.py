"""Virtual hardware: what ``machines/<name>.yaml`` says, as types."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zassay import schema, units
from zassay.errors import Problem, unknown

SCHEMA = "machine"
DEVICE = "device"


@dataclass(frozen=True)
class Rotation:
    """What makes a disk rotate: seconds of a seek to the next track and over the whole disk, turns per minute, bytes that the
    drive reads ahead, and which of the waiting requests is next (fifo or nearest)."""

    rpm: int
    track_seek_s: float
    full_seek_s: float
    read_ahead: int
    queue: str


@dataclass(frozen=True)
class DiskSpec:
    """One data disk role of a machine: where its bytes live and how fast it may be (bytes/s and operations/s, 0 = no limit).

    With ``rotation`` a model of a disk serves it, and ``bytes_per_s`` is the rate under the head. ``device`` names an existing
    block device by its stable id.
    """

    role: str
    device_class: str
    bytes_per_s: int = 0
    operations_per_s: int = 0
    rotation: Rotation | None = None
    device: str = ""

    def as_settings(self) -> dict[str, Any]:
        """What decides a measurement. What a disk does not have is not there, so that older digests stay as they are."""
        found: dict[str, Any] = {
            "device_class": self.device_class,
            "bytes_per_s": self.bytes_per_s,
            "operations_per_s": self.operations_per_s,
        }
        if self.rotation:
            found["rotation"] = vars(self.rotation)
        return found | ({"device": self.device} if self.device else {})


@dataclass(frozen=True)
class MachineSpec:
    """A machine: vCPUs, memory (bytes), CPU model per accelerator, disks by role, and how its guests are made (clone or boot).

    ``classes`` are kinds of disks that a study may ask for by name. With ``virtual_time`` the clock of an emulated guest goes
    by instructions, 2 to the power of it nanoseconds each.
    """

    name: str
    cpus: int
    memory: int
    mode: str
    cpu_model: dict[str, str] = field(default_factory=dict)
    disks: tuple[DiskSpec, ...] = ()
    classes: tuple[DiskSpec, ...] = ()
    virtual_time: int | None = None

    def disk(self, role: str, device_class: str = "") -> DiskSpec:
        """The disk of a role: the machine's own, or one of the class that is asked for."""
        own = _named(self.disks, role, f"machines/{self.name}.yaml", "disk role")
        if not device_class:
            return own
        asked = _named(self.classes, device_class, f"machines/{self.name}.yaml", "device class")
        return dataclasses.replace(asked, role=role)

    def as_settings(self, roles: dict[str, str]) -> dict[str, Any]:
        """What of this machine decides a measurement on the disks of these roles, each of its own class or of the one given."""
        known = [disk.role for disk in self.disks]
        disks = {role: self.disk(role, kind).as_settings() for role, kind in roles.items() if role in known}
        found = {"name": self.name, "cpus": self.cpus, "memory": self.memory, "mode": self.mode, "disks": disks}
        return found | ({} if self.virtual_time is None else {"virtual_time": self.virtual_time})


def _named(among: tuple[DiskSpec, ...], name: str, where: str, what: str) -> DiskSpec:
    for each in among:
        if each.role == name:
            return each
    raise unknown(where, what, name, [each.role for each in among])


def load(root: Path, name: str, where: str = "machines/") -> MachineSpec:
    """Read ``machines/<name>.yaml``; raises Problem naming file and key (for an unknown name: ``where`` it was asked for)."""
    folder = root / "machines"
    path = folder / f"{name}.yaml"
    if not path.is_file():
        raise unknown(where, "machine", name, [each.stem for each in folder.glob("*.yaml")])
    return _parse(name, schema.load_yaml(path, SCHEMA))


def _parse(name: str, raw: dict[str, Any]) -> MachineSpec:
    where = f"machines/{name}.yaml"
    classes = tuple(_disk(f"{where}: classes.{each}", each, value) for each, value in raw.get("classes", {}).items())
    return MachineSpec(
        name=name,
        cpus=raw["cpus"],
        memory=units.with_unit(raw["memory"], f"{where}: memory"),
        mode=raw["mode"],
        cpu_model=raw["cpu_model"],
        disks=tuple(_of_class(f"{where}: disks.{role}", role, value, classes) for role, value in raw["disks"].items()),
        classes=classes,
        virtual_time=raw.get("virtual_time"),
    )


def _of_class(where: str, role: str, raw: dict[str, Any], classes: tuple[DiskSpec, ...]) -> DiskSpec:
    """A disk by one of the machine's classes, or by what it is made of."""
    for each in classes:
        if each.role == raw["class"]:
            if len(raw) > 1:
                raise Problem(f"{where}: class {each.role} is described under classes", "leave out the other keys")
            return dataclasses.replace(each, role=role)
    return _disk(where, role, raw)


def _disk(where: str, role: str, raw: dict[str, Any]) -> DiskSpec:
    if raw["class"] not in ("file", "memory", DEVICE):
        raise unknown(where, "device class", raw["class"], ("file", "memory", DEVICE))
    disk = DiskSpec(
        role=role,
        device_class=raw["class"],
        bytes_per_s=units.with_unit(raw["bytes_per_s"], f"{where}.bytes_per_s") if "bytes_per_s" in raw else 0,
        operations_per_s=int(raw.get("operations_per_s", 0)),
        rotation=_rotation(where, raw["rotation"]) if "rotation" in raw else None,
        device=raw.get("device", ""),
    )
    _whole(where, disk)
    return disk


def _rotation(where: str, raw: dict[str, Any]) -> Rotation:
    found = Rotation(
        rpm=raw["rpm"],
        track_seek_s=raw["track_seek_ms"] / 1000,
        full_seek_s=raw["full_seek_ms"] / 1000,
        read_ahead=units.with_unit(raw["read_ahead"], f"{where}.rotation.read_ahead"),
        queue=raw["queue"],
    )
    if found.full_seek_s < found.track_seek_s:
        raise Problem(f"{where}.rotation: a seek over the whole disk is shorter than one to the next track")
    return found


def _whole(where: str, disk: DiskSpec) -> None:
    """A model of a disk needs its rate; an existing device has its own speed and has to be named."""
    if disk.rotation and not disk.bytes_per_s:
        raise Problem(f"{where}: a rotating disk needs bytes_per_s, the rate under its head")
    if disk.rotation and disk.operations_per_s:
        raise Problem(f"{where}: a rotating disk's seeks say how many operations it does", "leave out operations_per_s")
    if (disk.device_class == DEVICE) != bool(disk.device):
        raise Problem(f"{where}: class {DEVICE} and the key device go together", "device: /dev/disk/by-id/...")
    if disk.device and (disk.rotation or disk.bytes_per_s or disk.operations_per_s):
        raise Problem(f"{where}: an existing device has the speed it has", "leave out rotation and limits")
