"""Two bundles or more, side by side: circumstances here, claims by the R package, which has the statistics."""

from __future__ import annotations

import csv
import io
import string
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from zassay.bundle import environment
from zassay.bundle.opened import Opened, check_tables, open_bundle
from zassay.bundle.reanalyse import RSCRIPT, studies_of
from zassay.errors import Problem
from zassay.files import write_text
from zassay.proc import run

DEADLINE_S = 300.0
MOST = len(string.ascii_uppercase)
TABLES = ("estimates.csv", "verdicts.csv")


def compare(paths: Sequence[Path], work: Path, out: Path, root: Path, say: Callable[[str], None]) -> None:
    """Compare bundles, the first being the original; tables and comparison.txt go to ``out``, the words to ``say`` too."""
    if not 2 <= len(paths) <= MOST:
        raise Problem(f"{len(paths)} bundles to compare", f"legal: 2 to {MOST}, the original first")
    labels = string.ascii_uppercase[: len(paths)]
    opened = [open_one(path, work / label) for path, label in zip(paths, labels, strict=True)]
    _refuse_twice(opened)
    check_tables(work)
    out.mkdir(parents=True, exist_ok=True)
    text = "\n".join([*_heads(opened, labels), "", *_environment(opened, labels, out), "", _claims(opened, labels, out, root)])
    write_text(out / "comparison.txt", text + "\n")
    say(text)


def open_one(path: Path, into: Path) -> Opened:
    """What a comparison reads of one bundle, copied into a new folder."""
    runs: dict[str, str] = {}

    def wanted(name: str) -> bool:
        parts = name.split("/")
        if parts[0] == "results" and name.endswith("/facts.json") and parts[2:3] == ["raw"]:
            # One run tells how the disks were cached; a study may have thousands.
            return runs.setdefault(parts[1], name) == name
        table = parts[0] == "results" and len(parts) == 3 and parts[2] in TABLES
        return table or parts[0] == "config" or environment.wanted(name)

    opened = open_bundle(path, into, wanted)
    studies_of(opened, "verdicts.csv")
    return opened


def _refuse_twice(opened: Sequence[Opened]) -> None:
    seen: dict[str, Opened] = {}
    for each in opened:
        other = seen.setdefault(each.content_id, each)
        if other is not each:
            raise Problem(f"{other.path} and {each.path} are the same bundle ({each.content_id})", "name each bundle once")


def _heads(opened: Sequence[Opened], labels: str) -> Iterator[str]:
    for label, each in zip(labels, opened, strict=True):
        what = "original" if label == labels[0] else "replication"
        mark = "" if each.info.get("Citable", "") == "yes" else "  SYNTHETIC, NOT EVIDENCE"
        yield f"{label} {what:<12} {each.label}  class {each.info.get('Validity-Class', 'unknown')}  {each.content_id}{mark}"


def _environment(opened: Sequence[Opened], labels: str, out: Path) -> Iterator[str]:
    studies = sorted({study for each in opened for study in studies_of(each)})
    rows = environment.compare(opened, studies)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["rank", "topic", "name", "same", *labels])
    for row in rows:
        rank = environment.TOPICS.index(row.topic)
        writer.writerow([rank, row.topic, row.name, str(row.same).lower(), *row.values])
    write_text(out / "environment.csv", table.getvalue())
    yield from environment.lines(rows, labels)


def _claims(opened: Sequence[Opened], labels: str, out: Path, root: Path) -> str:
    folders = [f"{label}={each.data}" for label, each in zip(labels, opened, strict=True)]
    names = ",".join(each.label.replace(",", " ") for each in opened)
    argv = [*RSCRIPT, str(root / "analysis" / "exec" / "compare"), "--out", str(out), f"--names={names}", *folders]
    done = run(argv, deadline_s=DEADLINE_S, cwd=out, env={"LC_ALL": "C.UTF-8"})
    # What a stranger wrote must not reach the terminal as anything but text.
    return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in done.out.splitlines())
