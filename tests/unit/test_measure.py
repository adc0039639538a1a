"""The order of one boot is pinned, everything said is kept, and a step that fails leaves a record with its reason."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
from fake_guest import FakeGuest, archive, failing
from golden_record import GOLDEN, load, project

from zassay import collectors, measure
from zassay.errors import Problem
from zassay.machine.channel import Reply
from zassay.measure import Run
from zassay.study import Cell

STEPS = """facts create sampling clock-before measure.write prepare.cold measure.read prepare.compare clock-after after""".split()


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    return load(project(tmp_path_factory.mktemp("p")))[1].cell("lz4_text_50")


def started(cell: Cell, guest: FakeGuest, tmp_path: Path) -> tuple[Run, dict[str, Any]]:
    (tmp_path / "aside").mkdir()
    run = Run(cell, guest, tmp_path / "aside", "source", {})  # type: ignore[arg-type]
    return run, measure.measure(run)


def transcript(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run.aside / "transcript.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_order_of_the_steps_is_pinned(cell: Cell, tmp_path: Path) -> None:
    guest = FakeGuest(tmp_path / "g")
    run, status = started(cell, guest, tmp_path)
    assert (status["status"], status["reason"]) == ("ok", "")
    assert [entry["step"] for entry in transcript(run)] == STEPS
    assert list(status["seconds"]) == [*STEPS, "fetch"]
    assert [kind for kind, _ in guest.heard] == ["run", "run", "put", *["run"] * 8, "must"]
    assert status["duration_s"] >= sum(status["seconds"].values()) - 0.01 and status["started_at"].endswith("+00:00")


def test_each_step_does_what_it_is_for(cell: Cell, tmp_path: Path) -> None:
    run, _ = started(cell, FakeGuest(tmp_path / "g"), tmp_path)
    said = {entry["step"]: entry["script"] for entry in transcript(run)}
    assert "date -s @" in said["facts"] and "zfs_module" in said["facts"]
    assert "zpool create" in said["create"] and "virtio-pool0" in said["create"] and "compression=lz4" in said["create"]
    assert "threads:z_wr_iss" in said["sampling"] and "$OUT/samples" in said["sampling"]
    write = said["measure.write"]
    order = [
        "snap write_start",
        "mark write_start",
        "dd if=/dev/disk/by-id/virtio-source",
        "zpool sync",
        "mark write_end",
        "snap write_end",
    ]
    assert [write.index(word) for word in order] == sorted(write.index(word) for word in order), "counters outside, clock tight"
    assert "iflag=direct" in write and "reflink" not in write
    cold = said["prepare.cold"]
    assert cold.index("zpool export") < cold.index("zpool import") < cold.index("arcstats")
    assert "of=/dev/null" in said["measure.read"] and f"cmp -n {cell.settings.workload['size']} " in said["prepare.compare"]
    assert "kill $(cat /run/zassay/sampler.pid)" in said["after"] and "zpool list" in said["after"]


def test_everything_said_is_kept_verbatim(cell: Cell, tmp_path: Path) -> None:
    guest = FakeGuest(
        tmp_path / "g", lambda script: Reply(0, b"\xff\n", "ä".encode(), 0.5, 0.6) if "zpool create" in script else None
    )
    run, _ = started(cell, guest, tmp_path)
    entry = transcript(run)[1]
    assert (entry["out"], entry["err"], entry["guest_s"], entry["code"]) == ("base64:/wo=", "ä", 0.5, 0)


def test_the_guest_s_files_come_out_as_they_were(cell: Cell, tmp_path: Path) -> None:
    run, _ = started(cell, FakeGuest(tmp_path / "g"), tmp_path)
    found = {path.name: path.read_bytes() for path in (run.aside / "guest").iterdir()}
    assert found == {path.name: path.read_bytes() for path in (GOLDEN / "guest").iterdir()}
    assert json.loads((run.aside / "host.json").read_text())["blockstats"]
    clock = run.base_facts["clock"]
    assert clock["guest_s"] == pytest.approx(clock["host_s"], abs=0.2)


@pytest.mark.parametrize(
    ("word", "step"),
    [
        ("date -s", "facts"),
        ("zpool create", "create"),
        ("mark write_start", "measure.write"),
        ("zpool export", "prepare.cold"),
        ("mark read_start", "measure.read"),
        ("cmp -n", "prepare.compare"),
        ("dmesg", "after"),
    ],
)
def test_a_step_that_fails_is_named_with_its_reason_and_command(cell: Cell, tmp_path: Path, word: str, step: str) -> None:
    run, status = started(cell, FakeGuest(tmp_path / "g", failing(word, 3, b"first\nno room\n")), tmp_path)
    assert (status["status"], status["step"], status["reason"]) == ("failed", step, "exit code 3: no room")
    assert word in status["hint"] and f"guest command of step {step}:" in status["hint"] and "first" in status["hint"]
    assert transcript(run)[-1]["code"] == 3 and transcript(run)[-1]["step"] == step
    assert step in status["seconds"] and not (run.aside / "guest").exists()


def test_a_deadline_that_passed_is_said(cell: Cell, tmp_path: Path) -> None:
    _, status = started(cell, FakeGuest(tmp_path / "g", failing("mark write_start", 124, b"")), tmp_path)
    assert status["reason"] == "exit code 124 (its deadline passed): it printed nothing"


def test_a_guest_that_dies_is_a_failed_run(cell: Cell, tmp_path: Path) -> None:
    def die(script: str) -> Reply | None:
        if "mark read_start" in script:
            raise Problem("the virtual machine has ended: Kernel panic - not syncing", "last lines")
        return None

    run, status = started(cell, FakeGuest(tmp_path / "g", die), tmp_path)
    assert (status["status"], status["step"], status["hint"]) == ("failed", "measure.read", "last lines")
    assert "Kernel panic" in status["reason"]
    assert [entry["step"] for entry in transcript(run)] == STEPS[:6]


@pytest.mark.parametrize(("step", "tar"), [("fetch", b"rubbish"), ("fetch", archive()[:5000])])
def test_an_archive_that_cannot_be_read_is_a_failed_run(cell: Cell, tmp_path: Path, step: str, tar: bytes) -> None:
    guest = FakeGuest(tmp_path / "g")
    guest.tar = tar
    _, status = started(cell, guest, tmp_path)
    assert (status["status"], status["step"]) == ("failed", step)
    assert "archive of the guest's files cannot be read" in status["reason"]


def test_a_clock_that_is_no_number_is_a_failed_run(cell: Cell, tmp_path: Path) -> None:
    guest = FakeGuest(
        tmp_path / "g", lambda script: Reply(0, b"soon", b"", 0, 0) if script.endswith("'%s' $EPOCHREALTIME\n") else None
    )
    _, status = started(cell, guest, tmp_path)
    assert (status["status"], status["step"]) == ("failed", "clock-before") and "'soon'" in status["reason"]


def test_an_interrupt_is_no_failure(cell: Cell, tmp_path: Path) -> None:
    def stop(script: str) -> Reply | None:
        if "zpool create" in script:
            raise KeyboardInterrupt
        return None

    with pytest.raises(KeyboardInterrupt):
        started(cell, FakeGuest(tmp_path / "g", stop), tmp_path)


# What comes out of a guest


def special(kind: bytes, name: str) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    return target.getvalue()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_only_plain_files_come_out(tmp_path: Path, kind: bytes) -> None:
    measure.unpack(special(kind, "evil"), tmp_path / "guest")
    assert list((tmp_path / "guest").iterdir()) == []


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "a/b/../../../evil", "./deep/evil"])
def test_files_come_out_by_their_bare_names(tmp_path: Path, name: str) -> None:
    measure.unpack(archive({name: b"x"}), tmp_path / "guest")
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()] == [Path("guest/evil")]


@pytest.mark.parametrize("name", ["..", ".", "a/..", "./"])
def test_names_that_are_folders_are_passed_over(tmp_path: Path, name: str) -> None:
    measure.unpack(archive({name: b"x"}), tmp_path / "guest")
    assert list((tmp_path / "guest").iterdir()) == []


# Records


def test_a_record_appears_whole_and_an_earlier_one_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "raw" / "cell" / "block-01"
    for number in range(3):
        aside = tmp_path / f"aside{number}"
        aside.mkdir()
        if target.exists():
            measure.keep_aside(target, "earlier")
        measure.settle(target, aside, {"status": "ok", "number": number})
        assert not aside.exists()
    assert measure.load_status(target) == {"status": "ok", "number": 2}
    kept = [measure.load_status(target.with_name(f"block-01.earlier-{number}")) for number in (1, 2)]
    assert [status["number"] for status in kept if status] == [0, 1]
    assert measure.load_status(tmp_path / "none") is None


def test_the_procedure_has_a_digest_that_follows_its_scripts(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    before = measure.procedure_digest(cell.settings)
    assert measure.procedure_digest(cell.settings) == before
    monkeypatch.setattr(measure, "FACTS", measure.FACTS + "true\n")
    assert measure.procedure_digest(cell.settings) != before


# The guest's own scripts, as far as this host can run them


@pytest.mark.parametrize("step", STEPS)
def test_every_script_is_bash(cell: Cell, tmp_path: Path, step: str) -> None:
    run, _ = started(cell, FakeGuest(tmp_path / "g"), tmp_path)
    script = measure.PREAMBLE + next(entry["script"] for entry in transcript(run) if entry["step"] == step)
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=20, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_marks_and_snapshots_of_this_host_are_readable(tmp_path: Path) -> None:
    from zassay import readers

    script = measure.PREAMBLE.replace(measure.OUT, str(tmp_path)) + "mark a_start\nsnap a_start\nsleep 0.05\nmark a_end\n"
    start = time.monotonic()
    subprocess.run(["bash", "-c", script], check=True, timeout=20)
    found = readers.marks((tmp_path / "marks").read_text())
    assert list(found) == ["a_start", "a_end"]
    assert 0.04 < found["a_end"].clock - found["a_start"].clock < time.monotonic() - start + 0.1
    assert abs(found["a_end"].clock - time.time()) < 30
    readers.diskstats((tmp_path / "snap.a_start.diskstats").read_text())


def test_samples_of_this_host_are_readable(tmp_path: Path) -> None:
    from zassay import readers

    specs = ["head:1:/proc/stat", "file:/proc/meminfo", "threads:kthreadd", "file:/no/such"]
    words = ["perl", str(collectors.SAMPLER), "0.05", str(tmp_path / "samples"), *specs]
    with subprocess.Popen(words) as process:
        end = time.monotonic() + 20
        while time.monotonic() < end and len(_text(tmp_path / "samples").split("\n# ")) < 4:
            time.sleep(0.05)
        process.kill()
    found = readers.samples(_text(tmp_path / "samples"))
    assert len(found) >= 3
    assert found[0].parts["head:1:/proc/stat"].startswith("cpu ") and found[0].parts["file:/no/such"] == ""
    assert readers.colon_table(found[0].parts["file:/proc/meminfo"])["MemTotal"] > 0
    assert found[0].parts["threads:kthreadd"].split()[0] == "kthreadd"


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
