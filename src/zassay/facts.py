"""One boot for the record: what accelerator, kernel and ZFS a guest of this host really has, and how its clock runs."""

from __future__ import annotations

import time
from typing import Any

from zassay import filesystems, readers
from zassay.campaign import Campaign
from zassay.image import cache as image_cache
from zassay.machine import accel, leftovers, qemu, template, validity
from zassay.machine.qemu import Guest
from zassay.study import Study

CLOCK_SPAN_S = 1.0
FACTS = """
printf 'kernel\\t%s\\n' "$(uname -r)"
read -r v </sys/module/zfs/version; printf 'zfs_module\\t%s\\n' "$v"
printf 'zfs_tools\\t%s\\n' "$(zfs version | head -n 1)"
printf 'virtualisation\\t%s\\n' "$(systemd-detect-virt || true)"
read -r v </sys/devices/system/clocksource/clocksource0/current_clocksource; printf 'clocksource\\t%s\\n' "$v"
printf 'cpu_model\\t%s\\n' "$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo)"
printf 'cpu_flags\\t%s\\n' "$(sed -n 's/^flags[^:]*: //p;T;q' /proc/cpuinfo)"
read -r v </sys/module/zcommon/parameters/zfs_fletcher_4_impl; printf 'fletcher_4\\t%s\\n' "$v"
read -r v </sys/module/zfs/parameters/zfs_vdev_raidz_impl; printf 'raidz\\t%s\\n' "$v"
"""


def facts(campaign: Campaign, image: str, study: Study) -> dict[str, Any]:
    """Boot ``image`` from power-on and read its facts; raises Problem when it does not come up."""
    entry = image_cache.entry(image)
    accelerator = accel.choose(campaign.accel, entry / "vmlinux")
    launch = qemu.launch_of(campaign.scale.machine, accelerator.name, entry)
    settings = study.cells[0].settings
    warm = filesystems.get(settings.filesystem).warm(settings)
    leftovers.sweep()
    with leftovers.scratch(campaign.scratch, "check") as (folder, record):
        with template.boot(launch, entry / "disk.qcow2", folder, warm, record) as guest:
            return _ask(guest, accelerator)


def _ask(guest: Guest, accelerator: accel.Accelerator) -> dict[str, Any]:
    host = validity.host_facts()
    return {
        "accelerator": vars(accelerator),
        "guest": readers.pairs(guest.must(FACTS, 60).text),
        "clock_ratio": round(_clock_ratio(guest), 5),
        "host": host,
        "validity": validity.validity(accelerator, host, guest.qmp.execute("query-kvm")),
        "qemu": guest.qmp.execute("query-version")["qemu"],
        "qemu_command": [word for word in guest.argv if word != qemu.QEMU],
    }


def _clock_ratio(guest: Guest) -> float:
    """Guest seconds per host second over about a second."""
    first_host, first = time.monotonic(), float(guest.must("printf %s $EPOCHREALTIME", 20).text)
    time.sleep(CLOCK_SPAN_S)
    second_host, second = time.monotonic(), float(guest.must("printf %s $EPOCHREALTIME", 20).text)
    return (second - first) / (second_host - first_host)


def summary(image: str, found: dict[str, Any]) -> str:
    guest = found["guest"]
    return (
        f"{image}: kernel {guest['kernel']}, ZFS {guest['zfs_module']}, {found['accelerator']['name']}, "
        f"class {found['validity']['class']}, clock ratio {found['clock_ratio']}"
    )
