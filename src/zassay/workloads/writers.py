"""Writers in the background: so many, of such blocks, with such fsyncs, at such a rate; what they achieved is measured too.

They write the payload's first bytes into files of their own and begin anew at each end, so that the pool does not fill up.
Their script (writers.pl) stands in for ior as well, where that is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from zassay.errors import unknown
from zassay.filesystems import MOUNT, Filesystem
from zassay.readers import Unreadable
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.workloads import Background, Load, Span

SCRIPT = Path(__file__).with_suffix(".pl")
IN_GUEST = "/run/zassay/writers"
PUT = f"cat >{IN_GUEST} <<'END_OF_WRITERS'\n{SCRIPT.read_text(encoding='ascii')}END_OF_WRITERS\n"
MIB = 1 << 20
FSYNCS = ("none", "end", "each")


@dataclass(frozen=True)
class Beat:
    """One line of a writer's record: seconds of uptime and bytes written until then."""

    uptime: float
    moved: int
    word: str


class Writers(Background):
    name = "writers"

    def start(self, settings: Settings, filesystem: Filesystem, source: str, tag: str) -> str:
        said = settings.background
        count, block = int(said["count"]), int(said.get("block", MIB))
        size = int(said["size"])
        fsync = str(said.get("fsync", "none"))
        if fsync not in FSYNCS:
            raise unknown("settings.background.fsync", "policy", fsync, FSYNCS)
        words: dict[str, int | str] = {
            "dir": MOUNT,
            "out": f"$OUT/writers.{tag}",
            "data": source,
            "keep": max(MIB, block),
            "own": 0,
            "count": count,
            "files": int(said.get("files") or count),
            "block": block,
            "part": size,
            "stride": size,
            "size": size,
            "total": 0,
            "fsync": fsync,
            "rate": int(said.get("rate", 0)),
        }
        return f"""{PUT}: >$OUT/writers.{tag}
setsid {command(words)} </dev/null >/dev/null 2>$OUT/writers.{tag}.err &
echo $! >{IN_GUEST}.pid
_running() {{
    declare -A _seen=()
    while read -r _who _ _moved _; do if [ "${{_moved:-0}}" != 0 ]; then _seen[$_who]=1; fi; done <$OUT/writers.{tag}
    [ ${{#_seen[@]}} = {count} ]
}}
until _running; do kill -0 $! || {{ cat $OUT/writers.{tag}.err >&2; exit 1; }}; sleep 0.05; done
"""

    def stop(self, tag: str) -> str:
        # The whole group is told: the parent waits, its writers write.
        return f"""read -r _group <{IN_GUEST}.pid
kill -TERM -$_group 2>/dev/null || echo "they had ended before" >>$OUT/writers.{tag}.err
while kill -0 -$_group 2>/dev/null; do sleep 0.05; done
"""

    def achieved(self, run: RunFiles, span: Span) -> Load:
        start, end = (mark.uptime for mark in run.pair(span))
        found = beats(run.text(f"writers.{span.name}"))
        count = int(run.settings["background"]["count"])
        overlap = min((_within(each, start, end) for each in found.values()), default=0.0) if len(found) == count else 0.0
        moved = sum(moved_at(each, end) - moved_at(each, start) for each in found.values())
        return Load(round(moved), moved / (end - start), overlap)


def command(words: Mapping[str, str | int]) -> str:
    return f"perl {IN_GUEST} " + " ".join(f"{key}={value}" for key, value in words.items())


def beats(text: str) -> dict[int, list[Beat]]:
    """A record by writer; times and bytes of each only grow."""
    found: dict[int, list[Beat]] = {}
    if text and not text.endswith("\n"):
        raise Unreadable("writers: the last line is cut off")
    for line in text.splitlines():
        words = line.split(" ", 3)
        try:
            who, beat = int(words[0]), Beat(float(words[1]), int(words[2]), words[3] if len(words) > 3 else "")
        except (IndexError, ValueError):
            raise Unreadable(f"writers: {line!r}") from None
        before = found.setdefault(who, [])
        if before and (beat.uptime < before[-1].uptime or beat.moved < before[-1].moved):
            raise Unreadable(f"writers: {line!r} after {before[-1]}")
        before.append(beat)
    return found


def _within(record: list[Beat], start: float, end: float) -> float:
    """The share of a stretch between a writer's first write and its last sign of life."""
    first = next((beat.uptime for beat in record if beat.moved), None)
    if first is None:
        return 0.0
    return max(0.0, min(record[-1].uptime, end) - max(first, start)) / (end - start)


def moved_at(record: list[Beat], moment: float) -> float:
    """Bytes until a moment, in proportion between two beats."""
    if moment <= record[0].uptime:
        return 0.0
    for before, after in pairwise(record):
        if after.uptime > moment:
            return before.moved + (moment - before.uptime) / (after.uptime - before.uptime) * (after.moved - before.moved)
    return record[-1].moved
