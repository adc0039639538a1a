"""zassay cite: three forms, from a bundle that is sound, and nothing from one that is not."""

from __future__ import annotations

from pathlib import Path

import bundle_fixture as made
import pytest
import yaml

from zassay import cli
from zassay.bundle import citation
from zassay.bundle.archive import Member, write_bundle
from zassay.bundle.build import build
from zassay.errors import Problem

FIELDS = {"title": "A & B_1", "version": "1.0.0", "date-released": "2026-11-20", "authors": [{"name": "A body"}]}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    project = made.make_project(tmp_path / "project")
    return build(project, project / "config" / "config.yaml").written.path


def test_three_forms(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cite", str(bundle)]) == 0
    apa, bibtex, cff = capsys.readouterr().out.split("\n\n", 2)
    assert apa.startswith("Müller, J. A., & The zassay authors. (2026). Published ZFS studies")
    assert apa.endswith("(validity class E) (Version 1.2.0) [Data set].")
    assert bibtex.startswith("@misc{made-up-1.2.0,\n")
    assert "author = {Müller, Jo Ann and {The zassay authors}}" in bibtex
    assert "content id sha256:" in bibtex
    assert yaml.safe_load(cff)["authors"][0]["family-names"] == "Müller"


def test_one_form(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cite", "--format", "apa", str(bundle)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_an_altered_bundle_is_not_cited(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(bundle.read_bytes())
    content[content.index(b'given-names": "Jo Ann') + 16] ^= 1
    bundle.write_bytes(content)
    assert cli.main(["cite", str(bundle)]) == 1
    assert "not sound: changed: data/CITATION.cff" in capsys.readouterr().err


def test_no_such_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cite", "nowhere.zip"]) == 1
    assert "nowhere.zip: no such file or folder" in capsys.readouterr().err


def test_a_doi_is_part_of_every_form() -> None:
    fields = FIELDS | {"doi": "10.5281/zenodo.1"}
    assert citation.apa(fields).endswith("https://doi.org/10.5281/zenodo.1")
    assert "doi = {10.5281/zenodo.1}" in citation.bibtex(fields, "k", "n")


def test_tex_is_made_harmless() -> None:
    assert citation.tex("a_b & 5% {x} \\y ~^#$") == r"a\_b \& 5\% \{x\} \textbackslash{}y \textasciitilde{}\textasciicircum{}\#\$"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "title: x", "a: [", "title: x\nversion: 1\nauthors: 5\ndate-released: 2026-01-01", "a: !!python/name:os.system"],
)
def test_a_strangers_citation_file_is_read_as_data(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a-1.0.0.zip"
    write_bundle(path, {"CITATION.cff": Member(text.encode())}, {"Citable": "yes"}, 1_763_683_200)
    assert cli.main(["cite", str(path)]) == 1
    assert "CITATION.cff" in capsys.readouterr().err


def test_a_huge_citation_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0.0.zip"
    write_bundle(path, {"CITATION.cff": Member(b"#" * (1 << 21))}, {"Citable": "yes"}, 1_763_683_200)
    args = cli.parser("cite").parse_args(["cite", str(path)])
    with pytest.raises(Problem, match="at most"):
        args.main(args)
