"""Laws of the tree that no linter knows: sizes, words, hosts, what rules and R may do. Each is shown to find a fault."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tree import ROOT, files, text, written

LARGEST = 16 << 10
CODE = (".py", ".R", ".smk", ".sh", ".pl", ".hcl")
# Put together here, so that this file does not hold what it forbids.
UNFINISHED = re.compile(rf"\b({'TO'}{'DO'}|{'FIX'}{'ME'})\b")
DEBIAN, PYTHON = "debian" + ".org", "python" + "hosted.org"
WELL_KNOWN = {
    *(f"{name}.{DEBIAN}" for name in ("deb", "ftp", "security", "snapshot", "archive")),
    *("py" + "pi.org", f"files.{PYTHON}", "cloud.r-" + "project.org", "cran.r-" + "project.org", "registry.npm" + "js.org"),
}
NOT_A_SHELL_COMMAND = re.compile(r"^\s+(run|script|shadow|notebook|wrapper|cwl)\s*:", re.M)
BEYOND_FILES = re.compile(
    r"\b(system2?|shell|pipe|url|download\.file|socketConnection|install\.packages|browseURL|curl\w*|GET|POST)\s*\("
    r"|\b(processx|callr|reticulate|httr2?|curl|RCurl)::"
)
ANOTHER_S_HOME = re.compile(r"(?<![\w.])/(?:work|home/\w+)/")


def offenders(pattern: re.Pattern[str], paths: Iterable[str | Path]) -> list[str]:
    """file:line of each match."""
    found = []
    for path in paths:
        body = text(path)
        found += [f"{path}:{body.count(chr(10), 0, hit.start()) + 1}: {hit.group().strip()}" for hit in pattern.finditer(body)]
    return found


def readable() -> list[Path]:
    """Everything written but licences (not ours to change) and recorded bundles (not text)."""
    return [path for path in written() if path.parts[0] not in ("LICENSE", "LICENSES") and path.suffix not in (".zip", ".gz")]


def test_no_file_of_code_is_large() -> None:
    sizes = {name: (ROOT / name).stat().st_size for name in files(*CODE)}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_nothing_is_left_unfinished() -> None:
    assert offenders(UNFINISHED, readable()) == []


def test_no_path_of_somebody_s_machine() -> None:
    assert offenders(ANOTHER_S_HOME, files(*CODE, ".yaml", ".toml", ".md", ".Rmd")) == []


def hosts_of_this_machine() -> set[str]:
    """Where this host's apt and pip get their packages: its affair alone, and perhaps its secret."""
    apt, home = Path("/etc/apt"), Path.home()
    places = [apt / "sources.list", *apt.glob("sources.list.d/*.list"), *apt.glob("sources.list.d/*.sources")]
    places += [Path("/etc/pip.conf"), home / ".config/pip/pip.conf", home / ".pip/pip.conf"]
    lines = [line for place in places for line in lines_of(place)]
    lines += [line for place in apt.glob("apt.conf.d/*") for line in lines_of(place) if "proxy" in line.lower()]
    lines += [value for name, value in os.environ.items() if re.match(r"(PIP|UV)_\w*(INDEX|LINKS|HOST)", name)]
    return hosts_in("\n".join(lines))


def lines_of(place: Path) -> list[str]:
    return place.read_text(errors="replace").splitlines() if os.access(place, os.R_OK) else []


def hosts_in(configured: str) -> set[str]:
    """Host names with a dot; ``user:password@`` and ports are no part of them."""
    found = re.findall(r"\w://(?:[^\s/@]*@)?([\w-]+(?:\.[\w-]+)+)", configured)
    return {host.lower() for host in found if not host.startswith("127.")}


def test_no_file_names_a_package_registry() -> None:
    pattern = re.compile("|".join(map(re.escape, sorted(WELL_KNOWN | hosts_of_this_machine()))), re.I)
    assert [each.rpartition(":")[0] for each in offenders(pattern, readable())] == []


def test_hosts_are_found_in_any_configuration() -> None:
    configured = "deb [x=y] https://me:secret@mirror.example.net:8080/debian bookworm\nindex-url=http://pkg.example.com/simple\n"
    assert hosts_in(configured) == {"mirror.example.net", "pkg.example.com"}


def test_each_rule_is_one_shell_command() -> None:
    assert offenders(NOT_A_SHELL_COMMAND, [*files(".smk"), *(path for path in written() if path.name == "Snakefile")]) == []


def test_r_reads_only_files() -> None:
    """Tests may start Rscript; the analysis itself neither starts programs nor opens connections."""
    analysis = [name for name in files(".R", ".Rmd", under="analysis/") if not name.startswith("analysis/tests/")]
    entry_points = [str(path) for path in written() if path.parts[:2] == ("analysis", "exec")]
    assert offenders(BEYOND_FILES, {*analysis, *entry_points}) == []


@pytest.mark.parametrize(
    ("pattern", "bad"),
    [
        (UNFINISHED, "# TO" + "DO: later"),
        (ANOTHER_S_HOME, 'open("/ho' + 'me/me/x")'),
        (NOT_A_SHELL_COMMAND, "rule a:\n    script: 'x.py'\n"),
        (NOT_A_SHELL_COMMAND, "rule a:\n    run:\n        f()\n"),
        (BEYOND_FILES, "x <- system2('ls')"),
        (BEYOND_FILES, "readLines(url('x'))"),
        (BEYOND_FILES, "httr::content(x)"),
    ],
)
def test_each_law_finds_a_fault(pattern: re.Pattern[str], bad: str, tmp_path: Path) -> None:
    path = tmp_path / "bad"
    path.write_text(f"fine\n{bad}\n")
    assert len(offenders(pattern, [path])) == 1


def listed(path: str) -> list[str]:
    """Package names of a list: the first word of a line, without version, options or remarks."""
    lines = [re.sub(r"#.*", "", line).strip() for line in text(path).splitlines()]
    return [re.split(r"[=<>\s]", line)[0] for line in lines if line and not line.startswith("-")]


LISTS = [*files(".in", under="requirements/"), "config/host-packages.txt", "config/test-packages.txt"]


@pytest.mark.parametrize("path", LISTS)
def test_every_dependency_is_justified(path: str) -> None:
    said = text("CONTRIBUTING.md")
    assert [name for name in listed(path) if f"`{name}`" not in said] == []


def test_every_justified_package_is_a_dependency() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", text("CONTRIBUTING.md"), re.M)
    justified = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert justified - {name for path in LISTS for name in listed(path)} == set()


@pytest.mark.parametrize("path", files(".in", under="requirements/"))
def test_every_list_has_its_lock(path: str) -> None:
    pinned = set(re.findall(r"^([A-Za-z0-9._-]+)==", text(path.removesuffix(".in") + ".lock"), re.M))
    assert {name.lower() for name in listed(path)} - pinned == set()


DISTRIBUTIONS = {"yaml": "PyYAML"}


def test_what_is_imported_is_declared() -> None:
    nodes = [node for path in files(".py", under="src/") for node in ast.walk(ast.parse(text(path)))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    ours = {name.split(".")[0] for name in imported} - sys.stdlib_module_names - {"zassay"}
    assert {DISTRIBUTIONS.get(name, name) for name in ours} - set(listed("requirements/run.in")) == set()
