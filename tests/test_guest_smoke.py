"""The real thing: guests are booted, measured, ended by force at the worst moments, and what was finished stays finished.

One story in a project folder of its own (two small cells), told once and looked at by several tests. It takes the host's
lock like any measurement, so it waits for one that is under way.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from golden_record import ROOT, STUDY, project, size, swap

from zassay import campaign, filesystems
from zassay.errors import Problem
from zassay.image import cache
from zassay.machine import leftovers, qemu, spec, template
from zassay.machine.qemu import Guest

pytestmark = [pytest.mark.guest, pytest.mark.slow]
IMAGE = "debian-12"
ZASSAY = str(ROOT / ".venv" / "bin" / "zassay")
BUILD_S, RUN_S, SOON_S = 1500.0, 900.0, 5.0
FIRST, SECOND = 0, 1


@pytest.fixture(scope="module")
def image() -> Path:
    """The built image; in CI it is built when it is not there."""
    try:
        return cache.entry(IMAGE)
    except Problem as problem:
        if not os.environ.get("CI"):
            pytest.skip(f"{problem.message}: {problem.hint}")
    subprocess.run([ZASSAY, "image", "build", IMAGE], check=True, timeout=BUILD_S)
    return cache.entry(IMAGE)


@dataclass
class Home:
    """A project with two cells of 16 MiB, and what its runs leave on this host."""

    root: Path
    environment: dict[str, str]

    @property
    def study_dir(self) -> Path:
        return self.root / "results" / STUDY

    def start(self, *words: str) -> subprocess.Popen[str]:
        with (self.root / "said").open("a") as log:
            return subprocess.Popen([ZASSAY, *words], cwd=self.root, env=self.environment, stdout=log, stderr=log, text=True)

    def run(self, *words: str) -> int:
        with self.start(*words) as process:
            try:
                return process.wait(RUN_S)
            finally:
                process.kill()

    def said(self) -> str:
        return (self.root / "said").read_text()

    def guests(self) -> list[int]:
        """Processes of QEMU with a file of this project's scratch folder, by id."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if words.startswith(qemu.QEMU.encode()) and str(self.root).encode() in words:
                found.append(int(folder.name))
        return found

    def records(self) -> dict[str, dict[str, Any]]:
        return {
            path.parent.parent.name: json.loads(path.read_text()) for path in self.study_dir.glob("raw/*/block-01/status.json")
        }

    def left(self) -> list[str]:
        """Records of guests, the scratch folders they name (disks are elsewhere than memory), and half records."""
        state = self.root / "run" / f"zassay-{os.getuid()}"
        recorded = [json.loads(path.read_text())["scratch"] for path in state.glob("guest-*")]
        found = {*self.root.glob("scratch/*"), *map(Path, recorded), *state.glob("guest-*"), *self.study_dir.glob(".aside-*")}
        return sorted(map(str, found))

    def order(self) -> list[str]:
        return [turn["cell"] for turn in json.loads((self.study_dir / "plan.json").read_text())["order"]]


def until(condition: Callable[[], object], deadline_s: float, what: str) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, f"not within {deadline_s:.0f} s: {what}"
        time.sleep(0.05)


@dataclass
class Story:
    """What was seen after each chapter: exit codes, guests and things left, records."""

    home: Home
    codes: dict[str, int] = field(default_factory=dict)
    guests: dict[str, list[int]] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)
    records: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def end(self, chapter: str, code: int) -> None:
        self.codes[chapter], self.guests[chapter] = code, self.home.guests()
        self.left[chapter], self.records[chapter] = self.home.left(), self.home.records()

    def interrupted(self, chapter: str, number: signal.Signals) -> None:
        """Run the block and send a signal while the second cell's guest measures."""
        before = self.home.said().count(f"[{SECOND + 1}/2]")
        with self.home.start("run", STUDY, "--block", "1") as process:
            try:
                until(
                    lambda: self.home.said().count(f"[{SECOND + 1}/2]") > before, RUN_S, f"the second cell ({self.home.said()})"
                )
                until(self._measuring, RUN_S, "a guest that measures")
                process.send_signal(number)
                code = process.wait(60)
                if number == signal.SIGKILL:
                    until(lambda: not self.home.guests(), SOON_S, "the kernel ends the guest of a killed process")
            finally:
                process.kill()
        self.end(chapter, code)

    def _measuring(self) -> bool:
        """A cell's guest is one that maps its own console; the template's is in a folder called so."""
        for pid in self.home.guests():
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"/cell-" in words:
                return True
        return False


@pytest.fixture(scope="module")
def story(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    root = project(tmp_path_factory.mktemp("guest"), swap('["off", lzjb, lz4, gzip-2, gzip, gzip-9, zstd]', '["off", lz4]'))
    path = root / "studies" / STUDY / "study.yaml"
    text = size("disk_size", "9 * data")(size("data", "1/4 * arc")(path.read_text()))
    path.write_text(swap("\nmetrics:", '\nexclude: [{corpus: media}, {zio_taskq_batch_pct: "50"}]\nmetrics:')(text))
    config = root / "config" / "own.yaml"
    text = swap("accel: auto", "accel: tcg")((root / "config" / "config.yaml").read_text())
    config.write_text(swap('scratch: ""', f'scratch: "{root}/scratch"\nblocks: 1')(text))
    (root / "said").touch()
    added = {"ZASSAY_ROOT": str(root), "ZASSAY_CONFIG": str(config), "XDG_RUNTIME_DIR": str(root / "run"), "LC_ALL": "C.UTF-8"}
    told = Story(Home(root, os.environ | added))
    try:
        told.end("plan", told.home.run("plan", STUDY))
        told.interrupted("term", signal.SIGTERM)
        told.interrupted("kill", signal.SIGKILL)
        told.end("rest", told.home.run("run", STUDY, "--block", "1"))
        told.end("again", told.home.run("run", STUDY, "--block", "1"))
        told.end("parse", told.home.run("parse", STUDY))
        told.end("dataset", told.home.run("dataset", STUDY))
        yield told
    finally:
        for pid in told.home.guests():
            os.kill(pid, signal.SIGKILL)


def test_the_plan_is_two_small_cells(story: Story) -> None:
    assert story.codes["plan"] == 0
    assert sorted(story.home.order()) == ["lz4_text_75", "off_text_75"]


def test_sigterm_ends_the_guest_and_loses_the_run_in_progress_alone(story: Story) -> None:
    assert story.codes["term"] == 130
    assert "stopped by you; what was finished is kept" in story.home.said()
    assert (story.guests["term"], story.left["term"]) == ([], [])
    assert set(story.records["term"]) == {story.home.order()[FIRST]}


def test_sigkill_leaves_no_guest_and_the_next_start_clears_the_rest(story: Story) -> None:
    assert story.codes["kill"] == -signal.SIGKILL
    left = story.left["kill"]
    assert story.guests["kill"] == []
    assert {
        word for word in ("guest-", "zassay-block-", "zassay-disk-", ".aside-") if not any(word in path for path in left)
    } == set()
    assert [path for path in left if Path(path).exists()] == []
    assert story.records["kill"] == story.records["term"]
    assert (story.codes["rest"], story.left["rest"], story.guests["rest"]) == (0, [], [])
    assert f"removed {story.home.root}/scratch/zassay-block-" in story.home.said()


def test_a_rerun_goes_on_and_keeps_what_was_finished(story: Story) -> None:
    first, second = story.home.order()
    done = story.records["rest"]
    assert set(done) == {first, second}
    assert done[first] == story.records["term"][first]
    assert {status["status"] for status in done.values()} == {"ok"}


def test_nothing_is_measured_twice(story: Story) -> None:
    assert story.codes["again"] == 0 and story.records["again"] == story.records["rest"]


def test_real_runs_pass_every_gate_and_give_every_metric(story: Story) -> None:
    assert (story.codes["parse"], story.codes["dataset"]) == (0, 0)
    for cell in story.home.order():
        parsed = json.loads((story.home.study_dir / "parsed" / cell / "block-01.json").read_text())
        voiding = [gate for gate in parsed["gates"] if not gate["passed"] and gate["protects"] == "counts"]
        assert (parsed["status"], voiding) == ("ok", []), cell
    with (story.home.study_dir / "dataset.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    value = {(row["f_compression"], row["metric"]): float(row["value"]) for row in rows}
    assert value["off", "compressratio"] == pytest.approx(1.0, abs=0.03)
    assert value["lz4", "compressratio"] == pytest.approx(1.7, abs=0.12)
    assert value["off", "wr_iss_threads"] == value["lz4", "wr_iss_threads"] == 3
    assert {row["validity_class"] for row in rows} == {"E"} and {row["mode"] for row in rows} == {"clone"}


# One guest by itself


@pytest.fixture
def guest(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guest]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    setup = campaign.load()
    from zassay import study

    settings = study.load(ROOT, STUDY, setup.scale).cells[0].settings
    warm = filesystems.get(settings.filesystem).warm(settings)
    launch = qemu.launch_of(spec.load(ROOT, setup.scale.machine.name), "tcg", image)
    with leftovers.scratch(tmp_path, "test") as (folder, record):
        with template.boot(launch, image / "disk.qcow2", folder, warm, record) as booted:
            yield booted


def test_a_guest_keeps_deadlines_has_no_network_and_tells_of_its_panic(guest: Guest) -> None:
    reply = guest.run("echo before; sleep 60", 1)
    assert (reply.code, reply.out) == (124, b"before\n"), "a script that outlives its deadline is ended"
    assert guest.run("kill -TERM $$", 20).code == 128 + signal.SIGTERM
    assert guest.must("ls /sys/class/net", 20).text.split() == ["lo"]
    data = bytes(range(256)) * 300
    guest.put("/run/zassay/bytes", data)
    assert guest.must("cat /run/zassay/bytes", 20).out == data
    assert guest.must("zfs version", 20).text.startswith("zfs-2.1.")
    with pytest.raises(
        Problem, match="the virtual machine has ended: Kernel panic - not syncing: sysrq triggered crash"
    ) as caught:
        guest.run("echo c >/proc/sysrq-trigger; sleep 60", 60)
    assert "console.log" in caught.value.hint
    until(lambda: not guest.alive(), 20, "QEMU ends with its guest")
