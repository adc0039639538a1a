"""Show one cell of a study: its settings, its disks, and the guest script that makes its pool; for Vagrant and for reading."""

from __future__ import annotations

import argparse
import json
from typing import Any

from zassay import campaign, files, filesystems, study, workloads
from zassay.campaign import Campaign
from zassay.disks import SOURCE, Wanted, roles, wanted
from zassay.machine.spec import DiskSpec
from zassay.study import Cell, Settings, Study
from zassay.units import show_bytes

# The wait is for udev's names of the disks; OUT is where a run keeps what the guest reads back.
SCRIPT = """#!/bin/bash
# {title}
# Made by: zassay cell {study} {cell}
set -eu -o pipefail
if mountpoint -q {mount}; then
    echo '{mount} is there already: nothing is changed'
    exit 0
fi
OUT=/run/zassay/run
mkdir -p $OUT
: >$OUT/readback
udevadm settle --timeout=30
{warm}
{create}
echo 'as this guest reads it back:'
cat $OUT/readback
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a folder of studies/")
    parser.add_argument("cell", help="a cell as `zassay explain STUDY` names it")
    parser.add_argument("--scale", help="a file of config/scales/ (default: the campaign's)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def main(args: argparse.Namespace) -> None:
    setup = campaign.load(scale=args.scale)
    what = study.load(setup.root, args.study, setup.scale)
    found = describe(setup, what, what.cell(args.cell))
    print(json.dumps(found, indent=1, sort_keys=True) if args.json else text(found))


def describe(setup: Campaign, what: Study, cell: Cell) -> dict[str, Any]:
    """The cell as plain values, sizes in bytes: settings, levels, ``disks`` in the guest's order, ``payload``, ``script``."""
    settings = cell.settings
    return {
        "study": what.name,
        "cell": cell.id,
        "scale": setup.scale.name,
        "levels": cell.levels,
        "image": settings.image,
        "machine": settings.machine["name"],
        "settings": settings.as_dict(),
        "digest": settings.digest,
        "disks": disks(setup, settings),
        "payload": payload(setup, settings),
        "script": script(what, cell),
    }


def disks(setup: Campaign, settings: Settings) -> list[dict[str, Any]]:
    """Disks under test by role (also their serial), then the one that the payload comes from; limits per second, 0 = none."""
    machine = setup.scale.machine
    found = [_limits(each, machine.disk(each.role, each.device_class)) for each in wanted(settings.pool)]
    size = payload_bytes(settings)
    plain = {"class": "file", "bytes_per_s": 0, "operations_per_s": 0, "holds": "payload"}
    return [*found, {"serial": SOURCE, "bytes": size, **plain}] if size else found


def _limits(disk: Wanted, spec: DiskSpec) -> dict[str, Any]:
    limits = {"bytes_per_s": spec.bytes_per_s, "operations_per_s": spec.operations_per_s}
    turns = {"rotation": vars(spec.rotation)} if spec.rotation else {}
    return {"serial": disk.role, "bytes": disk.size, "class": spec.device_class, **limits, **turns, "holds": disk.holds}


def payload(setup: Campaign, settings: Settings) -> dict[str, Any]:
    """What `zassay payload make` needs to write the same bytes again."""
    seed = int(settings.payload.get("seed", setup.seed))
    return {"name": settings.payload["name"], "seed": seed, "bytes": payload_bytes(settings)}


def payload_bytes(settings: Settings) -> int:
    return workloads.get(str(settings.workload["tool"])).payload_bytes(settings)


def script(what: Study, cell: Cell) -> str:
    """A bash script for root in the guest: module parameters, pool and dataset as a measurement of this cell has them."""
    filesystem = filesystems.get(cell.settings.filesystem)
    devices = [f"/dev/disk/by-id/virtio-{role}" for role in roles(cell.settings.pool)]
    return SCRIPT.format(
        title=what.title,
        study=what.name,
        cell=cell.id,
        mount=filesystems.MOUNT,
        warm=filesystem.warm(cell.settings).rstrip(),
        create=filesystem.create(cell.settings, devices).rstrip(),
    )


def text(found: dict[str, Any]) -> str:
    levels = " × ".join(f"{factor} {level}" for factor, level in found["levels"].items())
    lines = [f"{found['study']}, cell {found['cell']}: {levels}", f"image {found['image']}, machine {found['machine']}", ""]
    lines += [f"  {_disk(disk)}" for disk in found["disks"]]
    lines += ["", *(f"  {key}: {files.canonical_json(value)}" for key, value in sorted(found["settings"].items()))]
    return "\n".join([*lines, "", found["script"]])


def _disk(disk: dict[str, Any]) -> str:
    limits = [f"{show_bytes(disk['bytes_per_s'])}/s"] if disk["bytes_per_s"] else []
    limits += [f"{disk['operations_per_s']} operations/s"] if disk["operations_per_s"] else []
    limits += [f"{disk['rotation']['rpm']} turns/min, {disk['rotation']['queue']} first"] if "rotation" in disk else []
    return f"disk {disk['serial']:<8} {show_bytes(disk['bytes']):>10}  {', '.join([disk['class'], *limits])}"
