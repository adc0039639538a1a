"""Does sampling change what is measured? The same work with and without the collectors, in turns within a boot.

    .venv/bin/python bench/sampling.py                  # 12 pairs, about 20 minutes under emulation

A pair is one run with and one without, in alternating order, each on a pool of its own; the work is bound by the CPU (gzip
written to a disk in memory, then read from a cold cache), where a sampler can cost most. The ratio's mean over the pairs is
given with its 95 % interval, which has to lie below 1 %. Written to results/bench-sampling.md.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time

from interval import mean_interval
from rig import MIB, ROOT, fetch, guest, payload, run, settings

from zassay import collectors, disks, files, filesystems, readers, registry, workloads
from zassay.collectors import Collector
from zassay.machine.qemu import Guest

BOUND = 0.01
# What records every single wait is asked for by name, and not beside a run whose time counts.
COSTLY = {"locks"}


def chosen(names: list[str] | None) -> list[Collector]:
    every = registry.every(collectors, Collector)
    return [every[name]() for name in names or sorted(set(every) - COSTLY)]


def once(found: Guest, size: int, sampled: list[Collector], interval_s: float) -> float:
    """Seconds of one write and one cold read."""
    of = settings("zfs", workload={"tool": "copy", "size": size, "block": MIB}, pool={"disk_size": 3 * size})
    of.properties["compression"] = "gzip"
    zfs = filesystems.get("zfs")
    run(found, f"zpool destroy tank 2>/dev/null || true\nrm -rf $OUT\nmkdir -p $OUT\n{zfs.create(of, [disks.device('pool0')])}")
    specs = " ".join(spec for each in sampled for spec in each.specs)
    if sampled:
        sampler = (
            f"setsid perl /run/zassay/sampler {interval_s} $OUT/samples {specs} </dev/null &\necho $! >/run/zassay/sampler.pid\n"
        )
        run(found, collectors.start_all(sampled, interval_s) + sampler)
    for phase in workloads.steps(of, zfs, f"/dev/disk/by-id/virtio-{disks.SOURCE}"):
        run(found, phase.script, phase.deadline_s)
    if sampled:
        run(found, f"kill $(cat /run/zassay/sampler.pid)\n{collectors.stop_all(sampled)}")
    marks = readers.marks(fetch(found, "marks"))
    return sum(marks[f"{what}_end"].clock - marks[f"{what}_start"].clock for what in ("write", "read"))


def pairs(machine: str, count: int, size: int, sampled: list[Collector], interval_s: float) -> list[float]:
    """The logarithm of with : without, per pair."""
    found = []
    with guest(
        [("pool0", "throttled" if machine == "small" else "hdd")], 3 * size, machine, warm=["zfs"], source=payload(size)
    ) as one:
        one.put("/run/zassay/sampler", collectors.SAMPLER.read_bytes())
        once(one, size, [], interval_s)
        for number in range(count):
            order = ([], sampled) if number % 2 else (sampled, [])
            seconds = {bool(each): once(one, size, each, interval_s) for each in order}
            found.append(math.log(seconds[True] / seconds[False]))
            print(f"pair {number + 1}/{count}: with {seconds[True]:.3f} s, without {seconds[False]:.3f} s", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="small")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--interval", type=float, default=1.0)
    parser.add_argument("--collector", action="append", help="one or more by name (default: all but the costly ones)")
    args = parser.parse_args()
    sampled = chosen(args.collector)
    mean, low, high = mean_interval(pairs(args.machine, args.pairs, args.mib * MIB, sampled, args.interval))
    lines = ["# Bench: what sampling costs", ""]
    lines += [f"{os.cpu_count()} cores, machine {args.machine}, {time.strftime('%Y-%m-%d', time.gmtime())}", ""]
    lines += [f"collectors every {args.interval:g} s: {', '.join(each.name for each in sampled)}", ""]
    lines += ["| pairs | time with : without, − 1 | 95 % interval | bound |", "|---|---|---|---|"]
    shown = [f"{math.expm1(value):+.2%}" for value in (mean, low, high)]
    lines += [f"| {args.pairs} | {shown[0]} | {shown[1]} to {shown[2]} | under {BOUND:.0%} |", ""]
    files.write_text(ROOT / "results" / "bench-sampling.md", "\n".join(lines))
    print("\n".join(lines))
    return 0 if math.expm1(high) < BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
