"""What a build started ends with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zassay.image.steps import contained

DEADLINE_S = 20.0
PROGRAM = """
import sys
from pathlib import Path
from zassay.image.steps import Steps, contained
grandchild = ["sh", "-c", "setsid sleep 300 & echo started; wait"]
Steps("x", Path(sys.argv[1])).run("step", contained(grandchild), deadline_s=200)
"""


def namespaces_work() -> bool:
    return subprocess.run(contained(["true"]), capture_output=True, timeout=DEADLINE_S, check=False).returncode == 0


def sleepers(mark: str) -> list[int]:
    """Processes that carry the test's mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes() and (path.parent / "cmdline").read_bytes() == b"sleep\x00300\x00":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def until(condition: object) -> bool:
    assert callable(condition)
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not namespaces_work(), reason="this host forbids process namespaces")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_build_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    mark = f"ZASSAY_TEST_MARK={tmp_path}"
    env = {**os.environ, **dict([mark.split("=", 1)]), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], env=env, stderr=subprocess.DEVNULL) as builder:
        assert until(lambda: sleepers(mark))
        builder.send_signal(number)
        builder.wait(DEADLINE_S)
    assert until(lambda: not sleepers(mark))
