"""zassay replicate: a workspace with our code and the bundle's questions, the same plan, and a bundle that links the old.

The pipeline itself is stood in for by one that makes its measurements up; guests are no part of these tests.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import demo
import pytest
import yaml

from zassay import cli, files, replicate, workspace
from zassay.bundle.archive import Member, write_bundle
from zassay.bundle.opened import open_bundle
from zassay.bundle.source import read_source
from zassay.errors import Problem
from zassay.image import cache, catalog

EPOCH = 1_763_683_200
PIPELINE = """
import json, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import demo
from zassay.commands.bundle import summary
from zassay import files
root = Path.cwd()
print("measuring in", root.name, flush=True)
if {fails!r}:
    sys.exit(3)
demo.decide(demo.measured(root, seed=9, zfs="2.3.9-1"))
built = demo.bundle(root)
files.write_json(root / "results" / "bundle.json", summary(built, root))
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = demo.project(tmp_path_factory.mktemp("original") / "project")
    return demo.bundle(demo.decide(demo.invented(root))).written.path


@pytest.fixture(autouse=True)
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own, with an image that is built as far as its manifest."""
    monkeypatch.setenv("ZASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("zassay.machine.supervise.install", lambda: None)
    entry = cache.path_of_entry(catalog.load("debian-12"))
    packages = [{"name": "zfs-dkms", "version": "2.1.11", "arch": "all", "sha256": "ab" * 32}]
    files.write_json(entry / "manifest.json", {"packages": packages, "base": {"tar_sha256": "cd" * 32}, "files": {}})
    return entry


def stand_in(monkeypatch: pytest.MonkeyPatch, fails: bool = False) -> None:
    code = PIPELINE.format(tests=str(demo.ROOT / "tests"), fails=fails)
    monkeypatch.setattr(replicate, "command", lambda cores: [sys.executable, "-c", code])


def changed(bundle: Path, tmp_path: Path, name: str, old: bytes, new: bytes) -> Path:
    """The bundle with one file altered by its author, and sound again."""
    found = open_bundle(bundle, tmp_path / "all", lambda _: True)
    members = {each: Member((found.data / each).read_bytes()) for each in found.digests}
    content = members[name].content
    assert isinstance(content, bytes) and old in content
    members[name] = Member(content.replace(old, new))
    return write_bundle(tmp_path / "forged-1.0.0.zip", members, {"Citable": "yes"}, EPOCH).path


def test_a_dry_run_says_all_and_leaves_nothing(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replicate", str(bundle), "--dry-run", "--workspace", str(tmp_path / "w")]) == 0
    told = capsys.readouterr().out
    assert "28 cells × 3 blocks" in told
    assert "the same plan: seed, order, settings and claims, preregistered as" in told
    assert "code: OURS; nothing of the bundle is executed" in told
    assert "all of these are our own, byte for byte" in told
    assert "image debian-12: built here already" in told
    assert "snakemake --cores 4" in told
    assert not (tmp_path / "w").exists()


def test_another_scale_is_said(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replicate", str(bundle), "--dry-run", "--scale", "lab"]) == 0
    told = capsys.readouterr().out
    assert "SCALED: lab instead of the original's smoke, as asked" in told
    assert "blocks: 10, in the original 3" in told
    assert "28 of 28 cells (original: 28) differ in: " in told
    assert cli.main(["replicate", str(bundle), "--dry-run", "--scale", "labb"]) == 1
    assert "did you mean lab?" in capsys.readouterr().err


def test_the_workspace_has_our_code_and_the_bundles_questions(bundle: Path, tmp_path: Path) -> None:
    altered = changed(bundle, tmp_path, f"config/studies/{demo.STUDY}/claims.yaml", b"S3-01", b"S3-99")
    made = workspace.make(altered, demo.ROOT, tmp_path / "w", None)
    assert made.foreign == ()  # claims decide nothing about a guest
    assert b"S3-99" in (made.root / "studies" / demo.STUDY / "claims.yaml").read_bytes()
    assert (made.root / "src" / "zassay" / "runner.py").read_bytes() == (demo.ROOT / "src" / "zassay" / "runner.py").read_bytes()
    assert made.previous.read_bytes() == altered.read_bytes()


def test_the_configuration_is_the_originals_but_for_who_and_where(bundle: Path, tmp_path: Path) -> None:
    made = workspace.make(bundle, demo.ROOT, tmp_path / "w", None)
    found = yaml.safe_load(made.config.read_text())
    assert found["campaign"]["name"] == "made-up-1-replication"
    assert found["campaign"]["previous"] == f"results/bundles/{bundle.name}#{made.opened.content_id}"
    assert (found["seed"], found["scale"], found["blocks"], found["accel"]) == (20261121, "smoke", 3, "auto")
    raw = {"campaign": found["campaign"], "studies": found["studies"], "seed": 1}
    assert workspace.config(made, raw, found)["campaign"]["version"] == "0.2.0"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (f"config/studies/{demo.STUDY}/study.yaml", b"recordsize: 128K", b"recordsize: 64K"),
        ("workflow/machines/small.yaml", b"cpus: 4", b"cpus: 2"),
        ("workflow/images/debian-12.yaml", b"release: ", b"release:  "),
    ],
)
def test_foreign_recipes_need_somebodys_word(
    bundle: Path,
    tmp_path: Path,
    name: str,
    old: bytes,
    new: bytes,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(monkeypatch, fails=True)
    altered = changed(bundle, tmp_path, name, old, new)
    words = ["replicate", str(altered), "--workspace", str(tmp_path / "w")]
    assert cli.main(words) == 1
    told = capsys.readouterr()
    assert f"not as ours: {name.removeprefix('workflow/').removeprefix('config/')}" in told.out
    assert "not our own recipes" in told.err and "--trust" in told.err
    assert "measuring" not in told.out
    assert cli.main([*words, "--trust"]) == 1
    assert "measuring in w" in capsys.readouterr().out


def test_code_of_the_bundle_never_gets_into_the_workspace(bundle: Path, tmp_path: Path) -> None:
    for name in ("workflow/src/zassay/runner.py", "workflow/images/base/customize.sh", "workflow/Snakefile"):
        altered = changed(bundle, tmp_path / name.replace("/", "_"), name, b"", b"TRAP ")
        made = workspace.make(altered, demo.ROOT, tmp_path / name.replace("/", "_") / "w", None)
        place = name.removeprefix("workflow/")
        assert (made.root / place).read_bytes() == (demo.ROOT / place).read_bytes()


def test_a_replication_measures_compares_and_links(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch)
    place = tmp_path / "w"
    assert cli.main(["replicate", str(bundle), "--workspace", str(place)]) == 0
    told = capsys.readouterr().out
    assert "measuring in w" in told
    assert told.index("1 ZFS          zfs: A 2.1.11-1+deb12u1 | B 2.3.9-1") < told.index("16 claims: ")
    assert "S3-02: AGREE" in told
    new = place / json.loads((place / "results" / "bundle.json").read_text())["path"]
    found = open_bundle(new, tmp_path / "new", lambda name: name == "CHANGELOG.md")
    old = open_bundle(bundle, tmp_path / "old", lambda _: False)
    assert new.name == "made-up-1-replication-0.1.0.zip"
    assert old.content_id in found.info["Replaces"]
    assert old.content_id in (found.data / "CHANGELOG.md").read_text()
    with (place / "results" / "replication" / "comparison" / "claims.csv").open(newline="") as handle:
        assert {row["replication"] for row in csv.DictReader(handle)} <= {"agree", "inconclusive", "cannot be compared"}


def test_a_failed_one_goes_on_in_its_workspace_and_in_no_other(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, fails=True)
    words = ["replicate", str(bundle), "--workspace", str(tmp_path / "w")]
    assert cli.main(words) == 1
    assert "ended with code 3" in capsys.readouterr().err
    (tmp_path / "w" / "kept").touch()
    stand_in(monkeypatch)
    assert cli.main(words) == 0
    assert (tmp_path / "w" / "kept").exists()
    assert cli.main([*words, "--scale", "lab"]) == 1
    assert "was made for" in capsys.readouterr().err
    (tmp_path / "other").mkdir()
    assert cli.main(["replicate", str(bundle), "--workspace", str(tmp_path / "other")]) == 1
    assert "is no workspace of a replication" in capsys.readouterr().err


def test_package_sets_are_compared_by_digest() -> None:
    one = replicate.packages({"packages": [{"name": "a", "version": "1", "arch": "all", "sha256": "x"}]})
    other = replicate.packages({"packages": [{"name": "a", "version": "1", "arch": "all", "sha256": "y"}]})
    assert replicate.set_words(one, one) == "the same 1 packages"
    assert replicate.set_words(one, other) == "ANOTHER PACKAGE SET: 1 packages differ (a)"
    assert replicate.packages([]) == replicate.packages(None) == replicate.packages({"packages": 3}) == set()


def test_a_demonstration_is_not_replicated(bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "made-up-1.0.0-synthetic-demo.zip"
    found = open_bundle(bundle, tmp_path / "all", lambda _: True)
    members = {each: Member((found.data / each).read_bytes()) for each in found.digests}
    write_bundle(path, members, {"Citable": "no: synthetic data"}, EPOCH)
    with pytest.raises(Problem, match="synthetic"):
        workspace.make(path, demo.ROOT, tmp_path / "w", None)


def test_what_the_workspace_keeps_of_the_original_is_no_part_of_its_workflow(bundle: Path, tmp_path: Path) -> None:
    made = workspace.make(bundle, demo.ROOT, tmp_path / "w", None)
    packed = read_source(made.root).files
    assert "Snakefile" in packed
    assert not [name for name in packed if "original" in name.split("/") or name.startswith("results/rep")]
