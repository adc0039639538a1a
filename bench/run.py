"""make bench: how fast this machine boots, clones, measures and rests. Medians of one session, written to results/bench.md.

The quick parts take some minutes; ``--all`` adds whole runs from a bare clone, with the image and from nothing (three
quarters of an hour). Each part can be measured by itself; the table keeps what the others gave last.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import parsing
import psutil
from memory import peak_of

from zassay import campaign, files, filesystems, study
from zassay.image import cache as image_cache
from zassay.machine import accel, leftovers, qemu, template
from zassay.machine.drives import Disk, make_raw_disk
from zassay.machine.qemu import Launch

ROOT = campaign.project_root()
STUDY = "compression-levels"
MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table: what, the figure, and the bound it has to keep."""

    what: str
    value: str
    bound: str


def median_row(what: str, bound: str, seconds: list[float]) -> Row:
    spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
    return Row(what, f"{statistics.median(seconds):.2f} s (n = {len(seconds)}, {spread})", bound)


def launch_of(setup: campaign.Campaign, entry: Path, folder: Path) -> Launch:
    disk = folder / "pool0.raw"
    make_raw_disk(disk, 256 * MIB)
    found = accel.choose(setup.accel, entry / "vmlinux")
    return qemu.launch_of(setup.scale.machine, found.name, entry, (Disk("pool0", disk),))


def guests(repeats: int) -> list[Row]:
    """From the start of QEMU to the end of the first command in the guest, by boot and by clone."""
    setup = campaign.load()
    what = study.load(ROOT, STUDY, setup.scale)
    settings = what.cells[0].settings
    entry = image_cache.entry(settings.image)
    warm = filesystems.get(settings.filesystem).warm(settings)
    boots, clones = [], []
    base = campaign.cache_dir() / "scratch"
    with leftovers.scratch(base, "bench") as (disks, _), leftovers.scratch(setup.scratch, "bench") as (folder, record):
        launch = launch_of(setup, entry, disks)
        for number in range(repeats):
            made = template.make(folder / f"template-{number}", launch, entry / "disk.qcow2", warm, record)
            boots.append(made.boot_s)
            clones += [clone_once(made, folder / f"clone-{number}-{index}", launch.disks) for index in range(2)]
    return [
        median_row("qemu start to first command, boot", "≤ 4 s", boots),
        median_row("qemu start to first command, clone", "≤ 1 s", clones),
    ]


def clone_once(made: template.Template, folder: Path, disks: tuple[Disk, ...]) -> float:
    folder.mkdir()
    start = time.monotonic()
    with template.clone(made, folder, disks) as guest:
        guest.must("true", 20)
        return time.monotonic() - start


def timed(command: list[str], **environment: str) -> tuple[float, int]:
    """(seconds, peak bytes of the host side) of a command that has to succeed."""
    start = time.monotonic()
    peak = peak_of(command, {**os.environ, **environment})
    return time.monotonic() - start, peak


def rest() -> list[Row]:
    """What a run costs when there is nothing to do."""
    image = [timed(["zassay", "image", "build", "debian-12"])[0] for _ in range(3)]
    rows = [median_row("unchanged image", "about 0 s", image)]
    if (ROOT / "results" / "report.html").is_file():
        again = [timed(["snakemake", "--cores", "4"])[0] for _ in range(3)]
        rows.append(median_row("snakemake --cores 4 with nothing to do", "≤ 10 s", again))
    return rows


def overhead() -> list[Row]:
    path = ROOT / "results" / STUDY / "timing.json"
    if not path.is_file():
        return []
    timing = files.read_json(path)
    share = timing["stages_s"]["overhead"] / timing["actual_s"]
    return [
        Row("fixed overhead per run", f"{timing['median_s']['overhead']:.2f} s (median of {timing['runs']} runs)", "≤ 5 s"),
        Row("overhead's share of measuring a campaign", f"{share:.0%}", ""),
    ]


def reading() -> list[Row]:
    return [Row(*parsing.line())]


def cached() -> list[Row]:
    """A whole run from a bare clone, with the image in the cache."""
    image_cache.entry("debian-12")
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="zassay-bench-") as place:
        return [whole(Path(place), campaign.cache_dir(), "make run, bare checkout, image cached", "≤ 12 min")]


def nothing() -> list[Row]:
    """A whole run from a bare clone with an empty cache, and what the image took in it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="zassay-bench-") as place:
        cache = Path(place) / "cache"
        row = whole(Path(place), cache, "make run, bare checkout, nothing cached", "≤ 25 min")
        return [row, Row("image from nothing", f"{image_seconds(cache) / 60:.1f} min", "≤ 8 min")]


def whole(place: Path, cache: Path, what: str, bound: str) -> Row:
    clone = place / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    seconds, peak = timed(["make", "-C", str(clone), "run"], ZASSAY_CACHE=str(cache))
    return Row(what, f"{seconds / 60:.1f} min, host side at most {peak / MIB:.0f} MiB", f"{bound}, ≤ 1 GiB")


def image_seconds(cache: Path) -> float:
    """What the layers of the image in this cache say their making took, fetching included."""
    layers = [*cache.glob("images/debian-12/*/base.json"), *cache.glob("images/debian-12/*/disk.json")]
    return sum(float(files.read_json(layer)["seconds"]) for layer in layers)


PARTS: dict[str, Callable[[int], list[Row]]] = {
    "guests": guests,
    "rest": lambda _: rest(),
    "overhead": lambda _: overhead(),
    "reading": lambda _: reading(),
    "cached": lambda _: cached(),
    "nothing": lambda _: nothing(),
}
QUICK = ("guests", "rest", "overhead", "reading")


def table(measured: dict[str, Any]) -> str:
    """One table of all parts measured in this checkout, each with when it was, the load before it and what others stole."""
    lines = ["| what | measured | bound | when, load before, CPU time stolen |", "|---|---|---|---|"]
    for part in (part for part in PARTS if part in measured):
        when = f"{measured[part]['when']}, {measured[part]['load']:.1f}, {measured[part].get('stolen', 0.0):.0%}"
        lines += [f"| {what} | {value} | {bound} | {when} |" for what, value, bound in measured[part]["rows"]]
    return "\n".join(["# Bench", "", f"{os.cpu_count()} cores", "", *lines, ""])


def measure(part: str, repeats: int) -> dict[str, Any]:
    load, when = os.getloadavg()[0], time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    before = psutil.cpu_times()
    rows = [dataclasses.astuple(row) for row in PARTS[part](repeats)]
    return {"when": when, "load": load, "stolen": stolen(before, psutil.cpu_times()), "rows": rows}


def stolen(before: Any, after: Any) -> float:
    """Of the CPU time that was wanted, the share that this host's own host gave to others."""
    spent = {name: getattr(after, name) - getattr(before, name) for name in before._fields}
    wanted = sum(spent.values()) - spent["idle"] - spent.get("iowait", 0)
    return spent.get("steal", 0.0) / wanted if wanted else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help="all parts: whole runs from a bare clone too (three quarters of an hour)"
    )
    parser.add_argument(
        "--part", action="append", choices=list(PARTS), help="only this part; the table keeps the other parts' last figures"
    )
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended"))  # through every finally on the way
    kept = ROOT / "results" / "bench.json"
    measured = files.read_json(kept) if kept.is_file() else {}
    for part in args.part or (list(PARTS) if args.all else QUICK):
        measured[part] = measure(part, args.repeats)
        files.write_json(kept, measured)
        files.write_text(kept.with_suffix(".md"), table(measured))
    print(table(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
