"""A guest in memory: it answers scripts as a real one did, and can be told to fail at one of them."""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from golden_record import GOLDEN

from zassay import files
from zassay.errors import Problem
from zassay.machine.channel import Reply


def archive(members: dict[str, bytes] | None = None) -> bytes:
    """A tar as the guest's own makes it: a folder, then files by relative names; by default of the golden record."""
    golden = {f"./{path.name}": path.read_bytes() for path in sorted((GOLDEN / "guest").iterdir())}
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        folder = tarfile.TarInfo("./")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, data in (golden if members is None else members).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return target.getvalue()


class FakeQmp:
    def execute(self, command: str, **arguments: Any) -> Any:
        known = {"query-blockstats": files.read_json(GOLDEN / "host.json")["blockstats"], "query-kvm": {"enabled": False}}
        return known[command]


class FakeGuest:
    """``heard`` keeps what was asked, in order; ``fails`` gives a Reply or raises for a script it knows, None otherwise."""

    def __init__(self, folder: Path, fails: Callable[[str], Reply | None] = lambda script: None) -> None:
        self.heard: list[tuple[str, str]] = []
        self.fails = fails
        self.qmp, self.argv, self.pid = FakeQmp(), ("qemu", "-x"), os.getpid()
        self.tar = archive()
        self.console = folder / "console.log"
        folder.mkdir(parents=True, exist_ok=True)
        self.console.write_text("")
        self.console.with_suffix(".qemu.log").write_text("warning: x\n")

    def run(self, script: str, deadline_s: float) -> Reply:
        self.heard.append(("run", script))
        said = self.fails(script)
        clock = f"{time.time():.6f}".encode() if "EPOCHREALTIME\n" in script and "mark write" not in script else b""
        return said or Reply(0, clock, b"", 0.01, 0.02)

    def must(self, script: str, deadline_s: float) -> Reply:
        self.heard.append(("must", script))
        if said := self.fails(script):
            raise Problem(f"guest command ended with code {said.code}: {script}")
        return Reply(0, self.tar if script.startswith("tar ") else b"", b"", 0.01, 0.02)

    def put(self, path: str, data: bytes, mode: int = 0o644) -> Reply:
        self.heard.append(("put", path))
        return Reply(0, b"", b"", 0.0, 0.0)

    def alive(self) -> bool:
        return True


def failing(word: str, code: int = 1, err: bytes = b"it went wrong\n") -> Callable[[str], Reply | None]:
    """Fails at the first script that holds the word."""
    return lambda script: Reply(code, b"", err, 0.1, 0.1) if word in script else None
