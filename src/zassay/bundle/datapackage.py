"""The Frictionless description of the bundle's tables (Data Package v2): one resource and one schema per CSV."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zassay.bundle.heading import Heading
from zassay.bundle.tables import MISSING, Table
from zassay.errors import Problem
from zassay.files import read_json

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
# What the columns of our own tables mean; a study's own descriptor (results/<study>/datapackage.json) goes first.
MEANINGS = {
    "study": "the question asked",
    "cell": "one combination of factor levels",
    "block": "one pass over all cells, each in a fresh guest: the unit of replication",
    "boot": "the guest in which the run took place",
    "run": "number of the run inside its boot",
    "position": "place in the block's random order, from 1",
    "status": "ok, invalid (a gate said no) or failed; only ok runs have a value",
    "reason": "why the run does not count",
    "metric": "what was measured",
    "unit": "unit of value",
    "value": "the measurement; empty unless the status is ok",
    "resolution": "the smallest step the instrument can show, in the same unit",
    "bound": "what limited the run",
    "validity_class": "S synthetic, E emulated, V virtualised, B bare metal",
    "synthetic": "true for made-up rows, which no citable bundle holds",
    "started_at": "UTC",
    "duration_s": "seconds",
    "prereg": "sha256 of the plan and claims fixed before the first run",
    "raw": "folder of the run, beside this table",
}


def describe(heading: Heading, tables: Mapping[str, Table], created: str) -> dict[str, Any]:
    """datapackage.json for tables given by their path in the bundle; ``created`` is an ISO time."""
    return {
        "$schema": PROFILE,
        "name": heading.name,
        "title": heading.title,
        "version": heading.version,
        "created": created,
        "licenses": [{"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/"}],
        "contributors": [{"title": author.name, "roles": ["creator"]} for author in heading.authors],
        "resources": [_resource(name, table) for name, table in sorted(tables.items())],
    }


def _resource(name: str, table: Table) -> dict[str, Any]:
    return {
        "name": name.removesuffix(".csv").replace("/", "-").replace("_", "-").lower(),
        "path": name,
        "type": "table",
        "scheme": "file",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": _fields(table), "missingValues": list(MISSING)},
    }


def _fields(table: Table) -> list[dict[str, Any]]:
    given = _given(table.path)
    return [_field(name, kind, given.get(name, {})) for name, kind in table.fields]


def _field(name: str, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    # The type is ours, seen in the cells: a description that the data contradict would make the whole package invalid.
    field = {"name": name, "type": "string" if name.startswith("f_") else kind}
    text = given.get("description") or MEANINGS.get(name) or (f"level of {name[2:]}" if name.startswith("f_") else "")
    return field | ({"description": str(text)} if text else {})


def _given(path: Path) -> dict[str, dict[str, Any]]:
    """Fields by name of the study's own descriptor, if there is one and it speaks of this table."""
    descriptor = path.parent / "datapackage.json"
    if not descriptor.is_file():
        return {}
    try:
        resources = read_json(descriptor)["resources"]
        mine = [item["schema"]["fields"] for item in resources if item.get("path") == path.name]
        return {field["name"]: field for fields in mine for field in fields}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(f"{descriptor}: not a data package: {error!r}", "write it again: zassay dataset") from error
