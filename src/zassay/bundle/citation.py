"""How to cite a bundle, in the forms that people and archives ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from zassay.bundle.heading import Author, Heading, parse_author
from zassay.errors import Problem

LICENCE = "CC-BY-4.0"
KEYWORDS = ("ZFS", "file systems", "benchmark", "replication", "reproducibility")
UNAVAILABLE = ":unav"  # DataCite's word for a value that is not known yet


def cff(heading: Heading, abstract: str, date: str) -> str:
    """CITATION.cff 1.2.0. JSON strings are YAML strings, so nothing in a title can break out of its quotes."""
    fields: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them as below.",
        "type": "dataset",
        "title": heading.title,
        "abstract": abstract,
        "authors": [_cff_author(author) for author in heading.authors],
        "version": heading.version,
        "date-released": date,
        "license": LICENCE,
        "keywords": list(KEYWORDS),
    }
    if heading.doi:
        fields["doi"] = heading.doi
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())


def _cff_author(author: Author) -> dict[str, str]:
    names = {"family-names": author.family, "given-names": author.given} if author.person else {"name": author.name}
    return names | ({"orcid": f"https://orcid.org/{author.orcid}"} if author.orcid else {})


def zenodo(heading: Heading, abstract: str, date: str) -> dict[str, Any]:
    """The body for Zenodo's deposit interface, which reads nothing from inside an uploaded zip."""
    metadata: dict[str, Any] = {
        "title": heading.title,
        "upload_type": "dataset",
        "description": abstract,
        "creators": [_zenodo_creator(author) for author in heading.authors],
        "version": heading.version,
        "publication_date": date,
        "access_right": "open",
        "license": LICENCE.lower(),
        "keywords": list(KEYWORDS),
        "language": "eng",
    }
    if heading.doi:
        metadata["doi"] = heading.doi
    if heading.previous:
        metadata["notes"] = f"Replaces: {heading.previous}"
    return {"metadata": metadata}


def _zenodo_creator(author: Author) -> dict[str, str]:
    name = f"{author.family}, {author.given}" if author.person else author.name
    return {"name": name} | ({"orcid": author.orcid} if author.orcid else {})


def datacite(heading: Heading, abstract: str, date: str) -> dict[str, Any]:
    """DataCite 4.5 attributes; the publisher is whoever archives the bundle, not known when it is written."""
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "doi": heading.doi or UNAVAILABLE,
        "titles": [{"title": heading.title}],
        "creators": [_datacite_creator(author) for author in heading.authors],
        "publisher": {"name": UNAVAILABLE},
        "publicationYear": int(date[:4]),
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "ZFS replication bundle"},
        "version": heading.version,
        "language": "en",
        "dates": [{"date": date, "dateType": "Issued"}],
        "descriptions": [{"description": abstract, "descriptionType": "Abstract"}],
        "subjects": [{"subject": word} for word in KEYWORDS],
        "rightsList": [
            {
                "rights": "Creative Commons Attribution 4.0 International",
                "rightsUri": "https://creativecommons.org/licenses/by/4.0/legalcode",
                "rightsIdentifier": LICENCE.lower(),
                "rightsIdentifierScheme": "SPDX",
            }
        ],
        "formats": ["application/zip"],
    }


def _datacite_creator(author: Author) -> dict[str, Any]:
    if not author.person:
        return {"name": author.name, "nameType": "Organizational"}
    creator: dict[str, Any] = {
        "name": f"{author.family}, {author.given}",
        "nameType": "Personal",
        "familyName": author.family,
        "givenName": author.given,
    }
    if author.orcid:
        creator["nameIdentifiers"] = [
            {
                "nameIdentifier": f"https://orcid.org/{author.orcid}",
                "nameIdentifierScheme": "ORCID",
                "schemeUri": "https://orcid.org",
            }
        ]
    return creator


def parse_cff(text: str, where: str) -> Mapping[str, Any]:
    """The CITATION.cff of a bundle, which may come from anyone: plain values only, and only those we print."""
    try:
        fields = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise Problem(f"{where}: not YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(fields, dict):
        raise Problem(f"{where}: not a mapping")
    missing = [key for key in ("title", "version", "authors", "date-released") if not fields.get(key)]
    if missing:
        raise Problem(f"{where}: key missing: {', '.join(missing)}")
    if not isinstance(fields["authors"], list) or not all(isinstance(item, dict) for item in fields["authors"]):
        raise Problem(f"{where}: authors is not a list of names")
    return fields


def authors_of(fields: Mapping[str, Any]) -> list[Author]:
    return [_author(item) for item in fields["authors"]]


def _author(item: Mapping[str, Any]) -> Author:
    if item.get("family-names"):
        return parse_author("CITATION.cff", f"{item['family-names']}, {item.get('given-names') or '?'}")
    return Author(str(item.get("name") or item.get("alias") or "?"))


def apa(fields: Mapping[str, Any]) -> str:
    """APA, 7th edition: authors (year). title (version) [Data set]. DOI"""
    names = [f"{author.family}, {author.initials}" if author.person else author.name for author in authors_of(fields)]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, & {names[-1]}"
    year = str(fields["date-released"])[:4]
    head = f"{joined.rstrip('.')}. ({year}). {fields['title']} (Version {fields['version']}) [Data set]."
    return head + (f" https://doi.org/{fields['doi']}" if fields.get("doi") else "")


def bibtex(fields: Mapping[str, Any], key: str, note: str) -> str:
    """A BibTeX entry; bodies keep their braces, so that they are not split into first and last name."""
    names = [f"{author.family}, {author.given}" if author.person else author.name for author in authors_of(fields)]
    plain = [tex(name) if author.person else f"{{{tex(name)}}}" for author, name in zip(authors_of(fields), names, strict=True)]
    lines = {
        "author": " and ".join(plain),
        "title": f"{{{tex(fields['title'])}}}",
        "year": str(fields["date-released"])[:4],
        "version": tex(fields["version"]),
        "doi": str(fields.get("doi") or ""),
        "note": f"Data set, {note}",
    }
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in lines.items() if value)
    return f"@misc{{{re.sub(r'[^A-Za-z0-9.-]', '-', key)},\n{body}}}"


def tex(value: object) -> str:
    """Text with TeX's own characters made harmless."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(char) or (f"\\{char}" if char in "&%$#_{}" else char) for char in str(value))
