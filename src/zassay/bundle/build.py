"""The bundle stage, in order: read, refuse, gather, describe, write."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from zassay import __version__, files
from zassay.bundle import changelog, citation, crate, datapackage, gather, texts, verifier
from zassay.bundle.archive import EARLIEST, Member, Written, write_bundle
from zassay.bundle.crate import Story
from zassay.bundle.evidence import Evidence, read_evidence, validity_class
from zassay.bundle.gather import Collection
from zassay.bundle.heading import Heading, read_heading
from zassay.bundle.source import Source, read_source
from zassay.errors import Problem


@dataclasses.dataclass(frozen=True)
class Built:
    """What the command line tells: the written bundle, its workflow, and notes for the person who made it."""

    written: Written
    source: Source
    notes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def build(root: Path, config: Path, output: Path | None = None, demo: bool = False) -> Built:
    """Write the bundle of the campaign in ``root``; by default to results/bundles/<campaign>-<version>.zip.

    Raises Problem for an unfinished campaign, synthetic data (unless ``demo``), a bad heading, or names and sizes that
    a bundle cannot hold. The same inputs give the same bytes; the file appears whole or not at all.
    """
    results = root / "results"
    heading = dataclasses.replace(read_heading(config), demo=demo)
    found = read_evidence(results, heading)
    heading = dataclasses.replace(heading, title=full_title(heading, found))
    source = read_source(root)
    epoch = source_date_epoch(found, source)
    with tempfile.TemporaryDirectory(prefix="zassay-bundle-") as work:
        into = collect(Collection(Path(work)), root, config, found, source)
        story = tell(heading, found, into, source, epoch)
        describe(into, story, found, source)
        into.text("CHANGELOG.md", changelog.text(heading, root, found, Path(work) / "previous"))
        path = output or results / "bundles" / f"{heading.label}.zip"
        if path.stem != heading.label or path.suffix != ".zip":
            raise Problem(f"{path}: must be named {heading.label}.zip", "the folder inside a bag has the archive's name")
        written = write_bundle(path, into.members, bag_info(story, found, source), epoch)
    return Built(written, source, tuple(into.notes), tuple(into.left_out))


def full_title(heading: Heading, found: Sequence[Evidence]) -> str:
    """The validity class is part of the title: no one should have to look for it."""
    mark = "SYNTHETIC DEMONSTRATION, NOT CITABLE: " if heading.demo else ""
    return f"{mark}{heading.title} (validity class {validity_class(found)})"


def source_date_epoch(found: Sequence[Evidence], source: Source) -> int:
    """Seconds since 1970: SOURCE_DATE_EPOCH, else the newest run's end, else the commit; never the clock."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given:
        if not given.isdigit():
            raise Problem(f'SOURCE_DATE_EPOCH: "{given}" is not a number of seconds since 1970')
        return max(int(given), EARLIEST)
    ends = [item.end for item in found if item.end is not None]
    return max(int(max(ends)) if ends else source.time or EARLIEST, EARLIEST)


def collect(into: Collection, root: Path, config: Path, found: Sequence[Evidence], source: Source) -> Collection:
    for evidence in found:
        gather.take_study(into, evidence)
        check_claims(into, root, evidence)
    gather.take_report(into, root / "results")
    gather.take_config(into, root, config, [item.study for item in found])
    images = sorted({image for item in found for image in item.images})
    gather.take_environment(into, root, root / "results", images)
    gather.take_records(into, root / "results")
    gather.take_licences(into, root)
    gather.take_source(into, root, source)
    return into


def check_claims(into: Collection, root: Path, evidence: Evidence) -> None:
    """Say so when the claims or the plan are no longer those fixed before the first run."""
    plan, path = evidence.plan, root / "studies" / evidence.study / "claims.yaml"
    now = files.sha256_file(path) if path.is_file() else ""
    if "claims_sha256" in plan and plan["claims_sha256"] != now:
        into.notes.append(f"PRE-REGISTRATION: {evidence.study}/claims.yaml was changed after the plan was made.")
    covered = {key: plan.get(key) for key in ("claims_sha256", "cells", "order")}
    if "claims_sha256" in plan and evidence.prereg != files.sha256_json(covered):
        into.notes.append(f"PRE-REGISTRATION: {evidence.study}/plan.json does not fit its own hash.")


def tell(heading: Heading, found: Sequence[Evidence], into: Collection, source: Source, epoch: int) -> Story:
    starts = [item.start for item in found if item.start is not None]
    ends = [item.end for item in found if item.end is not None]
    return Story(
        heading=heading,
        abstract=texts.abstract(heading, found),
        published=iso(epoch)[:10],
        start=iso(min(starts)) if starts else "",
        end=iso(max(ends)) if ends else "",
        failed=sum(number for item in found for number in item.reasons.values()),
        commit=source.label,
        parts=into.parts,
    )


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()


def describe(into: Collection, story: Story, found: Sequence[Evidence], source: Source) -> None:
    """Add what we write ourselves: metadata, texts, and the verifier."""
    heading, date = story.heading, story.published
    into.text("ro-crate-metadata.json", _json(crate.metadata(story)))
    into.text("ro-crate-preview.html", crate.preview(story, texts.run_counts(found)))
    into.text("datapackage.json", _json(datapackage.describe(heading, into.tables, f"{date}T00:00:00Z")))
    into.text("README.md", texts.readme(heading, found, into, source.label))
    studies = [item.study for item in found]
    values = {"label": heading.label, "studies": " ".join(studies), "commas": ",".join(studies)}
    into.text("REPLICATE.md", texts.fill("REPLICATE.md", values))
    into.text("LICENSE", texts.fill("LICENSE.txt", {"authors": "; ".join(author.name for author in heading.authors)}))
    into.members["verify.py"] = Member(Path(verifier.__file__).read_bytes())
    if not heading.demo:
        into.text("CITATION.cff", citation.cff(heading, story.abstract, date))
        into.text("zenodo.json", _json(citation.zenodo(heading, story.abstract, date)))
        into.text("datacite.json", _json(citation.datacite(heading, story.abstract, date)))


def _json(value: object) -> str:
    return files.canonical_json(value, indent=1) + "\n"


def bag_info(story: Story, found: Sequence[Evidence], source: Source) -> dict[str, str]:
    heading = story.heading
    info = {
        "Bag-Group-Identifier": heading.name,
        "Bag-Software-Agent": f"zassay {__version__}",
        "Citable": "no: synthetic data" if heading.demo else "yes",
        "Contact-Name": "; ".join(author.name for author in heading.authors),
        "External-Description": heading.title,
        "External-Identifier": f"https://doi.org/{heading.doi}" if heading.doi else heading.label,
        "Validity-Class": validity_class(found),
        "Workflow-Commit": source.label,
    }
    return info | ({"Replaces": str(heading.previous)} if heading.previous else {})
