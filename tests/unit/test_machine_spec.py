"""Machines: disks by role and class, what of them decides a measurement, and what a file cannot mean."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.machine import spec
from zassay.machine.spec import MachineSpec, Rotation

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "machines").glob("*.yaml"))
MIB = 1 << 20
FILE = """cpus: 2
memory: 1 GiB
mode: clone
cpu_model: {tcg: EPYC, kvm: host}
classes:
  hdd:
    class: memory
    bytes_per_s: 100 MiB
    rotation: {rpm: 7200, track_seek_ms: 1, full_seek_ms: 15, read_ahead: 2 MiB, queue: nearest}
disks:
  pool0: {class: file}
  log0: {class: hdd}
  raw0: {class: device, device: /dev/disk/by-id/virtio-zassay-1}
"""


def loaded(tmp_path: Path, edit: Callable[[str], str] = str) -> MachineSpec:
    (tmp_path / "machines").mkdir(exist_ok=True)
    (tmp_path / "machines" / "m.yaml").write_text(edit(FILE))
    return spec.load(tmp_path, "m")


def swapped(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


@pytest.mark.parametrize("name", NAMES)
def test_our_machines_have_all_roles_and_classes(name: str) -> None:
    machine = spec.load(ROOT, name)
    assert {disk.role for disk in machine.disks} >= {"pool0", "pool5", "log0", "cache0", "special0", "source"}
    assert [each.role for each in machine.classes] == ["unthrottled", "throttled", "slow", "ssd", "hdd", "hdd-fifo"]
    assert machine.disk("pool0") == machine.disk("pool0", "unthrottled")
    assert machine.disk("pool0", "throttled").bytes_per_s == 60 * MIB
    rotation = machine.disk("pool0", "hdd").rotation
    assert rotation == Rotation(7200, 0.001, 0.015, 2 * MIB, "nearest")


def test_a_role_has_a_class_of_its_own_or_the_one_asked_for(tmp_path: Path) -> None:
    machine = loaded(tmp_path)
    assert (machine.disk("pool0").device_class, machine.disk("pool0").rotation) == ("file", None)
    asked = machine.disk("pool0", "hdd")
    assert (asked.role, asked.device_class, asked.bytes_per_s) == ("pool0", "memory", 100 * MIB)
    assert machine.disk("log0") == machine.disk("log0", "hdd")
    with pytest.raises(Problem, match='unknown device class "hd"'):
        machine.disk("pool0", "hd")
    with pytest.raises(Problem, match='unknown disk role "pool1"'):
        machine.disk("pool1")


def test_only_the_disks_of_a_cell_decide_its_measurement(tmp_path: Path) -> None:
    machine = loaded(tmp_path)
    plain = {"device_class": "file", "bytes_per_s": 0, "operations_per_s": 0}
    found = machine.as_settings({"pool0": "", "source": ""})
    assert found == {"name": "m", "cpus": 2, "memory": 1 << 30, "mode": "clone", "disks": {"pool0": plain}}
    assert machine.as_settings({"pool0": "hdd"})["disks"]["pool0"]["rotation"]["queue"] == "nearest"
    assert machine.as_settings({"raw0": ""})["disks"]["raw0"]["device"] == "/dev/disk/by-id/virtio-zassay-1"
    virtual = loaded(tmp_path, swapped("cpus: 2", "cpus: 1\nvirtual_time: 1"))
    assert virtual.as_settings({})["virtual_time"] == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("log0: {class: hdd}", "log0: {class: hd}", 'disks.log0: unknown device class "hd"'),
        ("log0: {class: hdd}", "log0: {class: hdd, bytes_per_s: 1 MiB}", "disks.log0: class hdd is described under classes"),
        ("    bytes_per_s: 100 MiB\n", "", "classes.hdd: a rotating disk needs bytes_per_s"),
        ("100 MiB", "100", "classes.hdd.bytes_per_s"),
        ("    bytes_per_s: 100 MiB", "    bytes_per_s: 100 MiB\n    operations_per_s: 5", "a rotating disk's seeks say"),
        ("full_seek_ms: 15", "full_seek_ms: 0.5", "classes.hdd.rotation: a seek over the whole disk is shorter"),
        ("read_ahead: 2 MiB", "read_ahead: 2", "rotation.read_ahead"),
        ("queue: nearest", "queue: elevator", "queue"),
        ("rpm: 7200, ", "", "'rpm' is a required property"),
        (
            "class: device, device: /dev/disk/by-id/virtio-zassay-1",
            "class: device",
            "class device and the key device go together",
        ),
        ("class: device, device", "class: file, device", "class device and the key device go together"),
        ("virtio-zassay-1}", "virtio-zassay-1, bytes_per_s: 1 MiB}", "has the speed it has"),
        ("/dev/disk/by-id/virtio-zassay-1", "/dev/sda", "/dev/sda"),
        ("/dev/disk/by-id/virtio-zassay-1", "/dev/disk/by-id/../../sda", "sda"),
        ("cpus: 2", "cpus: 2\nvirtual_time: 11", "11"),
    ],
)
def test_what_a_machine_cannot_be_is_told(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(Problem) as caught:
        loaded(tmp_path, swapped(old, new))
    assert says in str(caught.value), str(caught.value)


def test_a_machine_file_is_found_by_name(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "machines", tmp_path / "machines")
    with pytest.raises(Problem, match='unknown machine "smalls"'):
        spec.load(tmp_path, "smalls")
