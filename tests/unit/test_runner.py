"""One block with guests in memory: the plan's order, records that appear whole, and going on after any interruption."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fake_guest import FakeGuest, failing
from golden_record import STUDY, copied, load, project, rewrite, size, swap

from zassay import files, plan, runner
from zassay.campaign import Campaign
from zassay.errors import Problem
from zassay.machine import leftovers, qemu, template
from zassay.machine.accel import Accelerator
from zassay.machine.drives import Disk
from zassay.machine.template import Template
from zassay.study import Study

Says = Callable[[str], Any]


@dataclass
class Bench:
    """A project with four small cells, and how its guests behave: ``behave(cell)`` gives what a guest fails at."""

    root: Path
    behave: Callable[[str], Says] = lambda cell: lambda script: None
    measured: list[str] = field(default_factory=list)

    def load(self) -> tuple[Campaign, Study, dict[str, Any]]:
        setup, study = load(self.root)
        return setup, study, plan.make(setup, study)

    def block(self, number: int = 1, retry: bool = False) -> dict[str, int]:
        setup, study, made = self.load()
        return runner.run_block(setup, study, made, number, self.root / "log", retry)

    def records(self) -> dict[str, dict[str, Any]]:
        raw = self.root / "results" / STUDY / "raw"
        return {str(path.parent.relative_to(raw)): json.loads(path.read_text()) for path in sorted(raw.glob("*/*/status.json"))}

    def order(self, number: int = 1) -> list[str]:
        return [turn.cell for turn in plan.turns_of(self.load()[2], number)]

    def study_file(self, old: str, new: str) -> None:
        path = self.root / "studies" / STUDY / "study.yaml"
        path.write_text(swap(old, new)(path.read_text()))

    def left(self) -> list[str]:
        """What should not be there when nothing runs."""
        folders = [*self.root.glob("results/*/.aside-*"), *self.root.glob("scratch/*"), *self.root.glob("cache/scratch/*")]
        return [str(path) for path in [*folders, *leftovers.state_dir().glob("guest-*")]]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("ZASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    found = Bench(project(tmp_path, swap('["off", lzjb, lz4, gzip-2, gzip, gzip-9, zstd]', '["off", lz4]')))
    path = tmp_path / "studies" / STUDY / "study.yaml"
    path.write_text(size("disk_size", "4 MiB")(path.read_text()))
    found.study_file("metrics:", "exclude: [{corpus: media}]\nmetrics:")
    config = tmp_path / "config" / "config.yaml"
    config.write_text(swap('scratch: ""', f'scratch: "{tmp_path}/scratch"')(config.read_text()))
    image = tmp_path / "image"
    image.mkdir()
    for name in ("disk.qcow2", "vmlinux", "initrd"):
        (image / name).write_bytes(name.encode())
    manifest = {"files": {name: {"sha256": files.sha256_file(image / name)} for name in ("disk.qcow2", "vmlinux", "initrd")}}
    files.write_json(image / "manifest.json", manifest)
    (tmp_path / "payload").write_bytes(b"p")

    @contextlib.contextmanager
    def guest(rig: Any, cell: Any, folder: Path, disks: Any) -> Iterator[FakeGuest]:
        assert [disk.serial for disk in disks] == ["pool0", "source"] and disks[0].path.stat().st_size == 4 << 20
        found.measured.append(cell.id)
        yield FakeGuest(folder, found.behave(cell.id))

    monkeypatch.setattr(runner.image_cache, "entry", lambda name: image)
    monkeypatch.setattr(runner.accel, "choose", lambda wanted, kernel: Accelerator("tcg", "a test", 0.0))
    monkeypatch.setattr(runner, "payload_file", lambda campaign, cell: (tmp_path / "payload", "d" * 64))
    monkeypatch.setattr(runner, "_guest", guest)
    monkeypatch.setattr(runner.gates, "check_all", lambda run: [])
    return found


def test_a_block_is_measured_in_the_plan_s_order(bench: Bench) -> None:
    assert bench.block() == {"ok": 4, "failed": 0}
    assert bench.measured == bench.order() and len(bench.measured) == 4
    assert set(bench.records()) == {f"{cell}/block-01" for cell in bench.order()}
    assert bench.left() == []


def test_a_record_holds_its_circumstances(bench: Bench) -> None:
    bench.block()
    folder = bench.root / "results" / STUDY / "raw" / bench.order()[0] / "block-01"
    assert {"guest", "settings.json", "facts.json", "host.json", "status.json", "transcript.jsonl"} <= {
        p.name for p in folder.iterdir()
    }
    assert {"console.log", "console.qemu.log"} <= {p.name for p in folder.iterdir()}
    facts = files.read_json(folder / "facts.json")
    assert (facts["mode"], facts["position"], facts["block"], facts["validity"]["class"]) == ("clone", 1, 1, "E")
    assert facts["plan_prereg"] == bench.load()[2]["prereg"]
    assert facts["disks"] == {"pool0": "vdb", "root": "vda", "source": "vdc"} and "disk.pool0" not in facts["guest"]
    assert facts["payload"] == {"name": "text", "sha256": "d" * 64, "bytes": 1}
    status = files.read_json(folder / "status.json")
    assert {"wall_s", "settings_digest", "procedure_digest", "image_digest"} <= set(status) and "start" in status["seconds"]


def test_nothing_is_measured_twice(bench: Bench) -> None:
    bench.block()
    before = bench.records()
    bench.measured.clear()
    assert bench.block() == {"ok": 4, "failed": 0}
    assert bench.measured == [] and bench.records() == before


def test_other_settings_are_measured_anew_and_the_earlier_record_kept(bench: Bench) -> None:
    bench.block()
    bench.measured.clear()
    bench.study_file('"50": {tunables: {zio_taskq_batch_pct: "50"}}', '"50": {tunables: {zio_taskq_batch_pct: "49"}}')
    bench.block()
    assert sorted(bench.measured) == ["lz4_text_50", "off_text_50"]
    assert "lz4_text_50/block-01.earlier-1" in bench.records() and "lz4_text_75/block-01.earlier-1" not in bench.records()


def test_another_title_measures_nothing(bench: Bench) -> None:
    bench.block()
    bench.measured.clear()
    bench.study_file("title: Compression", "title: Other words on compression")
    bench.block()
    assert bench.measured == []


def test_another_image_measures_everything_anew(bench: Bench) -> None:
    bench.block()
    bench.measured.clear()
    manifest = files.read_json(bench.root / "image" / "manifest.json")
    (bench.root / "image" / "initrd").write_bytes(b"other")
    manifest["files"]["initrd"]["sha256"] = files.sha256_file(bench.root / "image" / "initrd")
    files.write_json(bench.root / "image" / "manifest.json", manifest)
    bench.block()
    assert len(bench.measured) == 4


def test_a_corrupt_image_is_refused_before_anything_runs(bench: Bench) -> None:
    (bench.root / "image" / "disk.qcow2").write_bytes(b"rot")
    with pytest.raises(Problem, match=r"disk\.qcow2: sha256 is .*, the manifest says"):
        bench.block()
    assert bench.measured == [] and bench.left() == []


def test_a_failed_run_is_kept_and_measured_again_only_when_asked(bench: Bench) -> None:
    bench.behave = lambda cell: failing("zpool create") if cell == "off_text_75" else lambda script: None
    assert bench.block() == {"ok": 3, "failed": 1}
    failed = bench.records()["off_text_75/block-01"]
    assert (failed["status"], failed["step"], failed["reason"]) == ("failed", "create", "exit code 1: it went wrong")
    bench.behave = lambda cell: lambda script: None
    bench.measured.clear()
    assert bench.block() == {"ok": 3, "failed": 1} and bench.measured == []
    assert bench.block(retry=True) == {"ok": 4, "failed": 0} and bench.measured == ["off_text_75"]
    assert bench.records()["off_text_75/block-01.earlier-1"] == failed


def test_three_failures_of_one_kind_in_a_row_stop_the_block(bench: Bench) -> None:
    bench.behave = lambda cell: failing("zpool create")
    with pytest.raises(Problem, match="3 runs in a row failed: step create: exit code 1: it went wrong") as caught:
        bench.block()
    assert "--retry-failed" in caught.value.hint
    assert len(bench.records()) == 3 and bench.left() == []


def test_failures_of_different_kinds_do_not(bench: Bench) -> None:
    steps = iter(["zpool create", "mark write", "zpool create", "mark write"])
    bench.behave = lambda cell: failing(next(steps))
    assert bench.block() == {"ok": 0, "failed": 4}


def test_a_guest_that_does_not_start_is_a_failed_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def none(rig: Any, cell: Any, folder: Path, disks: Any) -> Iterator[FakeGuest]:
        raise Problem("QEMU did not start: x", "its last words")
        yield

    monkeypatch.setattr(runner, "_guest", none)
    with pytest.raises(Problem, match="3 runs in a row failed: step start: QEMU did not start: x"):
        bench.block()
    assert {(status["status"], status["step"]) for status in bench.records().values()} == {("failed", "start")}
    assert bench.left() == []


def test_an_interrupt_loses_the_run_in_progress_alone(bench: Bench) -> None:
    third = bench.order()[2]

    def stop(script: str) -> None:
        if "mark read_start" in script:
            raise KeyboardInterrupt

    bench.behave = lambda cell: stop if cell == third else lambda script: None
    with pytest.raises(KeyboardInterrupt):
        bench.block()
    assert set(bench.records()) == {f"{cell}/block-01" for cell in bench.order()[:2]}
    assert bench.left() == []
    bench.behave = lambda cell: lambda script: None
    bench.measured.clear()
    assert bench.block() == {"ok": 4, "failed": 0}
    assert bench.measured == bench.order()[2:]


def test_the_half_record_of_a_killed_run_is_removed_at_the_next_start(bench: Bench) -> None:
    half = bench.root / "results" / STUDY / ".aside-x7"
    half.mkdir(parents=True)
    (half / "settings.json").write_text("{}")
    bench.block()
    assert bench.left() == []
    assert f"removed {half}" in (bench.root / "log").read_text()


def test_people_see_what_runs_and_how_many(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.block()
    bench.block(2)
    said = capsys.readouterr().err
    for number in range(1, 9):
        assert f"[{number}/12] {STUDY}, block {1 + (number - 1) // 4}: compression " in said
    assert "accelerator: tcg: a test" in said and "left" in said


def test_only_runs_that_count_predict_the_next(bench: Bench) -> None:
    bench.behave = lambda cell: failing("zpool create") if cell == "off_text_75" else lambda script: None
    bench.block()
    history = files.read_json(bench.root / "cache" / "history" / f"{STUDY}.smoke.tcg.json")
    assert set(history) == set(bench.order()) - {"off_text_75"}


def test_a_void_run_is_told_at_once_and_its_record_left_as_it_is(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    spoiled = copied(bench.root / "spoiled")
    rewrite(spoiled, "pool", swap("ONLINE", "DEGRADED"))
    found = _real_gates(spoiled)
    monkeypatch.setattr(runner.gates, "check_all", lambda run: found)
    with pytest.raises(Problem, match="3 runs in a row are void: gate health: expected whole and under"):
        bench.block()
    assert "INVALID (health): gate health: expected whole and under 80% full, saw DEGRADED" in capsys.readouterr().err
    assert {status["status"] for status in bench.records().values()} == {"ok"}


def _real_gates(folder: Path) -> list[Any]:
    from zassay import gates, registry
    from zassay.record import RunFiles

    every = registry.every(gates, gates.Gate)  # type: ignore[type-abstract]
    return [gate().verdict(RunFiles(folder)) for gate in every.values()]


# Templates


def test_cells_share_a_template_when_they_warm_up_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def make(folder: Path, launch: Any, image: Path, warm: str, record: Any) -> Template:
        made.append(folder)
        return Template(launch, folder / "state", 1.0, 2.0)

    monkeypatch.setattr(template, "make", make)
    setup, study = load(project(tmp_path))
    launch = qemu.launch_of(setup.scale.machine, "tcg", tmp_path)
    rig = runner.Rig(setup, study, {}, {}, Accelerator("tcg", "", 0), {}, tmp_path, None, lambda text: None)  # type: ignore[arg-type]
    (tmp_path / "disk").write_bytes(b"x" * 512)
    disk = Disk("pool0", tmp_path / "disk")

    def of(warm: str, *disks: Disk) -> Template:
        return runner._template(rig, dataclasses.replace(launch, disks=disks), tmp_path, warm)

    one = of("a", disk)
    assert of("a", disk) is one and len(made) == 1
    other_disk = Disk("pool1", tmp_path / "disk")
    assert len({id(each) for each in (one, of("b", disk), of("a"), of("a", other_disk))}) == 4
    assert len(set(made)) == 4, "each in a folder of its own"


# Payloads


def test_a_payload_is_made_once_and_made_again_when_it_is_spoiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZASSAY_CACHE", str(tmp_path / "cache"))
    setup, study = load(project(tmp_path, size("data", "1 MiB")))
    path, digest = runner.payload_file(setup, study.cell("off_media_75"))
    before = path.stat().st_mtime_ns
    assert runner.payload_file(setup, study.cell("zstd_media_50")) == (path, digest)
    assert path.stat().st_mtime_ns == before and path.stat().st_size == 1 << 20
    with path.open("r+b") as handle:
        handle.write(b"rot")
    assert runner.payload_file(setup, study.cell("off_media_75")) == (path, digest)
    assert files.sha256_file(path) == digest
    assert runner.payload_file(setup, study.cell("off_text_75"))[1] != digest
