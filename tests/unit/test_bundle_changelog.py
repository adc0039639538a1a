"""Versions of a campaign: the one before is named by its content id, and what changed in the results is written down."""

from __future__ import annotations

from pathlib import Path

import bundle_fixture as made
import pytest

from zassay.bundle.build import Built
from zassay.bundle.heading import read_heading
from zassay.errors import Problem


def configure(project: Path, previous: str, version: str = "1.3.0") -> None:
    text = made.CONFIG.replace("version: 1.2.0", f"version: {version}\n  previous: {previous}")
    (project / "config" / "config.yaml").write_text(text, encoding="utf-8")


def verdicts(project: Path, text: str) -> None:
    made.write(project / "results" / made.STUDY / "verdicts.csv", f"claim,verdict,detail\n{text}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made.make_project(tmp_path / "project")


@pytest.fixture
def before(project: Path) -> Built:
    return made.bundle(project)


def reference(before: Built) -> str:
    return f"results/bundles/{before.written.path.name}#{before.written.content_id}"


def changelog(built: Built) -> str:
    return made.inside(built, "CHANGELOG.md").decode()


def test_the_first_version_says_so(before: Built) -> None:
    assert "The first version" in changelog(before)


def test_a_later_version_tells_what_is_decided_otherwise(project: Path, before: Built) -> None:
    configure(project, reference(before))
    verdicts(project, "S3-02,NOT REPLICATED,negligible\nS3-04,REPLICATED,\n")
    built = made.bundle(project)
    text = changelog(built)
    assert f"Compared with made-up-1.2.0 (content id {before.written.content_id})." in text
    assert "The measurements are the same. Verdicts as before: 0 of 2." in text
    assert "- S3-02: was REPLICATED, is NOT REPLICATED (negligible)\n" in text
    assert "- S3-03: no longer asked (was NOT TESTABLE HERE (class))\n" in text
    assert "- S3-04: new: REPLICATED\n" in text
    assert before.written.content_id in made.inside(built, "README.md").decode()
    assert before.written.content_id in made.inside(built, "zenodo.json").decode()


def test_other_measurements_are_called_so(project: Path, before: Built) -> None:
    configure(project, reference(before))
    made.change_rows(project, lambda row: row | {"kernel": "6.12"})
    assert "The measurements are others. Verdicts as before: 2 of 2." in changelog(made.bundle(project))


def test_no_path_of_this_host_gets_into_the_bundles_texts(project: Path, before: Built, tmp_path: Path) -> None:
    path = before.written.path.rename(tmp_path / "made-up-1.2.0.zip")
    configure(project, f"{path}#{before.written.content_id}")
    built = made.bundle(project)
    for name in ("CHANGELOG.md", "README.md", "zenodo.json"):
        assert str(tmp_path) not in made.inside(built, name).decode()


def test_a_version_elsewhere_is_named_and_not_compared(project: Path) -> None:
    configure(project, f"https://example.org/made-up-1.2.0.zip#sha256:{'ab' * 32}")
    assert "not at hand when this was written" in changelog(made.bundle(project))


@pytest.mark.parametrize(
    ("previous", "version", "said"),
    [
        ("results/bundles/none.zip#sha256:" + "0" * 64, "1.3.0", "no such bundle"),
        ("results/bundles/made-up-1.2.0.zip#sha256:" + "0" * 64, "1.3.0", "not sha256:0000"),
        ("results/bundles/made-up-1.2.0.zip", "1.3.0", "previous"),
        ("results/bundles/made-up-1.2.0.zip#md5:00", "1.3.0", "previous"),
    ],
)
def test_a_reference_that_does_not_fit(project: Path, before: Built, previous: str, version: str, said: str) -> None:
    configure(project, previous, version)
    with pytest.raises(Problem, match=said):
        made.bundle(project)


@pytest.mark.parametrize("version", ["1.2.0", "1.1.9", "0.9.0"])
def test_versions_go_up(project: Path, before: Built, version: str) -> None:
    configure(project, reference(before), version)
    with pytest.raises(Problem, match=r"does not come after 1\.2\.0"):
        made.bundle(project)


def test_an_altered_version_before_is_noticed(project: Path, before: Built) -> None:
    configure(project, reference(before))
    content = bytearray(before.written.path.read_bytes())
    content[len(content) // 2] ^= 1
    before.written.path.write_bytes(content)
    with pytest.raises(Problem, match="not sound"):
        made.bundle(project)


def test_a_doi_is_checked(project: Path) -> None:
    path = project / "config" / "config.yaml"
    path.write_text(made.CONFIG.replace("version: 1.2.0", "version: 1.2.0\n  doi: 10.5281/zenodo.1"), encoding="utf-8")
    assert read_heading(path).doi == "10.5281/zenodo.1"
    path.write_text(made.CONFIG.replace("version: 1.2.0", "version: 1.2.0\n  doi: zenodo.1"), encoding="utf-8")
    with pytest.raises(Problem, match="doi"):
        read_heading(path)
