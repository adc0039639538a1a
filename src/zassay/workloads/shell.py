"""Shell text that workloads share: marks and counters around the work, and what makes a cache cold or warm."""

from __future__ import annotations

from zassay.errors import Problem
from zassay.filesystems import Filesystem
from zassay.study import Settings
from zassay.workloads import Phase, numbered

SLOWEST_BYTES_PER_S = 512 << 10
# Counters of the kernel beside the filesystem's own; $$ is the script's shell, which inherits the counts of ended children.
COUNTERS = ("/proc/diskstats", "/proc/$$/io", "/proc/net/dev", "/proc/vmstat")
WARM = "warm"


def deadline(size: int) -> float:
    """Seconds within which even gzip-9 on an emulated CPU must be done."""
    return 60 + size / SLOWEST_BYTES_PER_S


def timed(name: str, script: str) -> str:
    """Counters outside the clock, the clock tight around the work."""
    return f"snap {name}_start\nmark {name}_start\n{script}mark {name}_end\nsnap {name}_end\n"


def counters(filesystem: Filesystem) -> str:
    """A ``snap`` that keeps everything the ledger counts. Built-ins only: a process costs 30 ms on an emulated CPU."""
    paths = " ".join((*COUNTERS, *filesystem.counters()))
    return f"""snap() {{
    local from rows
    for from in {paths}; do
        if [ -r "$from" ]; then
            mapfile rows <"$from"
            printf '%s' "${{rows[@]}}" >"$OUT/snap.$1.${{from##*/}}"
        fi
    done
}}
"""


def cold(filesystem: Filesystem, run: int = 1) -> Phase:
    """Nothing cached; the proof of each run is kept under its own name."""
    name = numbered("cold", run)
    keep = (
        ""
        if run == 1
        else f"mv $OUT/cold $OUT/cold.keep\n{filesystem.make_cold()}mv $OUT/cold $OUT/{name}\nmv $OUT/cold.keep $OUT/cold\n"
    )
    return Phase(name, keep or filesystem.make_cold(), 60, measures=False)


def cache_phases(settings: Settings, filesystem: Filesystem, warm: Phase) -> list[Phase]:
    """What comes before the first run: nothing cached (cold), one full recorded pass (warm), or what preparing left."""
    known = {"cold": [cold(filesystem)], WARM: [warm], "as_left": [], "": []}
    if settings.cache not in known:
        raise Problem(f'settings.cache: "{settings.cache}" is not known', f"legal values: {', '.join(filter(None, known))}")
    return known[settings.cache]
