"""Is the base the same whoever builds it? Two builds in unlike surroundings, compared byte by byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from zassay.image import base, ext4
from zassay.image.build import check_host, make_root
from zassay.image.catalog import ImageSpec
from zassay.image.steps import Steps


@dataclass(frozen=True)
class Surroundings:
    """What must not matter: time zone, locale and umask of the one who builds."""

    env: dict[str, str]
    umask: int


FIRST = Surroundings({"TZ": "UTC", "LC_ALL": "C", "LANG": "C"}, 0o022)
SECOND = Surroundings({"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}, 0o027)


def compare(spec: ImageSpec, steps: Steps, show: Callable[[str], None] = print) -> bool:
    """Build the base twice and show both digests of tar and ext4; False, and the members that differ, if they do."""
    check_host(spec)
    with ExitStack() as stack:
        folders = [stack.enter_context(base.workspace(f"{spec.name}-twice{number}")) for number in (1, 2)]
        made = [_build(spec, steps, folder, where) for folder, where in zip(folders, (FIRST, SECOND), strict=True)]
        for kind in ("tar", "ext4"):
            first, second = (digests[f"{kind}_sha256"] for digests in made)
            show(f"{kind:4}  {first}\n      {second}  {'equal' if first == second else 'DIFFERENT'}")
        same = made[0] == made[1]
        if not same:
            one, two = (folder / "out" / "root.tar" for folder in folders)
            show("\n".join(["members that differ:", *ext4.differing_members(one, two)]))
    return same


def _build(spec: ImageSpec, steps: Steps, folder: Path, where: Surroundings) -> dict[str, str]:
    before = os.umask(where.umask)
    try:
        for name in ("work", "out"):
            (folder / name).mkdir()
            (folder / name).chmod(0o755)
        digests = make_root(spec, steps, folder / "work", folder / "out", where.env)
        base.remove(folder / "work")
        return digests
    finally:
        os.umask(before)
