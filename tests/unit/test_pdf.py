"""The report on paper: the same bytes each time, links as they are in the page, and nothing fetched."""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path

import pytest

from zassay import cli
from zassay.errors import Problem
from zassay.pdf import print_page

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A report</title></head><body><h1>Report</h1>
<p>It took <a class="num" href="fio/dataset.csv#row=2-4;9">12 s</a>, <a href="#words">see below</a>.</p>
<p id="words">{extra}</p></body></html>"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(PAGE.format(extra="Words"), encoding="utf-8")
    return path


def contents(pdf: Path) -> str:
    """Everything in a PDF that is text, its compressed streams unpacked."""
    body = pdf.read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", body, re.S)
    unpacked = [zlib.decompressobj().decompress(stream) for stream in streams if stream[:1] == b"\x78"]
    return b"\n".join([body, *unpacked]).decode("latin-1")


def test_it_is_a_pdf_and_the_same_each_time(page: Path, tmp_path: Path) -> None:
    first, again = tmp_path / "first.pdf", tmp_path / "again.pdf"
    print_page(page, first)
    print_page(page, again)
    assert first.read_bytes().startswith(b"%PDF-")
    assert first.read_bytes() == again.read_bytes()


def test_it_does_not_depend_on_where_the_page_is_or_we_are(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "another place" / "report.html"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(page.read_bytes())
    print_page(page, page.with_suffix(".pdf"))
    monkeypatch.chdir(elsewhere.parent)
    print_page(elsewhere, elsewhere.with_suffix(".pdf"))
    assert page.with_suffix(".pdf").read_bytes() == elsewhere.with_suffix(".pdf").read_bytes()


def test_links_stay_as_they_are_in_the_page(page: Path, tmp_path: Path) -> None:
    print_page(page, tmp_path / "report.pdf")
    text = contents(tmp_path / "report.pdf")
    assert "fio/dataset.csv#row=2-4;9" in text
    assert "file:" not in text and str(tmp_path) not in text


PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="#123456"/></svg>'
COLOUR = re.compile(r"0\.07\d* 0\.20\d* 0\.33\d* (rg|scn)")


def test_nothing_is_fetched(page: Path, tmp_path: Path) -> None:
    """Neither a file of the host nor an address: a page brings its pictures with it."""
    secret, out = tmp_path / "secret.svg", tmp_path / "asking.pdf"
    secret.write_text(PICTURE)
    for place, seen in (
        (f"data:image/svg+xml;base64,{base64.b64encode(PICTURE.encode()).decode()}", True),
        (secret.as_uri(), False),
        ("http://127.0.0.1:9/x.png", False),
    ):
        page.write_text(PAGE.format(extra=f'<img src="{place}">'), encoding="utf-8")
        print_page(page, out)
        assert bool(COLOUR.search(contents(out))) is seen, place


def test_a_missing_page_is_one_clear_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Problem, match=r"report\.html: missing"):
        print_page(tmp_path / "report.html", tmp_path / "report.pdf")
    assert cli.main(["pdf", str(tmp_path / "report.html")]) == 1
    assert "missing" in capsys.readouterr().err
    assert not (tmp_path / "report.pdf").exists()


def test_the_verb_writes_beside_the_page(page: Path) -> None:
    assert cli.main(["pdf", str(page)]) in (0, None)
    assert page.with_suffix(".pdf").is_file()
