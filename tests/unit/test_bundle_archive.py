"""The container: readable by everyone's tools, and the verifier that is shipped inside it."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from zassay.bundle import verifier
from zassay.bundle.archive import EARLIEST, Member, Written, check_names, dos_stamp, write_bundle
from zassay.bundle.verifier import ZipBag, verify
from zassay.errors import Problem

EPOCH = 1_763_683_200


def written(path: Path, members: dict[str, bytes]) -> Written:
    return write_bundle(path, {name: Member(content) for name, content in members.items()}, {"Citable": "yes"}, EPOCH)


def test_python_and_unzip_read_it(tmp_path: Path) -> None:
    made = written(tmp_path / "a-1.0.0.zip", {"x/y": b"12", "run": b"#!/bin/sh\n", "empty": b""})
    with zipfile.ZipFile(made.path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(archive.namelist())
        assert {info.date_time for info in archive.infolist()} == {(2025, 11, 21, 0, 0, 0)}
        assert all(info.create_system == 3 and info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
    subprocess.run(["unzip", "-q", made.path, "-d", tmp_path], check=True, timeout=60)
    assert (tmp_path / "a-1.0.0" / "data" / "x" / "y").read_bytes() == b"12"
    assert (tmp_path / "a-1.0.0" / "data" / "run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a-1.0.0" / "data" / "empty").stat().st_mode & 0o777 == 0o644


def test_sha256sum_alone_verifies_it(tmp_path: Path) -> None:
    made = written(tmp_path / "a-1.0.0.zip", {"name with spaces, and = signs": b"12"})
    subprocess.run(["unzip", "-q", made.path, "-d", tmp_path], check=True, timeout=60)
    for kind in verifier.KINDS:
        command = [f"{kind}sum", "-c", "--quiet", "--strict", f"manifest-{kind}.txt", f"tagmanifest-{kind}.txt"]
        subprocess.run(command, cwd=tmp_path / "a-1.0.0", check=True, timeout=60)


def test_large_files_are_streamed_and_small_ones_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "big"
    source.write_bytes(b"#!x" + bytes(range(256)) * 9000)
    first = write_bundle(tmp_path / "1" / "a.zip", {"big": Member(source)}, {}, EPOCH)
    monkeypatch.setattr("zassay.bundle.archive.CHUNK", 1 << 30)
    second = write_bundle(tmp_path / "2" / "a.zip", {"big": Member(source)}, {}, EPOCH)
    assert first.path.read_bytes() == second.path.read_bytes()
    assert verify(ZipBag(first.path)) == []


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(Problem, match="link"):
        write_bundle(tmp_path / "a.zip", {"link": Member(tmp_path / "link")}, {}, EPOCH)
    assert not (tmp_path / "a.zip").exists()


def test_more_files_than_a_plain_zip_can_hold(tmp_path: Path) -> None:
    made = written(tmp_path / "a-1.0.0.zip", {f"{number // 1000}/{number}": b"" for number in range(66_000)})
    with zipfile.ZipFile(made.path) as archive:
        assert len(archive.infolist()) == 66_006
    assert verify(ZipBag(made.path)) == []


def test_offsets_beyond_four_gib_are_spelt_as_zip64_demands() -> None:
    entry = verifier.Entry("a/b", 5, 7, dos_stamp(EPOCH), (4 << 30) + 9, False)
    fixed = verifier.CENTRAL.unpack(verifier.central_header(entry)[: verifier.CENTRAL.size])
    assert fixed[-1] == verifier.FULL32
    assert verifier.central_header(entry).endswith(b"\x01\x00\x08\x00" + ((4 << 30) + 9).to_bytes(8, "little"))
    assert verifier.end_records(3, 100, 5 << 30).startswith(b"PK\6\6")
    assert len(verifier.end_records(3, 100, 5000)) == verifier.END.size


def test_dates_before_zips_calendar() -> None:
    assert dos_stamp(0) == dos_stamp(EARLIEST) == (1 << 5 | 1) << 16


def test_the_shipped_script_is_short_and_needs_the_standard_library_alone() -> None:
    text = Path(verifier.__file__).read_text()
    assert len(text.splitlines()) <= 300
    imported = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for name in node.names}
    assert {str(name).partition(".")[0] for name in imported} <= sys.stdlib_module_names
    called = {
        node.func.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"exec", "eval", "compile", "__import__"}


def test_the_shipped_script_works_alone(tmp_path: Path) -> None:
    made = written(tmp_path / "a-1.0.0.zip", {"verify.py": Path(verifier.__file__).read_bytes(), "x": b"1"})
    subprocess.run(["unzip", "-q", made.path, "-d", tmp_path], check=True, timeout=60)
    script = tmp_path / "a-1.0.0" / "data" / "verify.py"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(script), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (run().returncode, run(str(made.path)).returncode, run("a", "b").returncode) == (0, 0, 2)
    assert made.content_id in run().stdout
    (script.parent / "x").write_bytes(b"2")
    assert run().returncode == 1
    assert "changed: data/x" in run().stdout


def test_names_are_checked_together() -> None:
    with pytest.raises(Problem, match="case alone"):
        check_names(["data/A", "data/a"], "top")
    with pytest.raises(Problem, match="not a plain path"):
        check_names(["data/../x"], "top")


def test_where_nothing_can_be_written_there_is_one_problem() -> None:
    with pytest.raises(Problem, match="/proc"):
        written(Path("/proc/a-1.0.0.zip"), {"x": b""})
