"""Templates and clones: boot once per block, then start each cell's guest from the booted memory in half a second.

A template is booted, warmed (modules loaded, tools run once, caches dropped) and stopped; its memory stays in a file and
its device state in another. A clone maps that memory copy-on-write, with a fresh overlay as root and this cell's disks
where the template had placeholders of the same size. Clones of one template share one boot and so are no replicates:
a fresh template per block keeps the blocks independent. ``boot`` mode starts each cell from power-on instead.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zassay.machine import qemu
from zassay.machine.drives import Disk, make_placeholder
from zassay.machine.leftovers import Record
from zassay.machine.qemu import Guest, Launch

BOOT_DEADLINE_S = 120.0
SAVE_DEADLINE_S = 60.0
# images/guest/stage2 starts udev beside the agent and says so; then the disks' names have to appear.
SETTLE = "while [ ! -e /run/zassay/udev ]; do sleep 0.02; done\nudevadm settle --timeout=30\n"
REST = "sync\necho 3 >/proc/sys/vm/drop_caches\n"
IGNORE_SHARED = [{"capability": "x-ignore-shared", "state": True}]


@dataclass(frozen=True)
class Template:
    """A stopped guest: ``launch`` as it was booted, its memory file, device state and root overlay, and how long it took (s)."""

    launch: Launch
    state: Path
    boot_s: float
    total_s: float


def placeholders(folder: Path, disks: tuple[Disk, ...]) -> tuple[Disk, ...]:
    """Empty disks of the same serials and sizes, to be replaced in each clone."""

    def empty(disk: Disk) -> Disk:
        path = folder / f"{disk.serial}.placeholder"
        make_placeholder(path, disk.size, not disk.read_only, disk.partitioned)
        return dataclasses.replace(disk, path=path, direct=False, bytes_per_s=0, operations_per_s=0, socket=None)

    return tuple(empty(disk) for disk in disks)


def make(folder: Path, launch: Launch, image_disk: Path, warm: str, record: Record | None = None) -> Template:
    """Boot, run the ``warm`` script, stop and save. The folder keeps ``ram``, ``state``, ``root.qcow2`` and ``console.log``."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    root, state = folder / "root.qcow2", folder / "state"
    qemu.make_overlay(image_disk, root)
    launch = dataclasses.replace(
        launch, root=root, ram_file=folder / "ram", ram_shared=True, disks=placeholders(folder, launch.disks)
    )
    with qemu.start(launch, folder / "console.log", record) as guest:
        boot_s = guest.wait_ready(BOOT_DEADLINE_S)
        guest.must(f"{SETTLE}{warm}\n{REST}", BOOT_DEADLINE_S)
        _save(guest, state)
    return Template(launch, state, boot_s, time.monotonic() - start)


def _save(guest: Guest, state: Path) -> None:
    guest.qmp.execute("migrate-set-capabilities", capabilities=IGNORE_SHARED)
    guest.qmp.execute("stop")
    guest.qmp.execute("migrate", uri=f"exec:cat > '{state}'")
    guest.qmp.until("query-migrate", lambda answer: answer.get("status") in ("completed", "failed"), SAVE_DEADLINE_S)
    guest.qmp.execute("quit")


@contextlib.contextmanager
def clone(template: Template, folder: Path, disks: tuple[Disk, ...], record: Record | None = None) -> Iterator[Guest]:
    """A running copy of the template with its own disks."""
    root = folder / "root.qcow2"
    qemu.make_overlay(template.launch.root, root)
    launch = dataclasses.replace(template.launch, root=root, ram_shared=False, disks=disks, incoming=True)
    with qemu.start(launch, folder / "console.log", record) as guest:
        guest.qmp.execute("migrate-set-capabilities", capabilities=IGNORE_SHARED)
        guest.qmp.execute("migrate-incoming", uri=f"exec:cat '{template.state}'")
        guest.qmp.until("query-migrate", lambda answer: answer.get("status") == "completed", SAVE_DEADLINE_S)
        guest.qmp.execute("cont")
        yield guest


@contextlib.contextmanager
def boot(launch: Launch, image_disk: Path, folder: Path, warm: str, record: Record | None = None) -> Iterator[Guest]:
    """A guest started from power-on, made ready by the same ``warm`` script as a template."""
    root = folder / "root.qcow2"
    qemu.make_overlay(image_disk, root)
    with qemu.start(dataclasses.replace(launch, root=root), folder / "console.log", record) as guest:
        guest.wait_ready(BOOT_DEADLINE_S)
        guest.must(f"{SETTLE}{warm}\n{REST}", BOOT_DEADLINE_S)
        yield guest
