"""One block: every cell once, in the planned order, each in a fresh guest; resumable after any interruption."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zassay import __version__, files, filesystems, gates, measure, payloads, predict, readers, workloads
from zassay.campaign import Campaign, cache_dir
from zassay.disks import SOURCE, wanted
from zassay.errors import Problem
from zassay.image import cache as image_cache
from zassay.machine import accel, leftovers, provide, qemu, template, validity
from zassay.machine.accel import Accelerator
from zassay.machine.drives import Disk
from zassay.machine.leftovers import Record
from zassay.machine.qemu import Guest, Launch
from zassay.machine.spec import MachineSpec
from zassay.machine.template import Template
from zassay.plan import Turn, turns_of
from zassay.progress import History, Reporter
from zassay.record import RunFiles
from zassay.study import Cell, Study
from zassay.units import show_seconds

TOO_MANY = 3


def run_folder(study_dir: Path, cell: str, block: int) -> Path:
    return study_dir / "raw" / cell / f"block-{block:02d}"


@dataclass(frozen=True)
class Image:
    """An image's cache entry, compared with its manifest; ``versions`` are the kernel and ZFS that this promises."""

    folder: Path
    digest: str
    versions: dict[str, str]


@dataclass
class Rig:
    """What stays the same through a block: host, images by name, accelerator, and the templates booted for it."""

    campaign: Campaign
    study: Study
    plan: dict[str, Any]
    images: dict[str, Image]
    accelerator: Accelerator
    host: dict[str, Any]
    folder: Path
    record: Record
    say: Any
    templates: dict[str, Template] = field(default_factory=dict)

    @property
    def machine(self) -> MachineSpec:
        return self.campaign.scale.machine


def done(folder: Path, cell: Cell, image_digest: str) -> bool:
    """Is there a record of this very measurement? Failed ones count: they are measured again only when asked."""
    status = measure.load_status(folder)
    return bool(status and all(status.get(key) == value for key, value in identity(cell, image_digest).items()))


def identity(cell: Cell, image_digest: str) -> dict[str, str]:
    """Equal identities are the same measurement: settings, what our scripts do with them, and the image."""
    procedure = measure.procedure_digest(cell.settings)
    return {"settings_digest": cell.settings.digest, "procedure_digest": procedure, "image_digest": image_digest}


def run_block(
    campaign: Campaign, study: Study, plan: dict[str, Any], block: int, log: Path, retry_failed: bool = False
) -> dict[str, int]:
    """Measure what the block still lacks; returns counts of ok and failed runs. The caller holds the host lock."""
    turns = turns_of(plan, block)
    images = {name: _image(name) for name in sorted({study.cell(t.cell).settings.image for t in turns})}
    study_dir = campaign.study_dir(study.name)
    open_turns = [t for t in turns if _is_open(study_dir, study.cell(t.cell), t, images, retry_failed)]
    total = len(plan["order"])
    reporter = Reporter(log, total, (block - 1) * len(turns) + len(turns) - len(open_turns))
    for line in [*leftovers.sweep(), *_sweep_aside(study_dir)]:
        reporter.say(line)
    if open_turns:
        with _rig(campaign, study, plan, images, reporter) as rig:
            _measure_all(rig, open_turns, reporter)
    return _count(study_dir, turns)


def _sweep_aside(study_dir: Path) -> list[str]:
    """Records that an earlier run was ended in the middle of; whoever holds the host lock is alone here."""
    found = sorted(study_dir.glob(".aside-*"))
    for folder in found:
        measure.drop_aside(folder)
    return [f"removed {folder}, the half record of a run that was ended" for folder in found]


def _is_open(study_dir: Path, cell: Cell, turn: Turn, images: dict[str, Image], retry_failed: bool) -> bool:
    folder = run_folder(study_dir, turn.cell, turn.block)
    status = measure.load_status(folder)
    if retry_failed and status and status["status"] == "failed":
        return True
    return not done(folder, cell, images[cell.settings.image].digest)


def _count(study_dir: Path, turns: list[Turn]) -> dict[str, int]:
    found = [measure.load_status(run_folder(study_dir, t.cell, t.block)) for t in turns]
    ok = sum(1 for status in found if status and status["status"] == "ok")
    return {"ok": ok, "failed": len(turns) - ok}


def _image(name: str) -> Image:
    """The image with its manifest's digest, after the disk has been compared with it."""
    folder = image_cache.entry(name)
    manifest = files.read_json(folder / "manifest.json")
    for part in ("disk.qcow2", "vmlinux", "initrd"):
        wanted, actual = manifest["files"][part]["sha256"], files.sha256_file(folder / part)
        if wanted != actual:
            raise Problem(
                f"{folder / part}: sha256 is {actual}, the manifest says {wanted}",
                "remove the folder; the image is built again",
            )
    digest = files.sha256_json({part: entry["sha256"] for part, entry in manifest["files"].items()})
    promised = {"kernel": manifest.get("kernel"), "zfs_module": manifest.get("zfs")}
    return Image(folder, digest, {key: value for key, value in promised.items() if value})


@contextlib.contextmanager
def _rig(campaign: Campaign, study: Study, plan: dict[str, Any], images: dict[str, Image], reporter: Reporter) -> Iterator[Rig]:
    accelerator = accel.choose(campaign.accel, next(iter(images.values())).folder / "vmlinux")
    reporter.say(f"accelerator: {accelerator.name}: {accelerator.why}")
    with leftovers.scratch(campaign.scratch, "block") as (folder, record):
        yield Rig(campaign, study, plan, images, accelerator, validity.host_facts(), folder, record, reporter.say)


def _measure_all(rig: Rig, turns: list[Turn], reporter: Reporter) -> None:
    history = History(cache_dir(), rig.study.name, rig.campaign.scale.name, rig.accelerator.name)
    priors = {cell.id: predict.prior_s(cell.settings, rig.accelerator.name) for cell in rig.study.cells}
    failures: list[dict[str, Any]] = []
    for index, turn in enumerate(turns):
        cell = rig.study.cell(turn.cell)
        left = _left(rig, history, priors, turns[index:])
        levels = " × ".join(f"{factor} {level}" for factor, level in cell.levels.items())
        reporter.start(f"{rig.study.name}, block {turn.block}: {levels}", left)
        status = run_turn(rig, turn, cell)
        status = _gated(rig, turn, status)
        reporter.end(status)
        if status["status"] == "ok":
            history.note(turn.cell, status["wall_s"])
        failures = [*failures, status] if status["status"] != "ok" else []
        _refuse_to_go_on(failures)


def _gated(rig: Rig, turn: Turn, status: dict[str, Any]) -> dict[str, Any]:
    """What to tell about a run: one that its gates will void is told at once, though the record stays as it is."""
    if status["status"] != "ok":
        return status
    found = gates.check_all(RunFiles(run_folder(rig.campaign.study_dir(rig.study.name), turn.cell, turn.block)))
    void = next((each for each in found if not each.passed and each.protects == "counts"), None)
    return status | {"status": "invalid", "step": void.gate, "reason": void.reason} if void else status


def _refuse_to_go_on(failures: list[dict[str, Any]]) -> None:
    """Runs that fail one after another at the same step have one cause: mending it beats collecting more of them."""
    if len(failures) >= TOO_MANY and len({status["step"] for status in failures}) == 1:
        last = failures[-1]
        if last["status"] == "invalid":
            raise Problem(
                f"{TOO_MANY} runs in a row are void: {last['reason']}", "mend the study or the host; snakemake goes on from here"
            )
        again = (
            "when it is mended, measure the failed ones again (their records are kept): zassay run STUDY --block N --retry-failed"
        )
        raise Problem(
            f"{TOO_MANY} runs in a row failed: step {last['step']}: {last['reason']}", f"{last.get('hint', '')}\n{again}"
        )


def _left(rig: Rig, history: History, priors: dict[str, float], turns: list[Turn]) -> float:
    """Seconds for the turns left in this block and for all of the later blocks, by what was measured up to now."""
    seconds = history.predict(priors)
    block = turns[0].block
    later = [turn["cell"] for turn in rig.plan["order"] if turn["block"] > block]
    return sum(seconds[cell] for cell in [*(turn.cell for turn in turns), *later])


def run_turn(rig: Rig, turn: Turn, cell: Cell) -> dict[str, Any]:
    """One cell in one block: a fresh guest with fresh disks, measured, its record settled."""
    start = time.monotonic()
    target = run_folder(rig.campaign.study_dir(rig.study.name), turn.cell, turn.block)
    aside = Path(tempfile.mkdtemp(prefix=".aside-", dir=_existing(rig.campaign.study_dir(rig.study.name))))
    try:
        status = _in_guest(rig, turn, cell, aside)
        status["wall_s"] = round(time.monotonic() - start, 3)
        status |= identity(cell, rig.images[cell.settings.image].digest)
        if target.exists():
            measure.keep_aside(target, "earlier")
        measure.settle(target, aside, status)
    finally:
        measure.drop_aside(aside)
    return status


def _existing(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _in_guest(rig: Rig, turn: Turn, cell: Cell, aside: Path) -> dict[str, Any]:
    files.write_json(aside / "settings.json", cell.settings.as_dict() | {"levels": cell.levels})
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=rig.folder, prefix="cell-")))
            disks, payload_facts = _disks(stack, rig, cell)
            guest = stack.enter_context(_guest(rig, cell, folder, disks))
        except Problem as problem:
            return _failed_start(problem)
        start_s = round(time.monotonic() - start, 4)
        run = measure.Run(cell, guest, aside, SOURCE, {})
        status = measure.measure(run)
        _write_facts(rig, turn, cell, run, payload_facts)
        for log in (guest.console, guest.console.with_suffix(".qemu.log")):
            (aside / log.name).write_bytes(log.read_bytes())
        status["seconds"] = {"start": start_s, **status["seconds"]}
    return status


def _failed_start(problem: Problem) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    status = {"status": "failed", "reason": problem.message, "hint": problem.hint, "step": "start"}
    return status | {"started_at": now, "duration_s": 0.0, "seconds": {}}


def _disks(stack: contextlib.ExitStack, rig: Rig, cell: Cell) -> tuple[tuple[Disk, ...], dict[str, Any]]:
    """Fresh disks where their class says, and the payload as a read-only disk."""
    confirmed, base = rig.campaign.confirmed_devices, cache_dir() / "scratch"
    found = [
        provide.disk(stack, rig.machine.disk(each.role, each.device_class), each.size, base, confirmed)
        for each in wanted(cell.settings.pool)
    ]
    name = cell.settings.payload["name"]
    if not payload_bytes(cell):
        return tuple(found), {"name": name, "sha256": "", "bytes": 0}
    payload, digest = payload_file(rig.campaign, cell)
    found.append(Disk(SOURCE, payload, read_only=True, direct=False))
    return tuple(found), {"name": name, "sha256": digest, "bytes": payload.stat().st_size}


def payload_bytes(cell: Cell) -> int:
    """What the workload takes of the payload; 0 where it makes its data by itself, and needs no disk to take them from."""
    return workloads.get(str(cell.settings.workload["tool"])).payload_bytes(cell.settings)


def payload_file(campaign: Campaign, cell: Cell) -> tuple[Path, str]:
    """The payload's bytes, made once per host and checked against the digest of when it was made."""
    name, size = str(cell.settings.payload["name"]), payload_bytes(cell)
    seed = int(cell.settings.payload.get("seed", campaign.seed))
    path = cache_dir() / "payloads" / f"{name}-{seed}-{size}.raw"
    note = path.with_suffix(".sha256")
    if not (path.is_file() and note.is_file() and files.sha256_file(path) == note.read_text().strip()):
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_text(note, payloads.get(name).write(path, size, seed) + "\n")
    return path, note.read_text().strip()


@contextlib.contextmanager
def _guest(rig: Rig, cell: Cell, folder: Path, disks: tuple[Disk, ...]) -> Iterator[Guest]:
    image = rig.images[cell.settings.image].folder
    launch = qemu.launch_of(rig.machine, rig.accelerator.name, image, disks)
    warm = filesystems.get(cell.settings.filesystem).warm(cell.settings)
    image_disk = image / "disk.qcow2"
    if rig.machine.mode == "boot":
        with template.boot(launch, image_disk, folder, warm, rig.record) as guest:
            yield guest
    else:
        with template.clone(_template(rig, launch, image_disk, warm), folder, disks, rig.record) as guest:
            yield guest


def _template(rig: Rig, launch: Launch, image_disk: Path, warm: str) -> Template:
    """The block's template for this image, warm-up (module parameters) and these disks; booted when first asked for."""
    key = files.sha256_json([str(image_disk), warm, [(d.serial, d.size) for d in launch.disks]])[:12]
    if key not in rig.templates:
        made = template.make(rig.folder / f"template-{key}", launch, image_disk, warm, rig.record)
        rig.say(f"    template booted: first command after {show_seconds(made.boot_s)}, ready after {show_seconds(made.total_s)}")
        rig.templates[key] = made
    return rig.templates[key]


def _write_facts(rig: Rig, turn: Turn, cell: Cell, run: measure.Run, payload: dict[str, Any]) -> None:
    """Under what circumstances these numbers came about; each value in the dataset carries them."""
    query_kvm = run.guest.qmp.execute("query-kvm") if run.guest.alive() else {}
    guest = _guest_facts(run.aside)
    facts = {
        "block": turn.block,
        "position": turn.position,
        "cell": cell.id,
        "mode": rig.machine.mode,
        "image": cell.settings.image,
        "image_digest": rig.images[cell.settings.image].digest,
        "image_versions": {key: value for key, value in rig.images[cell.settings.image].versions.items() if key in guest},
        "plan_prereg": rig.plan["prereg"],
        "host": rig.host,
        "accelerator": vars(rig.accelerator),
        "validity": validity.validity(rig.accelerator, rig.host, query_kvm),
        "payload": payload,
        "guest": {key: value for key, value in guest.items() if not key.startswith("disk.")},
        "disks": {key.removeprefix("disk."): value for key, value in guest.items() if key.startswith("disk.")},
        "qemu": list(run.guest.argv),
        "zassay": __version__,
        **run.base_facts,
    }
    files.write_json(run.aside / "facts.json", facts)


def _guest_facts(aside: Path) -> dict[str, str]:
    path = aside / "guest" / "facts"
    try:
        return readers.pairs(path.read_text()) if path.is_file() else {}
    except readers.Unreadable:
        return {}
