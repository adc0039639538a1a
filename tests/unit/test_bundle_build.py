"""What goes into a bundle, what is refused, and that the same inputs give the same bytes."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import bundle_fixture as made
import pytest
from bundle_fixture import bundle, inside, names

from zassay import cli, files
from zassay.bundle import gather, tables
from zassay.bundle.build import Built, build
from zassay.errors import Problem

ROOT = Path(__file__).resolve().parents[2]
NAME = "made-up-1.2.0"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made.make_project(tmp_path / "project")


def test_everything_a_stranger_needs_is_inside(project: Path) -> None:
    found = names(bundle(project))
    for name in (
        "ro-crate-metadata.json ro-crate-preview.html README.md REPLICATE.md LICENSE CITATION.cff zenodo.json"
        " datacite.json datapackage.json verify.py results/report.html results/compression-levels/figures/fig1.svg"
        " results/compression-levels/plan.json results/compression-levels/dataset.csv config/config.yaml"
        " results/compression-levels/verdicts.csv config/studies/compression-levels/claims.yaml workflow/Snakefile"
        " results/compression-levels/facts.json environment/images/debian-12/manifest.json"
        " environment/images/debian-12/debian-12.tsv environment/host-dpkg.tsv environment/python/run.lock"
        " provenance/run-records.jsonl LICENSES/Apache-2.0.txt LICENSES/CC-BY-4.0.txt workflow/results/README.md"
    ).split():
        assert name in found
    assert sum(name.startswith("results/compression-levels/raw/") for name in found) == 3 * len(made.cells()) * 3
    assert not any(name.endswith("qcow2") for name in found)


def test_failed_runs_are_inside_with_their_reason(project: Path) -> None:
    built = bundle(project)
    assert "results/compression-levels/raw/compression=lz4,corpus=text/block-02/status.json" in names(built)
    text = inside(built, "README.md").decode()
    assert "1 failed, 17 ok" in text
    assert "guest gave no answer, within 60 s" in text
    assert b'failed,"guest gave no answer' in inside(built, "results/compression-levels/dataset.csv")


def test_same_inputs_same_bytes_whatever_the_host_is_set_to(project: Path, tmp_path: Path) -> None:
    first = bundle(project).written
    copy = tmp_path / "elsewhere"
    shutil.copytree(project, copy, symlinks=True)
    shutil.rmtree(copy / "results" / "bundles")
    for path in copy.rglob("*"):
        if ".git" not in path.parts and not path.is_symlink():
            os.utime(path, (1_000_000_000, 1_000_000_000))
    command = 'umask 077; exec "$0" -m zassay bundle --root .'
    env = os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=copy, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    second = copy / "results" / "bundles" / f"{NAME}.zip"
    assert second.read_bytes() == first.path.read_bytes()
    assert f"zip sha256 {first.zip_sha256}" in done.stdout
    assert f"content id {first.content_id}" in done.stdout


def test_the_date_is_the_newest_runs_end_not_the_clock(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert b"Bagging-Date: 2026-11-20" in _bag_info(bundle(project))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert b"Bagging-Date: 2023-11-14" in _bag_info(bundle(project))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(Problem, match="not a number of seconds"):
        bundle(project)


def _bag_info(built: Built) -> bytes:
    with zipfile.ZipFile(built.written.path) as archive:
        return archive.read(f"{NAME}/bag-info.txt")


def test_commit_and_dirty_flag(project: Path) -> None:
    clean = bundle(project)
    assert clean.source.commit and not clean.source.dirty
    made.write(project / "src" / "new.py", "print()\n")
    dirty = bundle(project)
    assert dirty.source.dirty
    assert "workflow/src/new.py" in names(dirty)
    assert b"uncommitted changes" in _bag_info(dirty)


def test_without_git_the_files_are_taken_and_the_bundle_says_so(tmp_path: Path) -> None:
    project = made.make_project(tmp_path / "project", git=False)
    made.write(project / ".venv-validators" / "x.py", "")
    built = bundle(project)
    assert "workflow/tools/setup" in names(built)
    assert "workflow/.venv-validators/x.py" not in names(built)
    assert b"Workflow-Commit: unknown (no git commit" in _bag_info(built)


def test_a_checkout_around_the_project_lends_it_no_commit(tmp_path: Path) -> None:
    project = made.make_project(tmp_path / "project", git=False)
    made.commit(tmp_path)
    assert not bundle(project).source.commit


@pytest.mark.parametrize("change", [{"synthetic": "true"}, {"validity_class": "S"}])
def test_synthetic_rows_are_refused_and_only_a_marked_demo_takes_them(project: Path, change: dict[str, str]) -> None:
    made.change_rows(project, lambda row: row | (change if row["block"] == "3" else {}))
    with pytest.raises(Problem, match="synthetic"):
        bundle(project)
    assert not (project / "results" / "bundles").exists()
    built = bundle(project, demo=True)
    assert built.written.path.name == f"{NAME}-synthetic-demo.zip"
    assert not {"CITATION.cff", "zenodo.json", "datacite.json"} & names(built)
    assert "NOT CITABLE" in inside(built, "README.md").decode()
    with pytest.raises(Problem, match="not citable"):
        _cli("cite", str(built.written.path))


def test_a_demo_of_real_measurements_is_refused(project: Path) -> None:
    with pytest.raises(Problem, match="no row is synthetic"):
        bundle(project, demo=True)


def _cli(*words: str) -> int:
    args = cli.parser(words[0]).parse_args(words)
    return args.main(args) or 0


@pytest.mark.parametrize("name", ["plan.json", "dataset.csv", "estimates.csv", "verdicts.csv", "../report.html"])
def test_an_unfinished_campaign_is_refused(project: Path, name: str) -> None:
    (project / "results" / made.STUDY / name).unlink()
    with pytest.raises(Problem, match=f"{Path(name).name}: missing"):
        bundle(project)


def test_rows_of_another_plan_are_refused(project: Path) -> None:
    made.change_rows(project, lambda row: row | {"prereg": "0" * 64})
    with pytest.raises(Problem, match="measured under plan 0000"):
        bundle(project)


def test_claims_changed_after_the_plan_are_told(project: Path) -> None:
    made.write(project / "studies" / made.STUDY / "claims.yaml", "S3-01: {type: dir}\n")
    built = bundle(project)
    assert any("claims.yaml was changed after the plan" in note for note in built.notes)
    assert "PRE-REGISTRATION" in inside(built, "README.md").decode()


def test_formula_cells_become_text_and_numbers_stay(project: Path) -> None:
    made.change_rows(project, lambda row: row | {"reason": "=HYPERLINK(1)", "value": "-0.5"} if row["run"] == "1" else row)
    built = bundle(project)
    table = csv.DictReader(io.StringIO(inside(built, f"results/{made.STUDY}/dataset.csv").decode()))
    assert {(row["reason"], row["value"]) for row in table} == {("'=HYPERLINK(1)", "-0.5")}
    assert any("apostrophe in front (54 in reason)" in note for note in built.notes)


@pytest.mark.parametrize(("text", "formula"), [("=1", True), ("+a", True), ("-x", True), ("@a", True), ("\tq", True)])
def test_what_a_formula_is(text: str, formula: bool) -> None:
    assert tables.is_formula(text) is formula


@pytest.mark.parametrize("text", ["", "-", "-1.5", "+3e-5", "-INF", "a=b", "1-2"])
def test_what_a_formula_is_not(text: str) -> None:
    assert not tables.is_formula(text)


def test_a_table_without_formulas_is_copied_byte_for_byte(project: Path) -> None:
    built = bundle(project)
    for name in ("dataset.csv", "estimates.csv", "verdicts.csv"):
        assert inside(built, f"results/{made.STUDY}/{name}") == (project / "results" / made.STUDY / name).read_bytes()


def test_a_huge_cell_and_a_ragged_row_are_refused(project: Path) -> None:
    path = project / "results" / made.STUDY / "estimates.csv"
    made.write(path, f"a,b\n1,{'x' * (tables.MAX_CELL + 1)}\n")
    with pytest.raises(Problem, match="not a table"):
        bundle(project)
    made.write(path, "a,b\n1\n")
    with pytest.raises(Problem, match="line 2 has 1 cells"):
        bundle(project)


def test_built_things_links_and_unfinished_files_stay_out(project: Path) -> None:
    raw = project / "results" / made.STUDY / "raw"
    made.write(raw / "cell" / "zfs.ko", b"\x7fELF")
    made.write(raw / "cell" / "state.rds", b"X")
    made.write(raw / "cell" / ".half-written", b"X")
    (raw / "cell" / "away").symlink_to("/etc")
    (raw / "cell" / "passwd").symlink_to("/etc/passwd")
    built = bundle(project)
    assert {Path(name).name for name, _ in built.left_out} == {"zfs.ko", "state.rds", "away", "passwd"}
    assert not any(name.startswith(f"results/{made.STUDY}/raw/cell/") for name in names(built))
    assert "cell/zfs.ko: built" in inside(built, "README.md").decode()


def test_a_private_key_is_refused(project: Path) -> None:
    key = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n"
    made.write(project / "results" / made.STUDY / "raw" / "cell" / "id", f"ssh-keygen says:\n{key}")
    with pytest.raises(Problem, match="holds a private key"):
        bundle(project)
    assert list((project / "results" / "bundles").iterdir()) == []


@pytest.mark.parametrize("name", ["a%41", "back\\slash", "new\nline", "ümlaut", "co:lon"])
def test_names_no_archive_can_hold_are_refused(project: Path, name: str) -> None:
    made.write(project / "results" / made.STUDY / "raw" / "cell" / name, "")
    with pytest.raises(Problem, match="not a plain path"):
        bundle(project)


def test_names_that_differ_in_case_alone_are_refused(project: Path) -> None:
    for name in ("cell/A", "cell/a"):
        made.write(project / "results" / made.STUDY / "raw" / name, "")
    with pytest.raises(Problem, match="differ in case alone"):
        bundle(project)


def test_the_run_log_leaves_out_this_stage(project: Path) -> None:
    assert inside(bundle(project), "provenance/run-records.jsonl") == b'{"stage":"run","end":1}\n'


def test_what_is_not_recorded_is_said(project: Path) -> None:
    (project / "results" / gather.RECORDS).unlink()
    (project / "results" / "images" / "debian-12").unlink()
    notes = bundle(project).notes
    assert f"provenance/{gather.RECORDS}: not recorded." in notes
    assert any("environment/images/debian-12/manifest.json: not here" in note for note in notes)


def test_the_zip_has_the_bags_name(project: Path, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=f"must be named {NAME}.zip"):
        build(project, project / "config" / "config.yaml", tmp_path / "other.zip")


def test_the_verb_prints_and_keeps_what_identifies_the_bundle(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bundle", "--root", str(project)]) == 0
    kept = files.read_json(project / "results" / "bundle.json")
    out = capsys.readouterr().out
    assert kept["path"] == f"results/bundles/{NAME}.zip"
    assert f"zip sha256 {kept['zip_sha256']}" in out
    assert f"content id {kept['content_id']}" in out
    assert kept["zip_sha256"] == files.sha256_file(project / kept["path"])


def test_what_a_killed_bundle_left_is_removed(project: Path) -> None:
    left = project / "results" / "bundles" / f".{NAME}.zip.abc123"
    made.write(left, b"half")
    bundle(project)
    assert [path.name for path in left.parent.iterdir()] == [f"{NAME}.zip"]


def test_no_commit_yet(tmp_path: Path) -> None:
    project = made.make_project(tmp_path / "project", git=False)
    subprocess.run(["git", "init", "-q", str(project)], check=True, timeout=60)
    built = bundle(project)
    assert built.source.commit == ""
    assert "workflow/tools/setup" in names(built)


def test_a_file_that_changes_meanwhile_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zassay.bundle.archive.Member.size", property(lambda self: 1))
    with pytest.raises(Problem, match="changed while the bundle was written"):
        bundle(project)


@pytest.mark.slow
def test_many_runs_are_written_and_verified_in_time(tmp_path: Path) -> None:
    """2,000 runs; the demand is 10,000 in 60 s and 30 s, and both are linear."""
    project = made.make_project(tmp_path / "project", blocks=9, git=False)
    raw = project / "results" / made.STUDY / "raw"
    for number in range(2000):
        for name in ("status.json", "facts.json", "settings.json", "guest/transcript.txt"):
            made.write(raw / f"cell-{number}" / "block-01" / name, b"x" * 4096)
    start = time.monotonic()
    built = bundle(project)
    middle = time.monotonic()
    assert _cli("verify", str(built.written.path)) == 0
    assert middle - start < 12
    assert time.monotonic() - middle < 6
