"""The package lock: reading, its errors, its differences, and fetching by it."""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.image import catalog, debs, lock, mirrors
from zassay.image.lock import Lock, Package


def package(name: str = "zfs-dkms", content: bytes = b"deb", path: str = "") -> Package:
    digest = hashlib.sha256(content).hexdigest()
    return Package(name, "2.1.9-3", "all", digest, len(content), path or f"pool/contrib/z/{name}_2.1.9-3_all.deb")


def lock_of(*packages: Package) -> Lock:
    return Lock("20261121T000000Z", packages)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: the tests look at the answers."""


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address it is served at."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def serve(folder: Path, wanted: Package, content: bytes) -> None:
    path = folder / wanted.path
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = lock_of(package("a"), package("b"))
    lock.write(tmp_path / "x.tsv", written)
    assert lock.read(tmp_path / "x.tsv") == written


@pytest.mark.parametrize(
    ("column", "bad", "message"),
    [(3, "beef", 'sha256 is "beef"'), (4, "big", 'size is "big"'), (5, "/etc/x.deb", 'path is "/etc/x.deb"')],
)
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, column: int, bad: str, message: str) -> None:
    path = tmp_path / "x.tsv"
    lock.write(path, lock_of(package()))
    lines = path.read_text().splitlines()
    row = lines[-1].split("\t")
    row[column] = bad
    path.write_text("\n".join([*lines[:-1], "\t".join(row)]))
    with pytest.raises(Problem, match="line 4") as caught:
        lock.read(path)
    assert message in caught.value.message


def test_a_missing_lock_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(Problem) as caught:
        lock.read(tmp_path / "debian-99.tsv")
    assert "zassay image relock debian-99" in caught.value.hint


def test_the_difference_names_what_came_went_and_changed() -> None:
    changed = Package("b", "2", "all", "0" * 64, 1, "pool/b")
    lines = lock.difference([package("a"), package("b")], [changed, package("c")])
    assert lines == ["- a 2.1.9-3", "~ b 2.1.9-3 -> 2", "+ c 2.1.9-3"]


def test_our_locks_are_whole_and_name_no_host() -> None:
    for name in catalog.names():
        spec = catalog.load(name)
        locked = lock.read(spec.lock)
        names = [each.name for each in locked.packages]
        assert len(names) == len(set(names))
        assert set(spec.packages) <= set(names)
        assert "://" not in spec.lock.read_text()


def test_a_package_is_fetched_checked_and_then_kept(tmp_path: Path, mirror: tuple[Path, str]) -> None:
    folder, base = mirror
    wanted = package(content=b"content")
    serve(folder, wanted, b"content")
    debs.fetch(lock_of(wanted), tmp_path / "debs", [base])
    (folder / wanted.path).unlink()
    debs.fetch(lock_of(wanted), tmp_path / "debs", [base])
    debs.check(lock_of(wanted), tmp_path / "debs")
    assert [path.name for path in (tmp_path / "debs").iterdir()] == [f"{wanted.sha256}.deb"]


def test_a_wrong_checksum_shows_both_and_keeps_nothing(tmp_path: Path, mirror: tuple[Path, str]) -> None:
    folder, base = mirror
    wanted = package(content=b"right")
    serve(folder, wanted, b"wrong")
    with pytest.raises(Problem, match="wrong checksum") as caught:
        debs.fetch(lock_of(wanted), tmp_path / "debs", [base])
    assert wanted.sha256 in caught.value.hint
    assert hashlib.sha256(b"wrong").hexdigest() in caught.value.hint
    assert list((tmp_path / "debs").iterdir()) == []


def test_a_damaged_kept_package_is_found_and_dropped(tmp_path: Path) -> None:
    wanted = package(content=b"right")
    kept = tmp_path / f"{wanted.sha256}.deb"
    kept.write_bytes(b"wrong")
    with pytest.raises(Problem, match="wrong checksum"):
        debs.check(lock_of(wanted), tmp_path)
    assert not kept.exists()


def test_a_vanished_version_says_which_where_and_what_to_do(tmp_path: Path, mirror: tuple[Path, str]) -> None:
    folder, base = mirror
    there, gone = package("there", b"there"), package("gone", b"gone")
    serve(folder, there, b"there")
    with pytest.raises(Problem) as caught:
        debs.fetch(lock_of(there, gone), tmp_path / "debs", [base])
    assert caught.value.message == "1 of 2 locked packages are no longer on the mirror (it has moved on)"
    assert "gone=2.1.9-3 (all): not to be had" in caught.value.hint
    assert f"{base}/{gone.path}: HTTP Error 404" in caught.value.hint
    assert "ZASSAY_DEBIAN_ARCHIVE" in caught.value.hint
    assert "relock" in caught.value.hint


def test_the_next_place_is_asked_when_one_has_it_not(tmp_path: Path, mirror: tuple[Path, str]) -> None:
    folder, base = mirror
    wanted = package(content=b"old", path="pool/z/zfs.deb")
    dated = folder / "debian" / "20261121T000000Z"
    serve(dated, wanted, b"old")
    debs.fetch(lock_of(wanted), tmp_path / "debs", [base, f"{base}/debian/20261121T000000Z"])
    assert (tmp_path / "debs" / f"{wanted.sha256}.deb").read_bytes() == b"old"


def test_offline_fetches_nothing_and_says_so(tmp_path: Path, mirror: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, base = mirror
    wanted = package(content=b"content")
    serve(folder, wanted, b"content")
    monkeypatch.setenv("ZASSAY_OFFLINE", "1")
    with pytest.raises(Problem, match="ZASSAY_OFFLINE=1 forbids"):
        debs.fetch(lock_of(wanted), tmp_path / "debs", [base])
    (tmp_path / "debs" / f"{wanted.sha256}.deb").write_bytes(b"content")
    debs.fetch(lock_of(wanted), tmp_path / "debs", [base])


def test_mirrors_come_from_both_kinds_of_apt_files(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text(
        "deb [signed-by=/k.gpg] http://one.test/debian bookworm main\n# deb http://no/debian x\n"
    )
    (parts / "x.sources").write_text(
        "Types: deb\n# a remark\nURIs: http://two.test/debian-security/\nSuites: s\nSigned-By: /s.gpg\n\n"
        "Types: deb\nURIs: http://three.test/nodesource\nSuites: n\n\n"
        "Enabled: no\nTypes: deb\nURIs: http://four.test/debian\nSuites: n\n"
    )
    assert mirrors.of_host(tmp_path) == [
        mirrors.Mirror("http://one.test/debian", "debian", "/k.gpg"),
        mirrors.Mirror("http://two.test/debian-security", "debian-security", "/s.gpg"),
    ]


def test_a_list_of_mirrors_is_followed(tmp_path: Path) -> None:
    (tmp_path / "debian.list").write_text("http://one.test/debian\n\nhttp://two.test/debian priority:2\n")
    (tmp_path / "sources.list").write_text(f"deb mirror+file://{tmp_path}/debian.list bookworm main\n")
    assert [mirror.url for mirror in mirrors.of_host(tmp_path)] == ["http://one.test/debian", "http://two.test/debian"]


def test_what_a_killed_download_left_is_removed(tmp_path: Path) -> None:
    young, old = tmp_path / ".a.deb.x1", tmp_path / ".b.deb.x2"
    young.touch()
    old.touch()
    os.utime(old, (1, 1))
    debs.fetch(lock_of(), tmp_path, [])
    assert [path.name for path in tmp_path.iterdir()] == [young.name]


def test_the_dated_archive_is_only_what_the_user_named() -> None:
    assert mirrors.archive_bases("T", {}) == []
    assert mirrors.archive_bases("T", {"ZASSAY_DEBIAN_ARCHIVE": "http://a.test/archive/"}) == [
        "http://a.test/archive/debian/T",
        "http://a.test/archive/debian-security/T",
    ]
