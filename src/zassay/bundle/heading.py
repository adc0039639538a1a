"""Who answers for a bundle and what it is called: the ``campaign`` part of config/config.yaml, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay.errors import Problem
from zassay.schema import load_yaml

SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
ORCID = re.compile(r"\s*\((\d{4}-\d{4}-\d{4}-\d{3}[\dX])\)$")
DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
PREVIOUS = re.compile(r"([^\s#]+)#(sha256:[0-9a-f]{64})")
DEMO_SUFFIX = "-synthetic-demo"


@dataclass(frozen=True)
class Author:
    """A person (``Family, Given``) or a body (any other text); ``orcid`` may be empty."""

    name: str
    family: str = ""
    given: str = ""
    orcid: str = ""

    @property
    def person(self) -> bool:
        return bool(self.family)

    @property
    def initials(self) -> str:
        return " ".join(f"{part[0]}." for part in self.given.split())


@dataclass(frozen=True)
class Previous:
    """The bundle that this one replaces or repeats: where it is (a path or a URL) and its content id."""

    place: str
    content_id: str

    @property
    def elsewhere(self) -> bool:
        return "://" in self.place

    def __str__(self) -> str:
        """For readers: a path is private to this host, its last part is the bundle's name."""
        name = self.place if self.elsewhere else Path(self.place).name.removesuffix(".zip")
        return f"{name} (content id {self.content_id})"


@dataclass(frozen=True)
class Heading:
    """The heading of a bundle. ``doi`` may be empty, ``previous`` (the version this one replaces) None."""

    name: str
    version: str
    title: str
    authors: tuple[Author, ...]
    studies: tuple[str, ...] = ()
    doi: str = ""
    previous: Previous | None = None
    demo: bool = False  # made of synthetic data: never citable

    @property
    def label(self) -> str:
        return f"{self.name}-{self.version}{DEMO_SUFFIX if self.demo else ''}"


def read_heading(path: Path) -> Heading:
    """The campaign of a config file; raises Problem naming file, key and value."""
    config = load_yaml(path, "config")
    part: dict[str, Any] = config["campaign"]
    where = f"{path}: campaign"
    return Heading(
        name=_matching(NAME, where, "name", part["name"], "lower-case letters, digits and dashes"),
        version=_matching(SEMVER, where, "version", part["version"], "a semantic version such as 1.0.0"),
        title=_one_line(where, "title", part["title"]),
        authors=tuple(parse_author(where, text) for text in part["authors"]),
        studies=tuple(config["studies"]),
        doi=_matching(DOI, where, "doi", part["doi"], "such as 10.5281/zenodo.1234567") if part.get("doi") else "",
        previous=_previous(where, part["previous"]) if part.get("previous") else None,
    )


def _previous(where: str, text: str) -> Previous:
    found = PREVIOUS.fullmatch(text)
    if not found:
        legal = "the path or URL of a bundle, # and its content id, as `zassay verify` prints it: old-1.0.0.zip#sha256:0123..."
        raise Problem(f'{where}.previous: "{text}" is not legal', f"legal: {legal}")
    return Previous(found[1], found[2])


def parse_author(where: str, text: str) -> Author:
    """``Family, Given (0000-0001-2345-6789)`` is a person; a text without a comma is a body and stays as it is."""
    match = ORCID.search(text)
    plain = _one_line(where, "authors", ORCID.sub("", text))
    family, comma, given = (part.strip() for part in plain.partition(","))
    if comma and not (family and given):
        raise Problem(f'{where}.authors: "{text}" is half a name', "legal: Family, Given (ORCID) or the name of a body")
    orcid = match.group(1) if match else ""
    return Author(f"{given} {family}", family, given, orcid) if comma else Author(plain, orcid=orcid)


def _matching(pattern: re.Pattern[str], where: str, key: str, value: object, legal: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Problem(f'{where}.{key}: "{value}" is not legal', f"legal: {legal}")
    return value


def _one_line(where: str, key: str, value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not text or not text.isprintable():
        raise Problem(f"{where}.{key}: {value!r} is not one line of text")
    return text
