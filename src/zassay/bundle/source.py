"""The workflow as it was when it ran: its files, its commit, and whether they agree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zassay.errors import Problem
from zassay.proc import run

GIT_S = 60.0
# Generated or private to this host, whatever .gitignore says. A folder called .venv-anything is one too.
NOT_SOURCE = {
    ".git",
    ".snakemake",
    "results",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
}


@dataclass(frozen=True)
class Source:
    """Paths relative to the root, sorted; ``commit`` is empty without git; ``time`` is the commit's, s since 1970."""

    files: tuple[str, ...]
    commit: str = ""
    dirty: bool = False
    time: int | None = None

    @property
    def label(self) -> str:
        if not self.commit:
            return "unknown (no git commit: the files are as found)"
        return f"{self.commit}{' with uncommitted changes (the files are as found)' if self.dirty else ''}"


def read_source(root: Path) -> Source:
    """The files git knows or would add; without git, every file that is not generated."""
    if not _own_checkout(root):
        return Source(tuple(sorted(_walk(root))))
    tracked = _git(root, "ls-files", "-z", "--cached").split("\0")
    others = _git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    listed = {*tracked, *(name for name in others if is_source(name))} - {""}
    files = sorted(name for name in listed if os.path.lexists(root / name))
    commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD", check=False).strip()
    if not commit:
        return Source(tuple(files))
    changed = _git(root, "status", "--porcelain", "--", ".", ":(exclude)results").strip()
    return Source(tuple(files), commit, bool(changed), int(_git(root, "show", "-s", "--format=%ct", commit)))


def is_source(name: str) -> bool:
    parts = name.split("/")
    return not any(part in NOT_SOURCE or part.startswith(".venv") or part.endswith(".egg-info") for part in parts)


def _own_checkout(root: Path) -> bool:
    """False too when ``root`` merely lies inside some other repository: its commit would say nothing about us."""
    try:
        top = _git(root, "rev-parse", "--show-toplevel", check=False).strip()
    except OSError:
        return False
    return os.path.realpath(top) == os.path.realpath(root) if top.startswith("/") else False


def _git(root: Path, *words: str, check: bool = True) -> str:
    done = run(["git", "-C", str(root), *words], deadline_s=GIT_S, check=False)
    if check and done.code != 0:
        raise Problem(f"git {words[0]} failed in {root}", done.out)
    return done.out if done.code == 0 else ""


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        prefix = Path(folder).relative_to(root).as_posix()
        folders[:] = [name for name in folders if is_source(name)]
        yield from (name if prefix == "." else f"{prefix}/{name}" for name in names if is_source(name))
