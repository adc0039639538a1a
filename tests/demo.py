"""A whole campaign for tests, in a copy of this project: the recorded one, or one made up by arithmetic.

What is made up is marked by the campaign's name and never leaves a test's temporary folder.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tree

from zassay import campaign, files, plan, study
from zassay.bundle.build import Built, build

ROOT = tree.ROOT
STUDY = "compression-levels"
RECORDING = ROOT / "tests" / "replay" / f"{STUDY}.tar.xz"
SOURCES = ("config", "studies", "machines", "images", "analysis", "src", "workflows", "profiles", "tools", "LICENSES")
ALONE = ("Snakefile", "LICENSE", "CITATION.cff", "pyproject.toml")
RATIO = {"off": 1.0, "lzjb": 1.47, "lz4": 1.6, "gzip-2": 2.35, "gzip": 2.52, "gzip-9": 2.52, "zstd": 2.6}
COST = {"off": 1.0, "lzjb": 1.06, "lz4": 1.02, "gzip-2": 1.86, "gzip": 3.5, "gzip-9": 3.7, "zstd": 1.4}
DEADLINE_S = 300
HEAD = "study campaign protocol cell block boot run position status reason flags metric unit higher_is_better value resolution"
TAIL = "bound validity_class synthetic mode image image_digest kernel zfs accel cpu_model host started_at duration_s prereg raw"
GUEST = {"zfs": "2.1.11-1+deb12u1", "kernel": "6.1.0-56-amd64", "accel": "tcg", "validity_class": "E", "cpu_model": "AMD EPYC"}
QEMU = "driver=raw,node-name=pool0,read-only=off,file.driver=file,file.cache.direct={direct},file.aio=native"


def project(root: Path) -> Path:
    """A copy of what the project is made of, without tests and without git."""
    for path in tree.written():
        if path.parts[0] in SOURCES or str(path) in ALONE:
            (root / path.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, root / path)
    (root / "results").mkdir()
    return root


def run(command: list[str], root: Path) -> str:
    environment = os.environ | {"ZASSAY_ROOT": str(root), "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
    environment.pop("ZASSAY_CONFIG", None)
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def unpack(root: Path) -> None:
    """The recording into ``results/``, by tar: Debian 12's Python cannot yet be told to extract plain files alone."""
    (root / "results").mkdir(exist_ok=True)
    subprocess.run(["tar", "-C", str(root / "results"), "-xJf", str(RECORDING)], check=True, timeout=DEADLINE_S)


def recorded(root: Path) -> Path:
    """The recorded campaign, parsed anew: what tools/demonstrate does in a clone."""
    unpack(root)
    for verb in ("parse", "dataset"):
        run(["zassay", verb, STUDY], root)
    return root


def invented(root: Path, blocks: int = 3, seed: int = 1, scale: float = 1.0, direct: str = "on", **guest: str) -> Path:
    """A campaign made up by arithmetic: costs to the power of ``scale``, circumstances changed by ``guest``."""
    what = root / "config" / "config.yaml"
    text = what.read_text(encoding="utf-8").replace("name: zassay-smoke", f"name: made-up-{seed}")
    what.write_text(f"{text}blocks: {blocks}\n", encoding="utf-8")
    return measured(root, seed, scale, direct, **guest)


def measured(root: Path, seed: int = 1, scale: float = 1.0, direct: str = "on", **guest: str) -> Path:
    """The results of the campaign that ``root`` is configured for, made up."""
    setup = campaign.load(root, root / "config" / "config.yaml")
    planned = plan.make(setup, study.load(root, STUDY, setup.scale))
    folder = setup.study_dir(STUDY)
    files.write_json(folder / "plan.json", planned)
    circumstances = GUEST | guest
    write_dataset(folder / "dataset.csv", planned, circumstances, random.Random(seed), scale)
    files.write_json(folder / "facts.json", facts(circumstances))
    files.write_json(folder / "timing.json", {"predicted_s": 400, "actual_s": 431, "stages": {}})
    first = folder / "raw" / planned["cells"][0]["id"] / "block-01"
    files.write_json(first / "facts.json", {"qemu": ["qemu-system-x86_64", "-blockdev", QEMU.format(direct=direct)]})
    return root


def facts(guest: dict[str, str]) -> dict[str, Any]:
    return {
        "debian-12": {
            "accelerator": {"name": guest["accel"]},
            "guest": {"kernel": guest["kernel"], "zfs_module": guest["zfs"], "cpu_model": "AMD EPYC Processor"},
            "host": {"cores": 2, "cpu_model": guest["cpu_model"], "kernel": "6.1.0", "memory": 25276510208},
            "qemu": {"major": 7, "minor": 2, "micro": 22},
            "validity": {"class": guest["validity_class"]},
        }
    }


def write_dataset(path: Path, planned: dict[str, Any], guest: dict[str, str], dice: random.Random, scale: float) -> None:
    columns = [*HEAD.split(), *(f"f_{name}" for name in planned["factors"]), *TAIL.split()]
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, columns, restval="", lineterminator="\n")
        writer.writeheader()
        for number, turn in enumerate(planned["order"]):
            cell = next(each for each in planned["cells"] if each["id"] == turn["cell"])
            writer.writerows(rows_of(planned, turn, cell, guest, values(cell["levels"], planned, dice, scale), number))


def rows_of(
    planned: dict[str, Any],
    turn: dict[str, Any],
    cell: dict[str, Any],
    guest: dict[str, str],
    found: dict[str, float],
    number: int,
) -> list[dict[str, object]]:
    place = f"{cell['id']}/block-{turn['block']:02d}"
    start = datetime(2026, 11, 20, tzinfo=UTC) + timedelta(seconds=30 * number)
    row: dict[str, object] = {
        "study": STUDY,
        "campaign": planned["campaign"],
        "protocol": "improved",
        "cell": cell["id"],
        "block": turn["block"],
        "boot": place,
        "run": 1,
        "position": turn["position"],
        "status": "ok",
        "bound": "CPU-bound",
        "synthetic": "false",
        "mode": "clone",
        "image": "debian-12",
        "image_digest": "ab" * 32,
        "host": "made-up",
        "started_at": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "duration_s": 20,
        "prereg": planned["prereg"],
        "raw": f"raw/{place}",
        **guest,
        **{f"f_{name}": level for name, level in cell["levels"].items()},
    }
    better = {"higher": "true", "lower": "false", "none": ""}
    return [
        row
        | {"metric": m["name"], "unit": m["unit"], "higher_is_better": better[m["better"]], "resolution": m["resolution"] or ""}
        | {"value": f"{found[m['name']]:.9g}"}
        for m in planned["metrics"]
    ]


def values(levels: dict[str, str], planned: dict[str, Any], dice: random.Random, scale: float) -> dict[str, float]:
    """Every metric of one run: the source's own shape with 2 % of noise on times and none on counts."""
    text = levels["corpus"] == "text"
    ratio = RATIO[levels["compression"]] if text else 1.0 + 0.01 * (levels["compression"] != "off")
    threads = {"50": 2, "75": 3}[levels["zio_taskq_batch_pct"]]
    cost = COST[levels["compression"]] ** scale * (1.2 if threads == 2 else 1.0)
    write, read = 4.0 * cost * dice.gauss(1, 0.02), 3.0 * dice.gauss(1, 0.005)
    size = planned["sizes"]["data"]
    return {
        "write_time": write,
        "read_time": read,
        "total_time": write + read,
        "compressratio": ratio * dice.gauss(1, 1e-4),
        "write_cpu_busy": 0.6,
        "read_cpu_busy": 0.2,
        "wr_iss_threads": threads,
        "thread_cap": threads / 4,
        "logical_bytes": size,
        "used_bytes": round(size / ratio),
        "pool_bytes_written": round(size / ratio) + 65536,
        "pool_bytes_read": round(size / ratio),
    }


def analyse(root: Path) -> Path:
    """Figures, estimates, verdicts and the report, by the commands of the rules."""
    of, claims = f"results/{STUDY}", f"studies/{STUDY}/claims.yaml"
    for command in (
        ["analysis/exec/figures", "--study-dir", of, "--claims", claims, "--set", "data"],
        ["analysis/exec/estimate", "--study-dir", of, "--claims", claims, "--lint", f"{of}/figures/lint.json"],
        ["analysis/exec/figures", "--study-dir", of, "--claims", claims, "--set", "claims"],
        ["analysis/exec/report", "--results", "results", "--studies", STUDY, "--config", "config/config.yaml"],
        ["zassay", "pdf"],
    ):
        run(command, root)
    return root


def decide(root: Path) -> Path:
    """Verdicts alone, and a page that stands for the report: enough for a comparison, in a fraction of the time."""
    of, claims = f"results/{STUDY}", f"studies/{STUDY}/claims.yaml"
    run(["analysis/exec/estimate", "--study-dir", of, "--claims", claims], root)
    (root / "results" / "report.html").write_text("<!DOCTYPE html><title>none</title>\n", encoding="utf-8")
    return root


def bundle(root: Path) -> Built:
    return build(root, root / "config" / "config.yaml")


def changed(path: Path, **keys: object) -> None:
    """Replace top-level keys of a JSON file."""
    files.write_json(path, json.loads(path.read_text(encoding="utf-8")) | keys)
