"""What the Snakefile is told: blocks in order, the files a stage depends on, and a refusal in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_record import ROOT, project, swap

from zassay import workflow
from zassay.workflow import Flow

FLOW = Flow(("s",), {"s": ["01", "02", "03"]}, {"s": ["i-1", "i-2"]}, "d")


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No doctor, no signals, and an environment that comes back."""
    monkeypatch.setattr(workflow.doctor, "require_or_exit", lambda: None)
    monkeypatch.setattr(workflow.supervise, "forward", lambda: None)
    for name in ("PATH", "LC_ALL"):
        monkeypatch.setenv(name, "/usr/bin")


def test_blocks_are_measured_in_their_order() -> None:
    assert FLOW.block_before("s", "01") == []
    assert FLOW.block_before("s", "03") == ["results/s/run/block-02.json"]
    assert FLOW.blocks_done("s") == [f"results/s/run/block-0{number}.json" for number in (1, 2, 3)]


def test_images_are_named_once() -> None:
    flow = Flow(("a", "b"), {}, {"a": ["x", "y"], "b": ["y"]}, "")
    assert flow.image_files("a") == ["results/images/x.json", "results/images/y.json"]
    assert flow.every_image == ["results/images/x.json", "results/images/y.json"]


def test_sources_are_files_of_ours_that_are_there() -> None:
    found = Flow.sources("parse", "gates")
    assert "src/zassay/parse.py" in found and "src/zassay/gates/cold.py" in found and len(found) == len(set(found))
    for path in [*found, *FLOW.analysis, *FLOW.image_sources]:
        assert (ROOT / path).is_file()
    assert "images/guest/agent" in FLOW.image_sources and any(path.endswith(".R") for path in FLOW.analysis)


@pytest.mark.parametrize("path", sorted((ROOT / "workflows" / "rules").glob("*.smk")), ids=lambda path: path.stem)
def test_a_rule_names_sources_that_exist(path: Path) -> None:
    import re

    for block in re.findall(r"FLOW\.sources\(([^)]*)\)", path.read_text()):
        for name in re.findall(r'"(\w+)"', block):
            assert Flow.sources(name) != [], f"{path.name}: {name}"


def test_the_campaign_becomes_a_flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: None) -> None:
    monkeypatch.setenv("ZASSAY_ROOT", str(project(tmp_path)))
    flow = workflow.start({"host": 4})
    (name,) = flow.studies
    assert flow.blocks[name] == ["01", "02", "03"] and flow.images[name] == ["debian-12"]


def test_the_scale_s_digest_follows_what_decides_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: None) -> None:
    digests = []
    for number, (old, new) in enumerate(
        [("blocks: 3", "blocks: 3"), ("blocks: 3", "blocks: 4"), ("1/8 * memory", "1/4 * memory")]
    ):
        root = project(tmp_path / str(number))
        scale = root / "config" / "scales" / "smoke.yaml"
        scale.write_text(swap(old, new)(scale.read_text()))
        monkeypatch.setenv("ZASSAY_ROOT", str(root))
        digests.append(workflow.start({"host": 4}).scale_digest)
    assert len(set(digests)) == 3


def test_a_workflow_without_the_capacity_pool_is_refused_in_one_line(quiet: None) -> None:
    with pytest.raises(SystemExit) as caught:
        workflow.start({})
    assert str(caught.value) == "zassay: the profile gives no capacity pool; run: snakemake --cores 4 --resources host=4"


def test_measuring_takes_the_whole_pool() -> None:
    for name in ("run", "machine"):
        assert "host=zassay.workflow.HOST_POOL" in (ROOT / "workflows" / "rules" / f"{name}.smk").read_text()
    assert f'"host={workflow.HOST_POOL}"' in (ROOT / "profiles" / "default" / "config.yaml").read_text()


def test_a_note_about_a_lost_or_other_image_is_forgotten(tmp_path: Path) -> None:
    def entry(name: str, manifest: object, noted: object, disk: bool = True) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "manifest.json").write_text(json.dumps(manifest))
        if disk:
            (folder / "disk.qcow2").touch()
        (tmp_path / f"{name}.json").write_text(json.dumps(noted, indent=2))
        return tmp_path / f"{name}.json"

    kept, lost, other = entry("a", {"x": 1}, {"x": 1}), entry("b", {}, {}, disk=False), entry("c", {"x": 1}, {"x": 2})
    (tmp_path / "d.json").write_text("{}")
    workflow.forget_lost_images(tmp_path)
    assert kept.exists() and not lost.exists() and not other.exists() and not (tmp_path / "d.json").exists()
    workflow.forget_lost_images(tmp_path / "none")
