"""Steps of a build: each has a name, a line with the time on the screen, a log of its own and a deadline."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from zassay import proc
from zassay.errors import Problem

TAIL_BYTES = 8192


def contained(argv: Sequence[str], *, mounts: bool = False) -> list[str]:
    """A command in a process namespace of its own: whatever it started ends with it, even when we are killed.

    With ``mounts`` (root only) what it mounts is seen and outlived by nobody either.
    """
    own = ["--mount", "--mount-proc"] if mounts else []
    user = [] if os.getuid() == 0 else ["--user", "--map-current-user"]
    return ["unshare", *user, "--pid", "--fork", "--kill-child", *own, *argv]


@dataclass
class Steps:
    """Tells how far the build of one image is; ``seconds`` keeps what each step took."""

    image: str
    logs: Path
    started: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)

    def say(self, text: str) -> None:
        print(f"image {self.image} [{time.monotonic() - self.started:6.1f} s] {text}", file=sys.stderr, flush=True)

    def log(self, step: str) -> Path:
        return self.logs / f"{step}.log"

    @contextmanager
    def step(self, step: str, text: str) -> Iterator[None]:
        """Say what begins; on a Problem say which step it was and where it can be repeated."""
        self.say(f"{step}: {text}")
        begin = time.monotonic()
        try:
            yield
        except Problem as problem:
            raise self._failed(step, problem.message, problem.hint) from problem
        except OSError as error:
            raise self._failed(step, str(error), "no room? see: df -h") from error
        self.seconds[step] = self.seconds.get(step, 0.0) + time.monotonic() - begin

    def _failed(self, step: str, message: str, hint: str) -> Problem:
        read = f"read {self.log(step)}, then " if self.log(step).is_file() else ""
        fix = f"next: {read}repeat with: zassay image build {self.image}"
        return Problem(f"image {self.image}, step {step}: {message}", f"{hint}\n{fix}")

    def run(
        self,
        step: str,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: bytes | None = None,
    ) -> None:
        """Run a command whose output goes to the step's log while it runs."""
        log = self.log(step)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as handle:
            handle.write(f"$ {shlex.join(argv)}\n")
        logged = ["sh", "-c", 'exec "$@" >>"$0" 2>&1', str(log.absolute()), *argv]
        done = proc.run(logged, deadline_s=deadline_s, env=env, cwd=cwd, stdin=stdin, check=False)
        if done.code != 0:
            raise Problem(f"exit code {done.code}: {shlex.join(argv)}", proc.failure_hint(_tail(log), log))


def _tail(path: Path) -> str:
    """The end of a log; it may have been cleaned away meanwhile."""
    if not path.is_file():
        return ""
    with path.open("rb") as handle:
        handle.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return handle.read().decode(errors="replace")
