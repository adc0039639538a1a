"""The later stages once more, from a bundle's tables: figures, estimates, verdicts, report; then byte against byte.

Our own analysis code is run, never the bundle's: a bundle is data. Where the two differ, that is said.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from zassay.bundle import tables
from zassay.bundle.gather import CALIBRATION, CITED
from zassay.bundle.heading import NAME, read_heading
from zassay.bundle.opened import Opened, check_tables, open_bundle
from zassay.errors import Problem
from zassay.files import sha256_file
from zassay.pdf import print_page
from zassay.proc import run

DEADLINE_S = 600.0
# --vanilla: no profile, workspace or environment file of the folder or the user has a say.
RSCRIPT = ("Rscript", "--vanilla")
MADE = ("estimates.csv", "verdicts.csv")  # by the stages that are run again; what else is in a study's folder is their input
ANALYSIS = ("analysis/R/", "analysis/exec/", "analysis/inst/", "workflows/schemas/")


@dataclass(frozen=True)
class Compared:
    """One file of the bundle against ours: ``same``, ``differs``, ``missing`` (we made none) or ``added`` (only we did)."""

    name: str
    state: str


def wanted(name: str) -> bool:
    """Tables, small records, figures and questions: what the later stages read or write."""
    parts = name.split("/")
    if parts[0] == "results":
        table = len(parts) == 3 and name.endswith((".csv", ".json"))
        return len(parts) == 2 or table or parts[1] == CITED or parts[2:3] == ["figures"]
    return parts[0] == "config" or (parts[:2] == ["environment", "images"] and parts[-1] == "manifest.json")


def reanalyse(bundle: Path, out: Path, root: Path, say: Callable[[str], None]) -> list[Compared]:
    """Analyse a bundle again in the new folder ``out`` with the code of ``root``; raises Problem when a stage fails."""
    if out.exists():
        raise Problem(f"{out}: exists already", "name a new folder: --out DIR")
    opened = open_bundle(bundle, out / "bundle", wanted)
    say(f"{opened.label}: sound, content id {opened.content_id}")
    for line in code_difference(opened, root):
        say(line)
    studies = lay_out(opened, out)
    check_tables(out)
    for study in studies:
        _decide(out, root, study, say)
    config = str(opened.data / "config" / "config.yaml")
    asked = ("--studies", ",".join(studies), "--studies-dir", "studies", "--config", config)
    _r(out, root, "report", "--results", "results", *asked)
    say("report.html built")
    if opened.has("results/report.pdf"):
        print_page(out / "results" / "report.html", out / "results" / "report.pdf")
        say("report.pdf laid out")
    return list(compare(opened, out, studies))


def studies_of(opened: Opened, table: str = "dataset.csv") -> tuple[str, ...]:
    """The campaign's studies, in its order, each with a ``table``; a name must be a plain one, for it becomes a folder's."""
    studies = read_heading(opened.data / "config" / "config.yaml").studies
    for study in studies:
        if not NAME.fullmatch(study) or not opened.has(f"results/{study}/{table}"):
            raise Problem(f"{opened.path}: study {study!r} has no {table} in the bundle", "the bundle is not one of zassay's")
    return studies


def lay_out(opened: Opened, out: Path) -> tuple[str, ...]:
    """results/ and studies/ as the stages expect them, without what they are about to make."""
    studies = studies_of(opened)
    for study in studies:
        source, to = opened.data / "results" / study, out / "results" / study
        to.mkdir(parents=True)
        for path in source.iterdir():
            if path.is_file() and path.name not in MADE:
                shutil.copyfile(path, to / path.name)
        if not (opened.data / "config" / "studies" / study).is_dir():
            raise Problem(f"{opened.path}: config/studies/{study}: missing", "the bundle does not say what was asked")
    shutil.copytree(opened.data / "config" / "studies", out / "studies")
    for path in (opened.data / "results").glob(f"{CALIBRATION}.*"):
        shutil.copyfile(path, out / "results" / path.name)
    if (opened.data / "environment" / "images").is_dir():
        shutil.copytree(opened.data / "environment" / "images", out / "results" / "images")
    return studies


def code_difference(opened: Opened, root: Path) -> Iterator[str]:
    """Whether the bundle's analysis code is the one that is about to run here."""
    theirs = {name.removeprefix("workflow/"): digest for name, digest in opened.digests.items()}
    theirs = {name: digest for name, digest in theirs.items() if name.startswith(ANALYSIS)}
    places = [path for part in ANALYSIS for path in (root / part).rglob("*") if path.is_file()]
    ours = {path.relative_to(root).as_posix(): sha256_file(path) for path in places}
    changed = sorted(name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name))
    if not changed:
        yield "analysis code: ours, the same as the bundle's, byte for byte"
        return
    shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
    yield f"analysis code: OURS, which is not the bundle's ({len(changed)} files differ: {shown})"
    yield "  to run the bundle's own code instead, as its author, see REPLICATE.md in it"


def _decide(out: Path, root: Path, study: str, say: Callable[[str], None]) -> None:
    common = ("--study-dir", f"results/{study}", "--claims", f"studies/{study}/claims.yaml")
    _r(out, root, "figures", *common, "--set", "data")
    _r(out, root, "estimate", *common, "--lint", f"results/{study}/figures/lint.json")
    say(f"{study}: estimates and verdicts made")
    _r(out, root, "figures", *common, "--set", "claims")
    say(f"{study}: figures drawn")


def _r(out: Path, root: Path, stage: str, *words: str) -> None:
    argv = [*RSCRIPT, str(root / "analysis" / "exec" / stage), *words]
    run(argv, deadline_s=DEADLINE_S, cwd=out, env={"LC_ALL": "C.UTF-8"}, log=out / "log.txt")


def compare(opened: Opened, out: Path, studies: tuple[str, ...]) -> Iterator[Compared]:
    """Every derived file, theirs or ours, in the order of its name."""
    derived = {f"results/{study}/{name}" for study in studies for name in MADE} | {"results/report.html"}
    derived |= {name for name in ("results/report.pdf",) if opened.has(name)}
    for place in (opened.data, out):
        for folder in (*(Path(study, "figures") for study in studies), Path(CITED)):
            found = (place / "results" / folder).rglob("*")
            derived |= {path.relative_to(place).as_posix() for path in found if path.is_file()}
    for name in sorted(derived):
        yield Compared(name, _state(opened, out, name))


def _state(opened: Opened, out: Path, name: str) -> str:
    if not (out / name).is_file():
        return "missing"
    if not opened.has(name):
        return "added"
    theirs = (opened.data / name).read_bytes()
    return "same" if theirs in (_read(out / name), _as_bundled(out / name)) else "differs"


def _read(path: Path) -> bytes:
    return path.read_bytes()


def _as_bundled(path: Path) -> bytes:
    """A table as a bundle ships it: with an apostrophe before what a spreadsheet would run."""
    if path.suffix != ".csv" or not tables.inspect(path).formulas:
        return b""
    escaped = path.with_name(f"{path.name}.escaped")
    tables.write_escaped(path, escaped)
    return escaped.read_bytes()


def verdict_changes(theirs: Path, ours: Path) -> list[str]:
    """One line for each claim that is decided otherwise."""
    first, second = ({row["claim"]: row["verdict"] for row in tables.records_of(path)} for path in (theirs, ours))
    names = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    return [f"{name}: {first.get(name, 'not in the bundle')} there, {second.get(name, 'not decided')} here" for name in names]
