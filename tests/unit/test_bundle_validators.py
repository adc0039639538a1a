"""Judges that are not ours: bagit, frictionless, roc-validator and cffconvert, each in an environment of its own.

`tools/setup test` makes the environments. Without them a person at work sees the tests skip, CI sees them fail.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
from pathlib import Path

import bundle_fixture as made
import pytest

from zassay.bundle.build import build

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "tests" / "golden" / "ro-crate-1.1" / "http_cache.sqlite.xz"


def tool(environment: str, name: str) -> str:
    place = Path(os.environ.get(f"ZASSAY_{environment.upper()}", ROOT / f".venv-{environment}"))
    path = place / "bin" / name
    if not path.is_file() and not os.environ.get("CI"):
        pytest.skip(f"{path} is not there; run: make setup-test")
    return str(path)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = made.make_project(tmp_path_factory.mktemp("judged") / "project")
    path = build(project, project / "config" / "config.yaml").written.path
    subprocess.run(["unzip", "-q", path, "-d", path.parent], check=True, timeout=60)
    return path.with_suffix("")


@pytest.fixture
def bag(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / original.name))


def code(*words: str | Path, cwd: Path | None = None) -> tuple[int, str]:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=cwd, check=False)
    return done.returncode, done.stdout + done.stderr


def test_bagit(bag: Path) -> None:
    judge = tool("validators", "bagit.py")
    result, out = code(judge, "--validate", bag)
    assert result == 0, out
    (bag / "data" / "README.md").write_text("other")
    assert code(judge, "--validate", bag)[0] == 1


def test_frictionless(bag: Path) -> None:
    judge = tool("validators", "frictionless")
    result, out = code(judge, "validate", "--json", bag / "data" / "datapackage.json")
    report = json.loads(out)
    assert result == 0, out
    assert report["stats"]["tasks"] == 4
    table = bag / "data" / "results" / made.STUDY / "dataset.csv"
    table.write_text(table.read_text().replace(",1,improved", ",1,improved").replace("12.5", "twelve", 1))
    assert code(judge, "validate", bag / "data" / "datapackage.json")[0] == 1


def crate_verdict(bag: Path, profile: str, tmp_path: Path) -> tuple[int, str]:
    judge = tool("validators", "rocrate-validator")
    (tmp_path / "http_cache.sqlite").write_bytes(lzma.decompress(CACHE.read_bytes()))
    words = [judge, "-y", "--disable-color", "validate", "--offline", "--cache-path", tmp_path / "http_cache"]
    return code(*words, bag / "data", "--no-paging", "-p", profile, "-l", "required")


@pytest.mark.parametrize("profile", ["ro-crate-1.1", "workflow-ro-crate-1.0", "process-run-crate-0.5", "workflow-run-crate-0.5"])
def test_roc_validator(bag: Path, profile: str, tmp_path: Path) -> None:
    result, out = crate_verdict(bag, profile, tmp_path)
    assert result == 0, out


def test_roc_validator_has_teeth(bag: Path, tmp_path: Path) -> None:
    path = bag / "data" / "ro-crate-metadata.json"
    crate = json.loads(path.read_text())
    crate["@graph"] = [entity for entity in crate["@graph"] if entity["@type"] != "CreateAction"]
    path.write_text(json.dumps(crate))
    assert crate_verdict(bag, "workflow-run-crate-0.5", tmp_path)[0] == 1


def test_cffconvert(bag: Path) -> None:
    judge = tool("cffconvert", "cffconvert")
    result, out = code(judge, "--validate", cwd=bag / "data")
    assert result == 0, out
    for form in ("bibtex", "apalike", "zenodo"):
        assert code(judge, "-f", form, cwd=bag / "data")[0] == 0
    path = bag / "data" / "CITATION.cff"
    path.write_text(path.read_text().replace("cff-version", "cff-versions"))
    assert code(judge, "--validate", cwd=bag / "data")[0] != 0
