"""ro-crate-metadata.json: RO-Crate 1.1 with the Workflow Run Crate 0.5 profile, and its readable preview.

Version 1.1, not later: the run profiles extend it. One CreateAction stands for the whole campaign; its single runs are
rows of the tables.
"""

from __future__ import annotations

import html
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zassay.bundle.heading import Author, Heading

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
LICENCE = {"@id": "https://creativecommons.org/licenses/by/4.0/"}
LANGUAGE = {"@id": "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"}
PARAMETER = {"@id": "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"}
WORKFLOW = "workflow/Snakefile"
TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".tsv": "text/tab-separated-values",
}
README = {"@id": "README.md", "@type": "File", "encodingFormat": "text/markdown"}
BIOSCHEMAS = {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"}
Entity = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A file or folder (``path`` ends in a slash) worth naming; ``role``: the formal parameter it is a value of."""

    path: str
    text: str
    role: str = ""
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Story:
    """All that the crate says, with times as ISO 8601 with +00:00 (empty when unknown)."""

    heading: Heading
    abstract: str
    published: str
    start: str
    end: str
    failed: int
    commit: str
    parts: list[Part] = field(default_factory=list)


# What the workflow takes and gives: (name, direction, text). Parts name one of these as their role.
PARAMETERS = {
    "config": ("input", "the campaign and this host"),
    "study": ("input", "what is asked: factors, settings, metrics"),
    "claims": ("input", "the claims, fixed before the first run"),
    "image": ("input", "manifest or package lock of a pinned operating system"),
    "plan": ("output", "cells and random order, written before the first run"),
    "dataset": ("output", "one row per measurement, failed runs too"),
    "estimates": ("output", "effects with intervals"),
    "verdicts": ("output", "each claim decided, or why not"),
    "report": ("output", "the report for people"),
}


def metadata(story: Story) -> Entity:
    graph = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [{"@id": "https://w3id.org/ro/crate/1.1"}, _ref(list(PROFILES)[2])],
        },
        _root(story),
        _workflow(story),
        _action(story),
        README | {"name": "README.md", "about": _ref("./")},
        *(_part(part) for part in story.parts),
        *(_parameter(name) for name in _roles(story)),
        *(_agent(author) for author in story.heading.authors),
        *_context(),
    ]
    return {"@context": [CONTEXT, TERMS], "@graph": graph}


def _ref(identity: str) -> Entity:
    return {"@id": identity}


def _roles(story: Story, direction: str = "") -> list[str]:
    used = {part.role for part in story.parts} - {""}
    return [name for name, (way, _) in PARAMETERS.items() if name in used and direction in ("", way)]


def _of(story: Story, direction: str) -> list[Entity]:
    return [_ref(part.path) for part in story.parts if part.role and PARAMETERS[part.role][0] == direction]


def _root(story: Story) -> Entity:
    heading = story.heading
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": heading.title,
        "description": story.abstract,
        "version": heading.version,
        "datePublished": story.published,
        "license": LICENCE,
        "author": [_ref(agent_id(author)) for author in heading.authors],
        "conformsTo": [_ref(profile) for profile in PROFILES],
        "mainEntity": _ref(WORKFLOW),
        "mentions": _ref("#campaign"),
        "hasPart": [_ref(WORKFLOW), _ref("README.md"), *(_ref(part.path) for part in story.parts)],
    }
    return root | ({"identifier": f"https://doi.org/{heading.doi}"} if heading.doi else {})


def _workflow(story: Story) -> Entity:
    return {
        "@id": WORKFLOW,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "zassay",
        "description": "config, image, machine, run, parse, dataset, estimate, report, bundle",
        "encodingFormat": "text/plain",
        "conformsTo": BIOSCHEMAS,
        "programmingLanguage": LANGUAGE,
        "license": _ref("https://spdx.org/licenses/Apache-2.0"),
        "version": story.commit,
        "input": [_ref(f"#parameter-{name}") for name in _roles(story, "input")],
        "output": [_ref(f"#parameter-{name}") for name in _roles(story, "output")],
    }


def _action(story: Story) -> Entity:
    action = {
        "@id": "#campaign",
        "@type": "CreateAction",
        "name": f"The campaign {story.heading.name} {story.heading.version}",
        "description": f"All runs of the campaign; {story.failed} of them are listed with a reason instead of a value.",
        "instrument": _ref(WORKFLOW),
        "agent": _ref(agent_id(story.heading.authors[0])),
        "object": _of(story, "input"),
        "result": _of(story, "output"),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    times = {"startTime": story.start, "endTime": story.end}
    return action | {key: value for key, value in times.items() if value}


def _part(part: Part) -> Entity:
    if part.path.endswith("/"):
        return {"@id": part.path, "@type": "Dataset", "name": part.path, "description": part.text}
    entity = {
        "@id": part.path,
        "@type": "File",
        "name": part.path.rpartition("/")[2],
        "description": part.text,
        "encodingFormat": encoding(part.path),
        "contentSize": str(part.size),
        "sha256": part.sha256,
    }
    return entity | ({"exampleOfWork": _ref(f"#parameter-{part.role}")} if part.role else {})


def encoding(path: str) -> str:
    suffix = f".{path.rpartition('.')[2]}"
    return TYPES.get(suffix) or mimetypes.types_map.get(suffix) or "application/octet-stream"


def _parameter(name: str) -> Entity:
    return {
        "@id": f"#parameter-{name}",
        "@type": "FormalParameter",
        "name": name,
        "description": PARAMETERS[name][1],
        "additionalType": "File",
        "conformsTo": PARAMETER,
    }


def agent_id(author: Author) -> str:
    slug = "".join(char if char.isalnum() and char.isascii() else "-" for char in author.name.lower())
    return f"https://orcid.org/{author.orcid}" if author.orcid else f"#agent-{slug}"


def _agent(author: Author) -> Entity:
    entity = {"@id": agent_id(author), "@type": "Person" if author.person else "Organization", "name": author.name}
    return entity | ({"familyName": author.family, "givenName": author.given} if author.person else {})


def _context() -> list[Entity]:
    profiles = [
        {"@id": identity, "@type": "CreativeWork", "name": name, "version": version}
        for identity, (name, version) in PROFILES.items()
    ]
    licences = [
        LICENCE | {"@type": "CreativeWork", "name": "Creative Commons Attribution 4.0 International"},
        {"@id": "https://spdx.org/licenses/Apache-2.0", "@type": "CreativeWork", "name": "Apache License 2.0"},
    ]
    home = _ref("https://snakemake.readthedocs.io")
    language = LANGUAGE | {"@type": "ComputerLanguage", "name": "Snakemake", "identifier": home, "url": home}
    schemas = [
        PARAMETER | {"@type": "CreativeWork", "name": "FormalParameter profile"},
        BIOSCHEMAS | {"@type": "CreativeWork", "name": "ComputationalWorkflow profile"},
    ]
    return [*profiles, *licences, language, *schemas]


def preview(story: Story, counts: Mapping[str, int]) -> str:
    """A page without scripts, styles from elsewhere or anything fetched."""
    rows = "".join(
        f'<tr><td><a href="{html.escape(part.path)}">{html.escape(part.path)}</a><td>{html.escape(part.text)}\n'
        for part in story.parts
    )
    numbers = ", ".join(f"{number} {html.escape(status)}" for status, number in counts.items())
    return f"""<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>{html.escape(story.heading.title)}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}td{{padding:.1em .6em}}</style>
<h1>{html.escape(story.heading.title)}</h1>
<p>{html.escape(story.abstract)}</p>
<p>Version {html.escape(story.heading.version)}, {story.published}. Runs: {numbers}.</p>
<p>Workflow: {html.escape(story.commit)}.</p>
<table>
{rows}</table>
</html>
"""
