"""Which files go into a bundle, and under what name; no link is followed out of its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from zassay.bundle import tables
from zassay.bundle.archive import Member
from zassay.bundle.crate import Part
from zassay.bundle.evidence import Evidence
from zassay.bundle.source import Source
from zassay.bundle.tables import Table
from zassay.errors import Problem
from zassay.files import sha256_file
from zassay.proc import run

# Built things (a bundle holds recipes and hashes, not kernels and images) and formats that run code when loaded.
BUILT = (".ko", ".ko.xz", ".ko.zst", ".qcow2", ".img", ".vmdk", ".vdi", ".iso", ".box", ".deb")
EXECUTING = (".rds", ".rdata", ".pkl", ".pickle", ".pyc", ".npy")
DPKG_FORMAT = "${binary:Package}\t${Version}\t${Architecture}\n"
RECORDS = "run-records.jsonl"
CITED = "cited"  # beside the report: copies of what its links lead to
CALIBRATION = "calibration"  # beside the report: the self-check by simulation, when it was made
# What a study's folder is expected to hold: file -> (text, formal parameter of the crate); folder -> text.
STUDY_FILES = {
    "plan.json": ("plan, with its pre-registration hash", "plan"),
    "dataset.csv": ("one row per measurement", "dataset"),
    "estimates.csv": ("effects with intervals", "estimates"),
    "verdicts.csv": ("claims, decided", "verdicts"),
    "facts.json": ("facts of host and guest", ""),
    "timing.json": ("where the time went", ""),
}
STUDY_FOLDERS = {
    "raw": "what the guests printed, verbatim, failed runs too",
    "parsed": "what was read from it: measurements, gates, ledger",
    "figures": "figures",
}


@dataclass
class Collection:
    """What was gathered: files by name below data/, tables by name, crate parts, and what a reader should be told."""

    work: Path  # a folder for copies that had to be changed
    members: dict[str, Member] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def file(self, name: str, path: Path, text: str = "", role: str = "") -> None:
        """Take one file, unless it is of a kind that a bundle never holds; ``text`` makes it a part of the crate."""
        reason = unfit(path)
        if reason:
            self.left_out.append((name, reason))
            return
        self.members[name] = Member(path)
        if text:
            self.parts.append(Part(name, text, role, path.stat().st_size, sha256_file(path)))

    def text(self, name: str, content: str) -> None:
        self.members[name] = Member(content.encode())

    def table(self, name: str, path: Path, text: str, role: str = "") -> None:
        """Take a CSV of ours; formula cells are made text in a copy."""
        table = tables.inspect(path)
        if table.formulas:
            copy = self.work / name.replace("/", "__")
            tables.write_escaped(path, copy)
            cells = ", ".join(f"{count} in {column}" for column, count in sorted(table.formulas.items()))
            self.notes.append(f"{name}: cells that a spreadsheet would run got an apostrophe in front ({cells}).")
            path = copy
        self.tables[name] = table
        self.file(name, path, text, role)


def unfit(path: Path) -> str:
    """Why a file is left out; empty when it is not."""
    name = path.name.lower()
    if path.is_symlink() or not path.is_file():
        return "not a plain file (a bundle holds no links)"
    if name.endswith(BUILT):
        return "built: its recipe and digest are inside"
    if name.endswith(EXECUTING):
        return "a format that can run code when it is loaded"
    return ""


def walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files below a folder by relative name, links not followed; hidden ones are somebody's unfinished work."""
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*names, *links]):
            path = Path(place, name)
            if not name.startswith("."):
                yield path.relative_to(folder).as_posix(), path


def take_study(into: Collection, evidence: Evidence) -> None:
    """A study's folder, laid out as it was: the report's links and the column ``raw`` of its table hold in the bundle too."""
    top = f"results/{evidence.study}"
    for relative, path in walk(evidence.folder):
        text, role = STUDY_FILES.get(relative, ("", ""))
        if path.suffix == ".csv" and "/" not in relative:
            into.table(f"{top}/{relative}", path, text or f"table of {evidence.study}", role)
        else:
            into.file(f"{top}/{relative}", path, text, role)
    for name, text in STUDY_FOLDERS.items():
        if any(member.startswith(f"{top}/{name}/") for member in into.members):
            into.parts.append(Part(f"{top}/{name}/", text))
    for name in STUDY_FILES:
        if f"{top}/{name}" not in into.members:
            into.notes.append(f"{top}/{name}: not recorded.")


def take_report(into: Collection, results: Path) -> None:
    if not (results / "report.html").is_file():
        raise Problem(f"{results / 'report.html'}: missing", "run the pipeline to its end first: snakemake --cores 4")
    into.file("results/report.html", results / "report.html", "the report", "report")
    if (results / "report.pdf").is_file():
        into.file("results/report.pdf", results / "report.pdf", "the report, for printing", "report")
    for relative, path in walk(results / CITED):
        take = into.table if path.suffix == ".csv" else into.file
        take(f"results/{CITED}/{relative}", path, "")
    for path in sorted(results.glob(f"{CALIBRATION}.*")):
        into.file(f"results/{path.name}", path, "how often the method keeps its promises, by simulation")


def take_config(into: Collection, root: Path, config: Path, studies: list[str]) -> None:
    """The configuration as run; a config file given from elsewhere takes the place of the usual one."""
    for relative, path in walk(root / "config"):
        if relative != "config.yaml":
            into.file(f"config/{relative}", path)
    into.file("config/config.yaml", config, "the campaign and this host", "config")
    for study in catalogue(root):
        for relative, path in walk(root / "studies" / study):
            _take_question(into, f"config/studies/{study}/{relative}", path, study in studies)


def catalogue(root: Path) -> list[str]:
    """Every study that has claims: the report names those too that the campaign did not measure."""
    return sorted(path.parent.name for path in (root / "studies").glob("*/claims.yaml"))


def _take_question(into: Collection, name: str, path: Path, measured: bool) -> None:
    texts = {"study.yaml": ("what is asked", "study"), "claims.yaml": ("the claims", "claims")}
    text, role = texts.get(path.name, ("", "")) if measured else ("", "")
    if path.suffix == ".csv":
        into.tables[name] = tables.inspect(path)
        text = "the source's own numbers, as printed"
    into.file(name, path, text, role)


def take_environment(into: Collection, root: Path, results: Path, images: list[str]) -> None:
    for image in images:
        _take_image(into, root, results, image)
    for path in sorted([*root.glob("*.lock"), *(root / "requirements").glob("*.lock")]):
        into.file(f"environment/python/{path.name}", path)
    recorded = results / "host-dpkg.tsv"
    into.text("environment/host-dpkg.tsv", recorded.read_text() if recorded.is_file() else host_packages(into))


def _take_image(into: Collection, root: Path, results: Path, image: str) -> None:
    folder = results / "images" / image
    # The one link that is followed: results/images/<name> leads into the content-addressed cache.
    held = [folder / "manifest.json", *sorted(folder.glob("*lock*"))] if folder.is_dir() else []
    found = [path for path in (*held, *sorted((root / "images" / "locks").glob(f"{image}.*"))) if path.is_file()]
    for path in found:
        into.file(f"environment/images/{image}/{path.name}", path, f"{path.name} of the image {image}", "image")
    if not (folder / "manifest.json").is_file():
        into.notes.append(f"environment/images/{image}/manifest.json: not here (the image is not in this host's cache).")


def host_packages(into: Collection) -> str:
    """Name, version and architecture of every Debian package of this host, sorted."""
    try:
        done = run(["dpkg-query", "-W", "-f", DPKG_FORMAT], deadline_s=60, check=False)
    except OSError:
        done = None
    if done is None or done.code != 0:
        into.notes.append("environment/host-dpkg.tsv: this host has no dpkg.")
        return "package\tversion\tarchitecture\n"
    into.notes.append("environment/host-dpkg.tsv: the host's packages when the bundle was written.")
    return "package\tversion\tarchitecture\n" + "".join(sorted(done.out.splitlines(keepends=True)))


def take_source(into: Collection, root: Path, source: Source) -> None:
    if "Snakefile" not in source.files:
        raise Problem(f"{root / 'Snakefile'}: missing", "zassay bundle packs the workflow it is part of: run it in the checkout")
    for name in source.files:
        into.file(f"workflow/{name}", root / name)
    into.parts.append(Part("workflow/", f"the whole workflow, commit {source.label}"))


def take_licences(into: Collection, root: Path) -> None:
    if (root / "LICENSE").is_file():
        into.file("LICENSES/Apache-2.0.txt", root / "LICENSE")
    for relative, path in walk(root / "LICENSES"):
        into.file(f"LICENSES/{relative}", path)


def take_records(into: Collection, results: Path) -> None:
    """The run log, without the lines of this stage: a bundle cannot hold the record of its own writing."""
    path = results / RECORDS
    if not path.is_file():
        into.notes.append(f"provenance/{RECORDS}: not recorded.")
        return
    copy = into.work / RECORDS
    with path.open(encoding="utf-8") as lines, copy.open("w", encoding="utf-8") as kept:
        kept.writelines(line for line in lines if '"bundle"' not in line)
    into.file(f"provenance/{RECORDS}", copy, "one line per job of the campaign")
