"""A measuring process ends in order with a signal, with its supervisor, and with its supervisor's request."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from zassay.machine import supervise
from zassay.machine.leftovers import state_dir

DEADLINE_S = 15.0
# What a measuring process does: wait, and clean up slowly enough for a second signal to come meanwhile.
CHILD = """
import time
from zassay.machine import supervise
supervise.install()
try:
    print("ready", flush=True)
    time.sleep(60)
except supervise.Stopped:
    print("stopped", flush=True)
    time.sleep(1)
    print("clean", flush=True)
"""
# What Snakemake does: name itself to its jobs, have its own idea of SIGTERM, and go on until its jobs have ended.
SUPERVISOR = """
import signal, subprocess, sys, time
from zassay.machine import supervise
supervise.forward()
signal.signal(signal.SIGTERM, lambda *words: None)
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv(supervise.VARIABLE, raising=False)
    return state_dir()


@contextlib.contextmanager
def start(*words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def supervisor() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def lines(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate(timeout=DEADLINE_S)
    return out.split()


def ready(process: subprocess.Popen[str], word: str = "ready") -> None:
    assert process.stdout is not None and process.stdout.readline().strip() == word


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_in_order_and_a_second_does_not_disturb(number: signal.Signals) -> None:
    with start(CHILD) as process:
        ready(process)
        process.send_signal(number)
        ready(process, "stopped")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        assert lines(process) == ["clean"]
        assert process.returncode == 0


def test_the_end_of_the_supervisor_is_a_stop(supervisor: subprocess.Popen[bytes]) -> None:
    with start(CHILD, ZASSAY_SUPERVISOR=str(supervisor.pid)) as process:
        ready(process)
        time.sleep(2 * supervise.POLL_S)
        assert process.poll() is None, "it goes on while its supervisor lives"
        supervisor.kill()
        assert lines(process) == ["stopped", "clean"]


def test_a_request_of_the_supervisor_is_a_stop(supervisor: subprocess.Popen[bytes]) -> None:
    with start(CHILD, ZASSAY_SUPERVISOR=str(supervisor.pid)) as process:
        ready(process)
        supervise.request_path(supervisor.pid).touch()
        assert lines(process) == ["stopped", "clean"]
    assert supervisor.poll() is None


def test_a_supervisor_passes_its_signal_on_although_it_handles_it_otherwise() -> None:
    with start(SUPERVISOR, CHILD) as process:
        assert process.stdout is not None
        int(process.stdout.readline())
        ready(process)
        process.send_signal(signal.SIGTERM)
        assert lines(process) == ["stopped", "clean"]


def test_a_supervisor_that_is_killed_ends_its_jobs_too() -> None:
    with start(SUPERVISOR, CHILD) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        ready(process)
        process.kill()
        assert lines(process) == ["stopped", "clean"]
    assert not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_text()


def test_old_requests_are_forgotten_and_live_ones_kept(supervisor: subprocess.Popen[bytes]) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait(DEADLINE_S)
    for pid in (gone.pid, supervisor.pid, os.getpid()):
        supervise.request_path(pid).touch()
    supervise._forget_old_requests()
    assert supervise.request_path(supervisor.pid).exists()
    assert not supervise.request_path(gone.pid).exists() and not supervise.request_path(os.getpid()).exists()


def test_without_a_supervisor_nobody_is_watched() -> None:
    with start(CHILD + "import threading\nprint(threading.active_count())") as process:
        ready(process)
        process.send_signal(signal.SIGTERM)
        assert lines(process) == ["stopped", "clean", "1"]


def test_forward_names_this_process_to_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(supervise.VARIABLE, "0")
    # Beside the main thread no signal can be waited for, and none is.
    thread = threading.Thread(target=supervise.forward)
    thread.start()
    thread.join(DEADLINE_S)
    assert os.environ[supervise.VARIABLE] == str(os.getpid())
    assert supervise._alive(os.getpid())
