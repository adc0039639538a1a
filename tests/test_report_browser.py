"""The report in a real browser, as a phone and as a desktop show it: it fits, it sorts, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import browser as chromium
import demo
import pytest

PHONE, DESKTOP = 390, 1280
TABLES = "Array.from(document.querySelectorAll('table.sortable'))"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded campaign with its report, or one made up by arithmetic where none is recorded."""
    if shutil.which(chromium.COMMAND) is None and not os.environ.get("CI"):
        pytest.skip(f"{chromium.COMMAND} is not installed; run: make setup-test")
    root = demo.project(tmp_path_factory.mktemp("browser") / "project")
    return demo.analyse(demo.recorded(root) if demo.RECORDING.is_file() else demo.invented(root)) / "results"


@pytest.fixture(scope="module")
def page(results: Path) -> Path:
    return results / "report.html"


@pytest.fixture(scope="module")
def tab(page: Path) -> Iterator[chromium.Browser]:
    with chromium.browser() as found:
        yield found


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_page_fits_its_window(tab: chromium.Browser, page: Path, width: int) -> None:
    tab.open(page, width)
    assert tab.value("document.documentElement.scrollWidth") <= width
    wider = tab.value(
        "Array.from(document.querySelectorAll('body *')).filter(e => !e.closest('.scroll, .word, thead, style, script')"
        f" && e.getBoundingClientRect().right > {width} + 0.5).map(e => e.outerHTML.slice(0, 120))"
    )
    assert wider == []
    assert tab.troubles == []


def test_a_page_that_does_not_fit_is_found(tab: chromium.Browser, page: Path) -> None:
    tab.open(page, PHONE)
    tab.value("document.querySelector('h1').style.width = '1200px'")
    assert tab.value("document.documentElement.scrollWidth") > PHONE


@pytest.mark.parametrize(("width", "height"), [(PHONE, 844), (DESKTOP, 800)])
def test_the_first_screen_concludes(tab: chromium.Browser, page: Path, width: int, height: int) -> None:
    """Title, conclusion and how each source came out, before anybody scrolls."""
    tab.open(page, width, height)
    for selector in ("h1", ".conclusion", "table.summary"):
        assert tab.value(f"document.querySelector('{selector}').getBoundingClientRect().bottom") <= height, selector
    assert re.match(r"Of the \d+ claims of .* are .*\.$", tab.value("document.querySelector('.conclusion').textContent.trim()"))


def test_every_table_sorts_both_ways(tab: chromium.Browser, page: Path) -> None:
    tab.open(page, DESKTOP)
    assert tab.value(f"{TABLES}.length") >= 5
    unsorted = tab.value(
        "(() => { const wrong = [];"
        "const key = (r, c) => r.cells[c].dataset.key !== undefined ? r.cells[c].dataset.key : r.cells[c].textContent.trim();"
        f"for (const table of {TABLES}) for (const head of table.tHead.rows[0].cells) {{"
        "  for (const turn of ['ascending', 'descending']) {"
        "    head.querySelector('button').click();"
        "    const keys = Array.from(table.tBodies[0].rows).map(r => key(r, head.cellIndex)).filter(k => k !== '');"
        "    const numbers = keys.every(k => !isNaN(Number(k)));"
        "    const steps = keys.slice(1).map((k, i) => numbers ? k - keys[i] : k.localeCompare(keys[i], 'en', {numeric: true}));"
        "    const good = steps.every(s => turn === 'ascending' ? s >= 0 : s <= 0);"
        "    const marks = Array.from(table.tHead.rows[0].cells).filter(h => h.getAttribute('aria-sort') !== 'none');"
        "    if (!good || head.getAttribute('aria-sort') !== turn || marks.length !== 1)"
        "      wrong.push([table.className, head.textContent, turn, keys.slice(0, 5)]);"
        "  } } return wrong; })()"
    )
    assert unsorted == []
    assert tab.troubles == []


def test_sorting_keeps_every_row(tab: chromium.Browser, page: Path) -> None:
    tab.open(page, DESKTOP)
    rows = f"{TABLES}.map(t => Array.from(t.tBodies[0].rows).map(r => r.textContent).sort().join('|'))"
    before = tab.value(rows)
    tab.value("document.querySelectorAll('thead button').forEach(b => b.click())")
    assert tab.value(rows) == before


def test_a_table_sorts_from_the_keyboard(tab: chromium.Browser, page: Path) -> None:
    tab.open(page, DESKTOP)
    head = "document.querySelector('table.claims th')"
    for key, state in (("Enter", "ascending"), ("Enter", "descending"), ("Space", "ascending")):
        tab.value(f"{head}.querySelector('button').focus()")
        tab.press(key)
        assert tab.value(f"{head}.getAttribute('aria-sort')") == state


def test_without_scripts_it_is_a_plain_page(tab: chromium.Browser, page: Path) -> None:
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(page, DESKTOP)
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)
    assert tab.value("document.querySelectorAll('button').length") == 0
    assert tab.value(f"{TABLES}.every(t => t.tHead.rows[0].cells.length > 1 && t.tBodies[0].rows.length > 0)")


def test_links_within_the_page_resolve(tab: chromium.Browser, page: Path) -> None:
    tab.open(page, DESKTOP)
    lost = "Array.from(document.querySelectorAll('a[href^=\"#\"]')).map(a => a.getAttribute('href').slice(1))"
    assert tab.value(f"{lost}.filter(id => !document.getElementById(id))") == []
    assert tab.value(f"{lost}.length") > 100


def test_links_out_of_the_page_lead_to_files_and_rows(tab: chromium.Browser, page: Path, results: Path) -> None:
    tab.open(page, DESKTOP)
    links = set(tab.value("Array.from(document.querySelectorAll('a[href]')).map(a => a.getAttribute('href'))"))
    outside = sorted(link for link in links if not link.startswith("#"))
    assert len(outside) > 100
    assert [link for link in outside if not leads_somewhere(results, link)] == []


def leads_somewhere(results: Path, link: str) -> bool:
    name, _, fragment = link.partition("#")
    path = results / unquote(name)
    if name.endswith("/") or not path.is_file():
        return path.is_dir() and any(path.iterdir())
    if not fragment.startswith(("row=", "L")):
        return True
    return max(map(int, re.findall(r"\d+", fragment))) <= len(path.read_bytes().splitlines())


def test_a_link_that_leads_nowhere_is_found(results: Path) -> None:
    assert leads_somewhere(results, "cited/claims.csv#row=2")
    for bad in ("cited/none.csv#row=2", "cited/claims.csv#row=99999", f"{demo.STUDY}/raw/none/", "#"[1:] + "x.html"):
        assert not leads_somewhere(results, bad), bad


BARE_NUMBERS = """(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) {
    const text = walk.currentNode, parent = text.parentElement;
    if (!/[0-9]/.test(text.data) || parent.closest('script, style')) continue;
    const link = parent.closest('a.num');
    const named = parent.closest('code.id') && /[A-Za-z]|^\\d+\\.\\d+\\.\\d|^[0-9a-f]{8,}$/.test(text.data);
    if (!(link && link.getAttribute('href')) && !named && !parent.closest('time')) found.push(text.data.trim());
  }
  return found; })()"""


def test_every_number_a_reader_sees_has_a_source(tab: chromium.Browser, page: Path) -> None:
    """A second opinion on what the build checks: here the browser says what text there is."""
    tab.open(page, DESKTOP)
    assert tab.value(BARE_NUMBERS) == []
    tab.value("document.querySelector('main').append('It took 12 s')")
    assert tab.value(BARE_NUMBERS) == ["It took 12 s"]


def test_a_link_into_something_folded_opens_it(tab: chromium.Browser, page: Path) -> None:
    tab.open(page, PHONE)
    tab.value("document.querySelector('details.more').innerHTML += '<p id=\"inside\">here</p>'")
    tab.value("new Promise(done => { addEventListener('hashchange', () => setTimeout(done)); location.hash = 'inside'; })")
    assert tab.value("document.querySelector('details.more').open")
