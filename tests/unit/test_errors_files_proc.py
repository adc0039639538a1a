"""The ground everything stands on: errors people can read, whole files, processes that end, verbs found by looking."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zassay import cli, files, proc
from zassay.errors import Problem, unknown

STUBBORN = "trap '' TERM; echo $$; while :; do sleep 0.05; done"


# errors


def test_a_problem_prints_its_hint_indented() -> None:
    assert str(Problem("x.yaml: no such key", "known keys: a, b\nsee y")) == "x.yaml: no such key\n  known keys: a, b\n  see y"


def test_a_problem_without_a_hint_is_one_line() -> None:
    assert str(Problem("it broke")) == "it broke"


def test_an_unknown_name_lists_the_known_and_the_nearest() -> None:
    problem = unknown("s.yaml", "image", "debian12", ["freebsd-15", "debian-12"])
    assert str(problem) == (
        's.yaml: unknown image "debian12"\n  known images: debian-12, freebsd-15\n  (did you mean debian-12?)'
    )


def test_an_unknown_name_with_nothing_near_and_nothing_known() -> None:
    assert unknown("s.yaml", "image", "x", []).hint == "known images: (none)"


# files


def test_a_file_appears_whole_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    files.write_text(path, "ä\n")
    assert path.read_bytes() == "ä\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(KeyboardInterrupt), files.atomic(path) as handle:
        handle.write("half")
        handle.flush()
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_value_that_is_not_json_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "a.json", {"x": float("nan")})
    assert os.listdir(tmp_path) == []


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())))
def test_equal_values_have_equal_bytes_whatever_their_order(value: dict[str, object]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert files.canonical_json(value) == files.canonical_json(backwards)
    assert files.sha256_json(value) == files.sha256_json(backwards)


def test_json_comes_back_as_it_went(tmp_path: Path) -> None:
    value = {"b": [1, 2.5, None], "a": "é"}
    files.write_json(tmp_path / "x.json", value)
    assert files.read_json(tmp_path / "x.json") == value


def test_digest_of_a_file_longer_than_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"z" * (files.CHUNK + 1))
    told = subprocess.run(["sha256sum", str(path)], capture_output=True, text=True, check=True, timeout=30)
    assert files.sha256_file(path) == told.stdout.split()[0]


# proc


def test_a_command_s_output_is_returned_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "x.log"
    done = proc.run(["sh", "-c", "echo out; echo err >&2; cat"], deadline_s=10, log=log, stdin=b"in\n")
    assert (done.code, done.out) == (0, "out\nerr\nin\n")
    assert log.read_text() == "$ sh -c 'echo out; echo err >&2; cat'\nout\nerr\nin\n"


def test_a_failure_shows_command_code_last_lines_and_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    with pytest.raises(Problem) as caught:
        proc.run(["sh", "-c", "seq 20; exit 3"], deadline_s=10, log=log)
    assert caught.value.message == "exit code 3: sh -c 'seq 20; exit 3'"
    assert caught.value.hint.splitlines() == [*map(str, range(11, 21)), f"log: {log}"]


def test_a_failure_is_a_value_when_asked_for() -> None:
    assert proc.run(["false"], deadline_s=10, check=False).code == 1


def test_a_deadline_is_kept_and_what_was_printed_is_shown() -> None:
    start = time.monotonic()
    with pytest.raises(Problem, match="no end within 0 s: sh -c 'echo early; sleep 60'") as caught:
        proc.run(["sh", "-c", "echo early; sleep 60"], deadline_s=0.4)
    assert time.monotonic() - start < 0.4 + proc.TERM_GRACE_S
    assert caught.value.hint == "early"


def test_a_child_that_ignores_sigterm_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proc, "TERM_GRACE_S", 0.3)
    with proc.child(["sh", "-c", STUBBORN], capture=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
    assert process.returncode == -signal.SIGKILL
    assert not alive(pid)
    process.stdout.close()


def test_grandchildren_end_with_the_group() -> None:
    with proc.child(["sh", "-c", "sleep 60 & echo $!; wait"], capture=True) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
    assert gone(grandchild)
    process.stdout.close()


def test_a_child_ends_when_its_block_is_left_by_an_error() -> None:
    with pytest.raises(ZeroDivisionError), proc.child(["sleep", "60"]) as process:
        raise ZeroDivisionError
    assert process.returncode is not None


def test_sigkill_of_the_parent_ends_the_child() -> None:
    code = "from zassay import proc\nwith proc.child(['sleep', '60']) as p:\n    print(p.pid, flush=True)\n    p.wait()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.kill()
    assert gone(child)


def alive(pid: int) -> bool:
    """Runs, and is not merely waiting to be reaped by someone else."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int, within_s: float = 5.0) -> bool:
    end = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


# cli


def test_every_verb_is_found_and_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert [verb for verb in cli.verbs() if cli.spoken(verb) not in out] == []


def test_an_unknown_verb_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["measures"])
    assert caught.value.code == 2
    assert "'doctor'" in capsys.readouterr().err


@pytest.fixture
def doctor_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise Problem("no such thing", "do this")

    monkeypatch.setattr("zassay.commands.doctor.main", broken)


@pytest.mark.usefixtures("doctor_raises")
def test_a_problem_is_two_lines_and_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err == "zassay doctor: no such thing\n  do this\n"


@pytest.mark.usefixtures("doctor_raises")
def test_debug_shows_the_traceback() -> None:
    with pytest.raises(Problem):
        cli.main(["--debug", "doctor"])


def test_ctrl_c_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("zassay.commands.doctor.main", stopped)
    assert cli.main(["doctor"]) == 130
    assert "Traceback" not in capsys.readouterr().err
