"""Do results on a device class repeat? Sequential ZFS write and read in fresh boots: mean rate and coefficient of variation.

    .venv/bin/python bench/devices.py                   # 10 boots of each class with a bound, about 25 minutes under emulation
    .venv/bin/python bench/devices.py --class hdd --machine small-virtual-time --boots 10

Each boot has a disk, a pool and data of its own. The bound (3 % over 10 boots) is asked of ``throttled``. Written to
results/bench-devices.md, with what every boot gave.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from dataclasses import dataclass

from interval import variation
from rig import MIB, ROOT, fetch, guest, payload, run, settings

from zassay import disks, files, filesystems, readers, workloads

BOUND = 0.03
BOUNDED = ("throttled",)


@dataclass(frozen=True)
class Boot:
    """Bytes per second of one boot's write (with its flush) and cold read."""

    write: float
    read: float


def boot(machine: str, kind: str, size: int) -> Boot:
    of = settings("zfs", workload={"tool": "copy", "size": size, "block": MIB}, pool={"disk_size": 3 * size})
    source = f"/dev/disk/by-id/virtio-{disks.SOURCE}"
    with guest([("pool0", kind)], 3 * size, machine, warm=["zfs"], source=payload(size)) as found:
        zfs = filesystems.get("zfs")
        run(found, zfs.create(of, [disks.device("pool0")]))
        for phase in workloads.steps(of, zfs, source):
            run(found, phase.script, phase.deadline_s)
        marks = readers.marks(fetch(found, "marks"))
        if fetch(found, "compare").strip() != "same":
            raise SystemExit("what was read back is not what was written")
    return Boot(*(size / (marks[f"{what}_end"].clock - marks[f"{what}_start"].clock) for what in ("write", "read")))


def rows(machine: str, kind: str, boots: list[Boot]) -> list[str]:
    found = []
    for what in ("write", "read"):
        rates = [getattr(each, what) for each in boots]
        spread = f"{min(rates) / 1e6:.1f} to {max(rates) / 1e6:.1f}"
        bound = f"≤ {BOUND:.0%}" if kind in BOUNDED else ""
        kept = "" if not bound else "kept" if variation(rates) <= BOUND else "missed"
        found.append(
            f"| {machine} | {kind} | {what} | {len(rates)} | {statistics.mean(rates) / 1e6:.1f} | {spread} "
            f"| {variation(rates):.2%} | {bound} | {kept} |"
        )
    return found


HEAD = ["| machine | class | what | boots | mean MB/s | from, to | CV | bound | |", "|---|---|---|---|---|---|---|---|---|"]


def table(lines: list[str], size: int) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime())
    host = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, {day}; {size // MIB} MiB, compression off"
    return "\n".join(["# Bench: device classes", "", host, "", *HEAD, *lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--class", dest="kinds", action="append", help="device class of the machine (default: throttled)")
    parser.add_argument("--machine", default="small")
    parser.add_argument("--boots", type=int, default=10)
    parser.add_argument("--mib", type=int, default=128, help="bytes written and read in each boot")
    args = parser.parse_args()
    lines: list[str] = []
    for kind in args.kinds or BOUNDED:
        boots = []
        for number in range(args.boots):
            boots.append(boot(args.machine, kind, args.mib * MIB))
            print(
                f"{kind} {number + 1}/{args.boots}: write {boots[-1].write / 1e6:.2f}, read {boots[-1].read / 1e6:.2f} MB/s",
                file=sys.stderr,
            )
        lines += rows(args.machine, kind, boots)
    files.write_text(ROOT / "results" / "bench-devices.md", table(lines, args.mib * MIB))
    print(table(lines, args.mib * MIB))
    return 0 if all("missed" not in line for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
