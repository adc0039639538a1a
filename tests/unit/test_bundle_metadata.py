"""What a bundle says about itself: the crate, its preview, the forms for archives, the table schemas, the heading."""

from __future__ import annotations

import json
from pathlib import Path

import bundle_fixture as made
import pytest
from bundle_fixture import bundle, inside, names

from zassay import files
from zassay.bundle.heading import Author, parse_author, read_heading
from zassay.errors import Problem


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made.make_project(tmp_path / "project")


def test_crate_has_one_action_and_joins_files_to_parameters(project: Path) -> None:
    graph = json.loads(inside(bundle(project), "ro-crate-metadata.json"))["@graph"]
    by_id = {entity["@id"]: entity for entity in graph}
    assert len(by_id) == len(graph)
    assert [entity["@id"] for entity in graph if entity["@type"] == "CreateAction"] == ["#campaign"]
    assert by_id["#campaign"]["startTime"] == "2026-11-20T01:00:00+00:00"
    assert by_id["#campaign"]["endTime"] == "2026-11-20T03:00:12+00:00"
    plan = by_id[f"results/{made.STUDY}/plan.json"]
    assert plan["exampleOfWork"] == {"@id": "#parameter-plan"}
    assert plan["sha256"] == files.sha256_file(project / "results" / made.STUDY / "plan.json")
    assert {"@id": f"results/{made.STUDY}/raw/"} in by_id["./"]["hasPart"]


def test_every_reference_of_the_crate_is_in_the_bundle(project: Path) -> None:
    built = bundle(project)
    found = names(built)
    for part in json.loads(inside(built, "ro-crate-metadata.json"))["@graph"][1]["hasPart"]:
        assert part["@id"] in found or any(name.startswith(part["@id"]) for name in found)


def test_the_preview_runs_and_fetches_nothing(project: Path) -> None:
    page = inside(bundle(project), "ro-crate-preview.html").decode()
    assert "&lt;small&gt;" in page
    for word in ("<script", "<small>", "http:", "src=", "@import", "url("):
        assert word not in page


def test_zenodo_and_datacite(project: Path) -> None:
    built = bundle(project)
    zenodo = json.loads(inside(built, "zenodo.json"))["metadata"]
    assert zenodo["creators"] == [
        {"name": "Müller, Jo Ann", "orcid": "0000-0002-1825-0097"},
        {"name": "The zassay authors"},
    ]
    assert "(validity class E)" in zenodo["title"]
    datacite = json.loads(inside(built, "datacite.json"))
    assert datacite["creators"][1]["nameType"] == "Organizational"
    assert datacite["publicationYear"] == 2026


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version: 1.2.0", 'version: "1.2"', "version"),
        ("version: 1.2.0", 'version: "01.2.0"', "semantic version"),
        ("name: made-up", "name: Made Up", "name"),
        ('"Müller, Jo Ann (0000-0002-1825-0097)"', '"Müller,"', "half a name"),
        ("scale: smoke", "scales: smoke", "scales"),
    ],
)
def test_a_bad_heading_is_one_clear_problem(project: Path, old: str, new: str, message: str) -> None:
    config = project / "config" / "config.yaml"
    made.write(config, config.read_text().replace(old, new))
    with pytest.raises(Problem, match=message) as caught:
        bundle(project)
    assert "config.yaml" in str(caught.value)


def test_authors(project: Path) -> None:
    assert parse_author("x", "Doe, Jane Q") == Author("Jane Q Doe", "Doe", "Jane Q")
    assert parse_author("x", "The zassay authors") == Author("The zassay authors")
    assert read_heading(project / "config" / "config.yaml").authors[0].initials == "J. A."


def test_levels_are_text_even_when_they_look_like_numbers(project: Path) -> None:
    made.change_rows(project, lambda row: row | {"f_corpus": "75"})
    resources = json.loads(inside(bundle(project), "datapackage.json"))["resources"]
    fields = {
        field["name"]: field for item in resources if item["path"].endswith("dataset.csv") for field in item["schema"]["fields"]
    }
    assert fields["f_corpus"]["type"] == "string"
    assert fields["value"] == {"name": "value", "type": "number", "description": "about value"}
