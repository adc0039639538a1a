"""One place each: nothing but its own file knows the name of a study, an image or a plug-in."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree import ROOT, files, text, written

from zassay import registry

FAMILIES = ("collectors", "filesystems", "gates", "payloads", "workloads")
DATA = ("studies", "config", "images", "machines")
PROSE = (".md", ".cff")
# Names that may stand elsewhere, and why.
ALLOWED = {
    "Makefile": "the commands there are for pasting, so they name an image",
    "bench/analysis.py": "it times the statistics of one study, as a test would",
    "bench/rig.py": "it boots one real image, for tests and benches",
    "bench/run.py": "it times one real image and study, as a test would",
}
OTHER_MEANINGS = {
    "cold": "a gate, and how a study wants the cache",
    "host": "a gate, and the capacity that a profile gives",
    "memory": "a collector, and a class of device",
    "pool": "a collector, and what a study's disks make",
}


def sources() -> list[Path]:
    """Source of the project: all that is written but tests, prose and the data files where names belong."""
    return [path for path in written() if _is_source(path)]


def _is_source(path: Path) -> bool:
    if "tests" in path.parts or path.suffix in PROSE or str(path) in ALLOWED:
        return False
    return not (path.parts[0] in DATA and path.suffix in (".yaml", ".csv", ".tsv", ".txt", ".json"))


# Studies and images: their names are particular enough to be searched for as words


def studies() -> list[str]:
    return sorted(path.parent.name for path in ROOT.glob("studies/*/study.yaml"))


def images() -> list[str]:
    return sorted(path.stem for path in ROOT.glob("images/*.yaml"))


def mentions(name: str, body: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", body) is not None


@pytest.mark.parametrize("name", studies())
def test_a_study_is_known_to_its_folder_alone(name: str) -> None:
    assert [str(path) for path in sources() if path.parts[:2] != ("studies", name) and mentions(name, text(path))] == []


@pytest.mark.parametrize("name", images())
def test_an_image_is_known_to_its_file_alone(name: str) -> None:
    assert [str(path) for path in sources() if mentions(name, text(path))] == []


# Plug-ins: their names are ordinary words (text, cpu, copy), so what counts is code that decides by one or imports one


def plug_ins() -> dict[str, tuple[str, str]]:
    """Name -> family and module, of every class that a registry finds."""
    found: dict[str, tuple[str, str]] = {}
    for family in FAMILIES:
        package = importlib.import_module(f"zassay.{family}")
        for base in [each for each in vars(package).values() if isinstance(each, type)]:
            if base.__module__ == package.__name__:
                found |= {name: (family, cls.__module__) for name, cls in registry.every(package, base).items()}
    return found


def decided_by(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Strings that are compared with, matched on, or looked up in a literal: what makes code know a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            inside = [part for side in (node.left, *node.comparators) for part in _literals(side)]
            yield from ((node.lineno, word) for word in inside)
        elif isinstance(node, ast.MatchValue):
            yield from ((node.value.lineno, word) for word in _literals(node.value))


def _literals(node: ast.AST) -> list[str]:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def leaks(path: str, body: str, known: dict[str, tuple[str, str]]) -> list[str]:
    """Places outside a plug-in's family that decide by its name or import its module.

    A plug-in may import another: a workload says itself whose samples it reads.
    """
    tree = ast.parse(body)
    here = Path(path).parent.name
    names = {name for name, (family, _) in known.items() if family != here} - set(OTHER_MEANINGS)
    modules = {module for _, module in known.values() if here not in FAMILIES}
    found = [*(each for each in decided_by(tree) if each[1] in names), *(each for each in imported(tree) if each[1] in modules)]
    return [f"{path}:{line}: {word}" for line, word in found]


def test_no_code_decides_by_the_name_of_a_plug_in() -> None:
    known = plug_ins()
    assert known
    assert [leak for path in files(".py", under="src/") for leak in leaks(path, text(path), known)] == []


def test_no_r_decides_by_the_name_of_a_plug_in() -> None:
    words = "|".join(map(re.escape, plug_ins()))
    decides = re.compile(rf"""(==|!=|%in%\s*c\(|switch\([^)]*?)\s*["']({words})["']""")
    paths = [path for path in sources() if path.suffix in (".R", ".Rmd") or path.parts[:2] == ("analysis", "exec")]
    assert [f"{path}: {hit.group()}" for path in paths for hit in decides.finditer(text(path))] == []


KNOWN = {"zfs": ("filesystems", "zassay.filesystems.zfs")}


@pytest.mark.parametrize(
    "bad",
    [
        'if settings.filesystem == "zfs": pass',
        'kind in ("zfs", "ext4")',
        'match kind:\n    case "zfs": pass',
        "from zassay.filesystems import zfs",
        "import zassay.filesystems.zfs",
    ],
)
def test_a_leak_is_found(bad: str) -> None:
    assert len(leaks("src/zassay/measure.py", bad, KNOWN)) == 1


def test_a_name_in_its_own_family_is_no_leak() -> None:
    assert leaks("src/zassay/filesystems/zfs.py", 'x == "zfs"', KNOWN) == []


def test_what_is_allowed_is_still_needed() -> None:
    names = [*studies(), *images()]
    assert [path for path in ALLOWED if not any(mentions(name, text(path)) for name in names)] == []
