"""Bundles are data: a hostile one is refused within bounds, follows no link, and runs nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import time
import tracemalloc
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from zassay import cli
from zassay.bundle.archive import Member, write_bundle
from zassay.bundle.verifier import FolderBag, ZipBag, verify

EPOCH = 1_763_683_200


def sound(folder: Path) -> Path:
    members = {"a": Member(b"one"), "b/c": Member(b"two")}
    return write_bundle(folder / "s-1.0.0.zip", members, {"Citable": "yes"}, EPOCH).path


def unpacked(folder: Path) -> Path:
    subprocess.run(["unzip", "-q", sound(folder), "-d", folder], check=True, timeout=60)
    return folder / "s-1.0.0"


def zip_of(path: Path, members: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for info, content in members:
            archive.writestr(info, content)
    return path


def refused(path: Path, word: str) -> None:
    problems = verify(ZipBag(path) if path.is_file() else FolderBag(path))
    assert any(word in line for line in problems), problems


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "s/../../evil", "s//evil", "s/./evil", "c:/evil", "s\\..\\evil", "s/%2e"]
)
def test_paths_that_lead_out(tmp_path: Path, name: str) -> None:
    refused(zip_of(tmp_path / "s.zip", [(zipfile.ZipInfo(name), b"x")]), "not a plain path")
    assert [path.name for path in tmp_path.iterdir()] == ["s.zip"]


def test_a_zip_bomb_is_refused_before_it_is_inflated(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "s.zip", [("s/data/bomb", bytes(200 << 20))], zipfile.ZIP_DEFLATED)
    start = time.monotonic()
    tracemalloc.start()
    refused(path, "compressed")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    assert time.monotonic() - start < 1


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    """The classic bomb: many directory entries that share one content."""
    path = sound(tmp_path)
    content = path.read_bytes()
    start = content.index(b"PK\1\2")
    end = content.index(b"PK\5\6")
    entry = content[start : content.index(b"PK\1\2", start + 1)]
    many = entry * 1000
    record = bytearray(content[end:])
    record[8:12] = (1000).to_bytes(2, "little") * 2
    record[12:16] = len(many).to_bytes(4, "little")
    path.write_bytes(content[:start] + many + record)
    assert len(verify(ZipBag(path))) == 1


def test_a_symbolic_link_in_a_zip(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("s/data/link")
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    refused(zip_of(tmp_path / "s.zip", [(info, b"/etc/passwd")]), "s/data/link")


def test_a_name_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "s.zip"
    with pytest.warns(UserWarning, match="Duplicate"):
        zip_of(path, [(zipfile.ZipInfo("s/a"), b"1"), (zipfile.ZipInfo("s/a"), b"2")])
    assert verify(ZipBag(path))


@pytest.mark.parametrize("make", ["file", "folder", "dangling"])
def test_links_in_a_folder_are_named_and_not_followed(tmp_path: Path, make: str) -> None:
    folder = unpacked(tmp_path)
    target = {"file": "/etc/hostname", "folder": "/", "dangling": "nowhere"}[make]
    (folder / "data" / "link").symlink_to(target)
    refused(folder, "unsafe: data/link: neither a file nor a folder")


def test_a_file_replaced_by_a_link_to_the_same_bytes(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (folder / "data" / "a").rename(tmp_path / "a")
    (folder / "data" / "a").symlink_to(tmp_path / "a")
    refused(folder, "missing: data/a")


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    os.mkfifo(folder / "data" / "pipe")
    refused(folder, "unsafe: data/pipe")


def test_bounds_on_files_and_bytes(tmp_path: Path) -> None:
    path, folder = sound(tmp_path), tmp_path / "s-1.0.0"
    subprocess.run(["unzip", "-q", path, "-d", tmp_path], check=True, timeout=60)
    for target in (path, folder):
        for option in ("--max-files", "--max-bytes"):
            assert cli.main(["verify", option, "5", str(target)]) == 1
    assert cli.main(["verify", "--max-files", "20", "--max-bytes", "9999", str(folder)]) == 0


def test_a_sparse_giant_is_refused_unread(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    with (folder / "data" / "giant").open("wb") as handle:
        handle.truncate(1 << 40)
    start = time.monotonic()
    refused(folder, "refused: more than")
    assert time.monotonic() - start < 1


def test_a_giant_manifest_line_takes_no_memory(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (folder / "manifest-sha256.txt").write_bytes(b"a" * (64 << 20))
    tracemalloc.start()
    refused(folder, "changed: manifest-sha256.txt")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\5\6" + bytes(18), b"PK\5\6" + b"\xff" * 18, os.urandom(4096)])
def test_what_is_no_zip(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.zip"
    path.write_bytes(content)
    assert verify(ZipBag(path))


def test_what_is_no_bag(tmp_path: Path) -> None:
    refused(tmp_path, "missing: bagit.txt")
    refused(zip_of(tmp_path / "s.zip", []), "missing: bagit.txt")


def test_a_manifest_that_lists_what_it_should_not(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    tag = folder / "tagmanifest-sha256.txt"
    line = (folder / "manifest-sha256.txt").read_text().splitlines(keepends=True)[0]
    tag.write_text("".join(sorted([*tag.read_text().splitlines(keepends=True), line], key=lambda text: text[66:])))
    refused(folder, "lists data/a")


def test_a_repacked_zip_is_told_apart_and_its_folder_verifies(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    again = tmp_path / "again.zip"
    members = [
        (f"s-1.0.0/{path.relative_to(folder).as_posix()}", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    zip_of(again, members, zipfile.ZIP_DEFLATED)
    refused(again, "packed anew, unpack it and verify the folder")
    assert verify(FolderBag(folder)) == []


def test_verifying_runs_nothing(tmp_path: Path) -> None:
    trap = b"import pathlib; pathlib.Path('RAN').touch()\n"
    members = {name: Member(trap) for name in ("verify.py", "sitecustomize.py", "conftest.py", "x.rds", "x.pkl")}
    path = write_bundle(tmp_path / "s-1.0.0.zip", members, {"Citable": "yes"}, EPOCH).path
    subprocess.run(["unzip", "-q", path, "-d", tmp_path], check=True, timeout=60)
    for target in (path, tmp_path / "s-1.0.0"):
        assert cli.main(["verify", str(target)]) == 0
    assert not list(tmp_path.rglob("RAN")) and not Path("RAN").exists()
