"""README.md, REPLICATE.md and the licence note of a bundle, filled from templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from zassay.bundle.evidence import Evidence, validity_class
from zassay.bundle.gather import Collection
from zassay.bundle.heading import Heading
from zassay.bundle.tables import records_of

TEMPLATES = Path(__file__).parent / "templates"
MOST_ROWS = 200
CLASSES = {
    "S": "SYNTHETIC DATA: made up to show the format; it says nothing about ZFS and must never be cited.",
    "E": "EMULATED (class E): measured in software-emulated guests. Counts, ratios and settings are valid; times are"
    " not performance results, and claims about them are reported as not testable here.",
    "V": "VIRTUALISED (class V): valid for comparisons within this host, not as properties of hardware.",
    "B": "BARE METAL (class B).",
}


def fill(name: str, values: dict[str, str]) -> str:
    return Template((TEMPLATES / name).read_text(encoding="utf-8")).substitute(values)


def abstract(heading: Heading, found: Sequence[Evidence]) -> str:
    """One paragraph for catalogues; every number in it is counted from the data."""
    counts = run_counts(found)
    runs = ", ".join(f"{number} {status}" for status, number in counts.items())
    versions = ", ".join(sorted({value for item in found for value in item.seen["zfs"]} - {""})) or "unknown"
    names = ", ".join(item.study for item in found)
    return (
        f"Published ZFS performance studies, asked again in fresh virtual machines: {names}. "
        f"{sum(counts.values())} runs ({runs}), ZFS {versions}, validity class {validity_class(found)}. "
        "Holds plan and claims as fixed before the first run, raw output, tidy tables, verdicts, report, and workflow."
    )


def run_counts(found: Iterable[Evidence]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for item in found:
        total.update(item.runs)
    return dict(sorted(total.items()))


def readme(heading: Heading, found: Sequence[Evidence], into: Collection, commit: str) -> str:
    classes = sorted({value for item in found for value in item.seen["validity_class"]})
    return fill(
        "README.md",
        {
            "title": heading.title,
            "label": heading.label,
            "version": heading.version,
            "authors": "; ".join(author.name for author in heading.authors),
            "classes": "\n\n".join(f"**{CLASSES[name]}**" for name in classes if name in CLASSES),
            "previous": f"\nThis version replaces {heading.previous}.\n" if heading.previous else "",
            "studies": "\n".join(_study(item) for item in found),
            "commit": commit,
            "notes": _lines(into.notes),
            "left_out": _lines(f"{name}: {reason}" for name, reason in into.left_out),
        },
    )


def _lines(items: Iterable[str]) -> str:
    lines = [f"- {item}" for item in items]
    more = [f"- and {len(lines) - MOST_ROWS} more"] if len(lines) > MOST_ROWS else []
    return "\n".join(lines[:MOST_ROWS] + more) or "- nothing"


def _study(item: Evidence) -> str:
    question = f"\n\n{item.plan['question']}" if item.plan.get("question") else ""
    reasons = [f"{number} {status}: {reason or 'no reason given'}" for (status, reason), number in sorted(item.reasons.items())]
    rows = [[name, ", ".join(sorted(values - {""})) or "unknown"] for name, values in item.seen.items()]
    runs = ", ".join(f"{number} {status}" for status, number in sorted(item.runs.items()))
    return "\n\n".join(
        [
            f"### {item.study}{question}",
            f"Runs: {runs}. Pre-registration (sha256 of claims, cells and order): `{item.prereg or 'unknown'}`",
            _grid(["circumstance", "values"], rows),
            f"Runs without a value:\n\n{_lines(reasons)}",
            _verdicts(item.folder / "verdicts.csv"),
        ]
    )


def _verdicts(path: Path) -> str:
    """The verdict table with whichever of its columns a short table can use."""
    records = list(records_of(path))[:MOST_ROWS]
    wanted = [name for name in ("claim", "id", "verdict", "detail", "reason") if records and name in records[0]]
    if not wanted:
        return "Verdicts: see verdicts.csv."
    return _grid(wanted, [[record[name] for name in wanted] for record in records])


def _grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")[:300]
