"""What an ended zassay left is found and cleared, a live one is left alone, and one measurement at a time has the host."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.machine import hostlock, leftovers

DEADLINE_S = 20.0


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder and a lock of this test's own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("ZASSAY_LOCK", str(tmp_path / "lock"))
    return leftovers.state_dir()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A live process that stands for a guest."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def ended() -> tuple[str, str]:
    """The pid and start time of a process that is no more."""
    with subprocess.Popen(["sleep", "60"]) as process:
        start = leftovers.start_time(process.pid)
        process.kill()
    return str(process.pid), start


def note(state: Path, scratch: Path, owner: tuple[str, str], guest: tuple[str, str] = ("", "")) -> Path:
    path = state / f"guest-{owner[0]}-{scratch.name}.json"
    fields = {"owner_pid": owner[0], "owner_start": owner[1], "scratch": str(scratch)}
    path.write_text(json.dumps(fields | ({"guest_pid": guest[0], "guest_start": guest[1]} if guest[0] else {})))
    return path


def scratch_of(tmp_path: Path, name: str = "zassay-block-x") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "ram").write_bytes(b"x")
    return folder


def identity(pid: int) -> tuple[str, str]:
    return str(pid), leftovers.start_time(pid)


# Leftovers


def test_scratch_and_record_are_there_meanwhile_and_gone_afterwards(tmp_path: Path, state: Path) -> None:
    with leftovers.scratch(tmp_path / "base", "disk") as (folder, record):
        assert folder.name.startswith("zassay-disk-") and folder.parent == tmp_path / "base"
        (found,) = state.glob("guest-*.json")
        assert json.loads(found.read_text()) == {
            "owner_pid": str(os.getpid()),
            "owner_start": leftovers.start_time(os.getpid()),
            "scratch": str(folder),
        }
        record.guest(os.getpid())
        assert json.loads(found.read_text())["guest_pid"] == str(os.getpid())
        assert leftovers.sweep() == []
        assert folder.is_dir()
    assert not folder.exists() and list(state.iterdir()) == []


def test_scratch_is_removed_when_its_block_fails(tmp_path: Path, state: Path) -> None:
    with pytest.raises(Problem), leftovers.scratch(tmp_path, "disk") as (folder, _):
        raise Problem("no")
    assert not folder.exists() and list(state.iterdir()) == []


def test_the_guest_and_scratch_of_an_ended_owner_are_cleared(
    tmp_path: Path, state: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    folder = scratch_of(tmp_path)
    path = note(state, folder, ended(), identity(sleeper.pid))
    said = leftovers.sweep()
    assert said == [f"ended a guest left by an earlier run (pid {sleeper.pid})", f"removed {folder}"]
    assert sleeper.wait(DEADLINE_S) == -9
    assert not folder.exists() and not path.exists()
    assert leftovers.sweep() == []


def test_a_live_owner_keeps_what_it_has(tmp_path: Path, state: Path, sleeper: subprocess.Popen[bytes]) -> None:
    folder = scratch_of(tmp_path)
    path = note(state, folder, identity(os.getpid()), identity(sleeper.pid))
    assert leftovers.sweep() == []
    assert sleeper.poll() is None and folder.is_dir() and path.is_file()


def test_an_owner_s_number_that_came_round_again_is_not_the_owner(tmp_path: Path, state: Path) -> None:
    folder = scratch_of(tmp_path)
    note(state, folder, (str(os.getpid()), "1"))
    assert leftovers.sweep() == [f"removed {folder}"]


def test_a_stranger_with_the_guest_s_number_is_left_alone(tmp_path: Path, state: Path, sleeper: subprocess.Popen[bytes]) -> None:
    folder = scratch_of(tmp_path)
    note(state, folder, ended(), (str(sleeper.pid), "1"))
    assert leftovers.sweep() == [f"removed {folder}"]
    assert sleeper.poll() is None


def test_only_folders_of_our_own_making_are_removed(tmp_path: Path, state: Path) -> None:
    folder = scratch_of(tmp_path, "precious")
    path = note(state, folder, ended())
    assert leftovers.sweep() == []
    assert folder.is_dir() and not path.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "[1]", "{}", '{"owner_pid": ""}'])
def test_a_record_that_a_power_cut_spoiled_stops_nobody(tmp_path: Path, state: Path, text: str) -> None:
    path = state / "guest-1-zassay-x.json"
    path.write_text(text)
    assert leftovers.sweep() == []
    assert not path.exists()


def test_start_times_tell_processes_apart(sleeper: subprocess.Popen[bytes]) -> None:
    assert leftovers.start_time(sleeper.pid) == leftovers.start_time(sleeper.pid) != ""
    assert leftovers.start_time(int(ended()[0])) == ""


def test_a_process_that_ended_and_was_not_waited_for_is_no_guest(tmp_path: Path, state: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        guest = identity(process.pid)
        folder = scratch_of(tmp_path)
        note(state, folder, ended(), guest)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert leftovers.start_time(process.pid) == ""
        assert leftovers.sweep() == [f"removed {folder}"]


def test_the_state_folder_is_private(state: Path) -> None:
    assert state.stat().st_mode & 0o777 == 0o700 and state.name == f"zassay-{os.getuid()}"


# The lock

HOLD = """
import sys, time
from zassay.machine import hostlock
with hostlock.alone(lambda text: print(text, flush=True)):
    print("mine", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def holding() -> Iterator[subprocess.Popen[str]]:
    """Another process that wants the host, and has it until its input ends."""
    words = [sys.executable, "-c", HOLD]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    with holding() as process:
        assert heard(process) == "mine"
        yield process


def test_a_free_host_is_taken_without_a_word() -> None:
    said: list[str] = []
    with hostlock.alone(said.append):
        assert hostlock.path().read_text() == f"pid {os.getpid()}\n"
    with hostlock.alone(said.append):
        pass
    assert said == []


def test_a_host_that_stays_taken_is_a_problem_that_names_who(holder: subprocess.Popen[str]) -> None:
    said: list[str] = []
    with pytest.raises(
        Problem, match=rf"another measurement has this host \(pid {holder.pid}\), and did not end in time"
    ) as caught:
        with hostlock.alone(said.append, wait_s=0.3):
            pass
    assert str(hostlock.path()) in caught.value.hint
    assert said == [f"another measurement has this host (pid {holder.pid}); waiting for it"]


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_a_waiting_process_gets_the_host_when_the_other_ends(holder: subprocess.Popen[str], how: str) -> None:
    with holding() as waiting:
        assert heard(waiting) == f"another measurement has this host (pid {holder.pid}); waiting for it"
        assert holder.stdin is not None
        holder.kill() if how == "is killed" else holder.stdin.close()
        assert heard(waiting) == "mine"
        assert hostlock.path().read_text() == f"pid {waiting.pid}\n"


def test_everybody_may_take_the_lock_whatever_the_umask() -> None:
    before = os.umask(0o077)
    try:
        with hostlock.alone(lambda text: None):
            assert hostlock.path().stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)


def test_a_lock_that_cannot_be_opened_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(hostlock.os, "open", refuse)
    with pytest.raises(Problem, match="the lock cannot be opened: Permission denied"), hostlock.alone(print):
        pass


def test_the_lock_is_given_back_when_its_block_fails() -> None:
    with pytest.raises(Problem), hostlock.alone(lambda text: None):
        raise Problem("no")
    with hostlock.alone(lambda text: None, wait_s=0.1):
        pass
