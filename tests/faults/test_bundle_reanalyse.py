"""Analysing, comparing and replicating a stranger's bundle runs nothing of it and writes nowhere else."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import demo
import pytest

from zassay import cli
from zassay.bundle import opened
from zassay.bundle.archive import Member, write_bundle
from zassay.bundle.opened import open_bundle, read_json
from zassay.errors import Problem

EPOCH = 1_763_683_200


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Member]:
    """The members of a sound bundle, decided but without figures."""
    root = demo.decide(demo.invented(demo.project(tmp_path_factory.mktemp("honest") / "project")))
    path = demo.bundle(root).written.path
    found = open_bundle(path, path.parent / "all", lambda _: True)
    return {name: Member((found.data / name).read_bytes()) for name in found.digests}


def forged(honest: dict[str, Member], tmp_path: Path, changed: dict[str, bytes]) -> Path:
    members = honest | {name: Member(content) for name, content in changed.items()}
    return write_bundle(tmp_path / "s-1.0.0.zip", members, {"Citable": "yes"}, EPOCH).path


def trap(path: Path) -> bytes:
    return f'invisible(file.create("{path}"))\n'.encode()


CLAIMS = f"config/studies/{demo.STUDY}/claims.yaml"


def test_profiles_and_code_in_a_bundle_are_not_run(honest: dict[str, Member], tmp_path: Path) -> None:
    ran = tmp_path / "RAN"
    code = ["workflow/analysis/R/decide.R", "workflow/analysis/exec/estimate", "workflow/analysis/exec/load.R", "verify.py"]
    hidden = {
        f"{place}.Rprofile": trap(ran) for place in ("", "results/", f"results/{demo.STUDY}/", f"config/studies/{demo.STUDY}/")
    }
    path = forged(honest, tmp_path, hidden | {name: trap(ran) for name in code})
    cli.main(["reanalyse", str(path), "--out", str(tmp_path / "again")])
    assert (tmp_path / "again" / "results" / demo.STUDY / "verdicts.csv").is_file()
    assert not ran.exists()


@pytest.mark.parametrize(
    "text",
    [
        'derived: {x: !expr file.create("RAN")}',
        'derived: {x: "file.create(\\"RAN\\")"}',
        "derived: {x: \"system('touch RAN')\"}",
        '!!python/object/apply:os.system ["touch RAN"]',
    ],
)
def test_code_in_a_claim_is_not_run(
    honest: dict[str, Member], tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = honest[CLAIMS].content
    assert isinstance(claims, bytes)
    path = forged(honest, tmp_path, {CLAIMS: claims + text.encode() + b"\n"})
    assert cli.main(["reanalyse", str(path), "--out", str(tmp_path / "again")]) == 1
    assert "derived" in capsys.readouterr().err or text.startswith("!!")
    assert not list(tmp_path.rglob("RAN")) and not Path("RAN").exists()


def test_a_figure_cannot_be_written_elsewhere(honest: dict[str, Member], tmp_path: Path) -> None:
    name = f"config/studies/{demo.STUDY}/figures.yaml"
    content = honest[name].content
    assert isinstance(content, bytes)
    path = forged(honest, tmp_path, {name: content.replace(b"id: G3a", b"id: ../../../escaped")})
    assert cli.main(["reanalyse", str(path), "--out", str(tmp_path / "again")]) == 1
    assert not list(tmp_path.rglob("escaped*"))


@pytest.mark.parametrize("verb", ["reanalyse", "compare", "replicate"])
@pytest.mark.parametrize("study", ["../../evil", "/etc", "nobody", ".."])
def test_a_study_is_a_plain_name(
    honest: dict[str, Member], tmp_path: Path, verb: str, study: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = honest["config/config.yaml"].content
    assert isinstance(config, bytes)
    path = forged(honest, tmp_path, {"config/config.yaml": config.replace(demo.STUDY.encode(), study.encode())})
    words = {"reanalyse": [], "compare": [str(path)], "replicate": ["--dry-run"]}[verb]
    assert cli.main([verb, str(path), *words]) == 1
    assert repr(study) in capsys.readouterr().err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["s-1.0.0.zip"]


def test_a_huge_cell_never_reaches_r(honest: dict[str, Member], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"results/{demo.STUDY}/published.csv"
    path = forged(honest, tmp_path, {name: b"a\n" + b"x" * (1 << 18) + b"\n"})
    for words in (["reanalyse", str(path)], ["compare", str(path), str(path.with_name("other.zip"))]):
        shutil.copy(path, path.with_name("other.zip"))
        assert cli.main(words) == 1
    assert "not a table" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"[" * 200_000, b"{", b"\xff\xfe", b'{"a": 1' + b"}" * 9])
def test_json_that_is_a_trap(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(Problem, match="not JSON"):
        read_json(tmp_path / "a.json")


def test_an_altered_bundle_is_not_opened(honest: dict[str, Member], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = forged(honest, tmp_path, {})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    for words in (["reanalyse", str(path)], ["replicate", str(path), "--dry-run"], ["compare", str(path), str(path)]):
        assert cli.main(words) == 1
        assert "not sound" in capsys.readouterr().err


def test_what_is_copied_is_plain_and_bounded(honest: dict[str, Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = forged(honest, tmp_path, {"tool": b"#!/bin/sh\n"})
    found = open_bundle(path, tmp_path / "a", lambda name: name in ("tool", "README.md"))
    modes = {stat.S_IMODE(each.stat().st_mode) for each in found.data.iterdir()}
    assert sorted(each.name for each in found.data.iterdir()) == ["README.md", "tool"]
    assert modes == {0o644}
    with pytest.raises(Problem, match="File exists"):
        open_bundle(path, tmp_path / "a", lambda _: True)
    monkeypatch.setattr(opened, "MAX_COPIED", 10)
    with pytest.raises(Problem, match="bytes to copy"):
        open_bundle(path, tmp_path / "b", lambda _: True)


def test_a_strangers_text_reaches_the_terminal_as_text_alone(
    honest: dict[str, Member], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"results/{demo.STUDY}/verdicts.csv"
    content = honest[name].content
    assert isinstance(content, bytes)
    evil = forged(honest, tmp_path, {name: content.replace(b"Media data", b"\x1b]0;owned\x07Media data")})
    evil = evil.rename(tmp_path / "evil")
    assert cli.main(["compare", str(forged(honest, tmp_path, {})), str(evil)]) == 0
    assert "\x1b" not in capsys.readouterr().out
