"""make bench: how fast this machine boots, clones, measures and rests. Medians of one session, written to results/bench.md.

The quick part takes some minutes; ``--all`` adds an image from nothing and whole runs from a bare clone (an hour).
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import parsing
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


def from_nothing() -> list[Row]:
    """An image with an empty cache, then whole runs from a bare clone with that cache and without."""
    rows = []
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="zassay-bench-") as place:
        cache, clone = Path(place) / "cache", Path(place) / "clone"
        seconds, _ = timed(["zassay", "image", "build", "debian-12"], ZASSAY_CACHE=str(cache))
        rows.append(Row("image from nothing", f"{seconds / 60:.1f} min", "≤ 8 min"))
        rows.append(whole(clone, cache, "make run, bare checkout, image cached", "≤ 12 min"))
        shutil.rmtree(cache)
        rows.append(whole(clone, cache, "make run, bare checkout, nothing cached", "≤ 25 min"))
    return rows


def whole(clone: Path, cache: Path, what: str, bound: str) -> Row:
    shutil.rmtree(clone, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    seconds, peak = timed(["make", "-C", str(clone), "run"], ZASSAY_CACHE=str(cache))
    return Row(what, f"{seconds / 60:.1f} min, host side at most {peak / MIB:.0f} MiB", f"{bound}, ≤ 1 GiB")


def table(rows: list[Row]) -> str:
    lines = ["| what | measured | bound |", "|---|---|---|", *(f"| {r.what} | {r.value} | {r.bound} |" for r in rows)]
    load = os.getloadavg()[0]
    host = f"{os.cpu_count()} cores, load {load:.1f} at the end, {time.strftime('%Y-%m-%d', time.gmtime())}"
    return "\n".join(["# Bench", "", host, "", *lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also the image from nothing and whole runs (an hour)")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    parts: list[Callable[[], list[Row]]] = [
        lambda: guests(args.repeats),
        rest,
        overhead,
        reading,
        *([from_nothing] if args.all else []),
    ]
    rows = []
    for part in parts:
        rows += part()
        print(table(rows), file=sys.stderr)
    files.write_text(ROOT / "results" / "bench.md", table(rows))
    print(ROOT / "results" / "bench.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
