"""The files of the checkout that somebody wrote: what the tests about the tree look at."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {".git", ".snakemake", "__pycache__"}
RECORDED = ("tests/golden/", "tests/replay/")  # kept as it was printed


@functools.cache
def written() -> tuple[Path, ...]:
    """Tracked files, and new ones that git would take; relative to the root. Without git: all that is not generated."""
    if (ROOT / ".git").exists():
        ask = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        out = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
        names = sorted(set(filter(None, out.split("\0"))))
    else:
        names = sorted(_walk())
    return tuple(Path(name) for name in names if (ROOT / name).is_file())


def _walk() -> Iterator[str]:
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in GENERATED and not name.startswith(".venv")]
        here = Path(folder).relative_to(ROOT)
        if here.parts[:1] != ("results",):
            yield from (str(here / name) for name in names)


def files(*suffixes: str, under: str = "") -> list[str]:
    """Written files by suffix, recorded output left out."""
    return [
        str(path)
        for path in written()
        if path.suffix in suffixes and str(path).startswith(under) and not str(path).startswith(RECORDED)
    ]


def shell_scripts() -> list[str]:
    """By suffix or by first line."""
    return [str(path) for path in written() if not str(path).startswith(RECORDED) and _is_shell(path)]


def _is_shell(path: Path) -> bool:
    if path.suffix == ".sh":
        return True
    with (ROOT / path).open("rb") as handle:
        first = handle.readline(80)
    return first.startswith(b"#!") and first.split()[-1].split(b"/")[-1] in (b"sh", b"bash", b"dash")


def text(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")
