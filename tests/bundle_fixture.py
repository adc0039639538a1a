"""A fabricated project with a finished campaign, small but with every kind of file a bundle takes. For tests alone."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from zassay.bundle.build import Built, build

STUDY = "compression-levels"
FACTORS = {"compression": ["off", "lz4", "gzip-9"], "corpus": ["text", "media"]}
METRICS = {"write_time": "s", "compressratio": "x", "wr_iss_threads": "count"}
CONFIG = """\
campaign:
  name: made-up
  version: 1.2.0
  title: "Published ZFS studies, asked again: \\"made up\\" & <small>"
  authors: ["Müller, Jo Ann (0000-0002-1825-0097)", The zassay authors]
studies: [compression-levels]
scale: smoke
seed: 1
accel: auto
scratch: ""
"""
HEAD = "study campaign protocol cell block boot run position status reason flags metric unit higher_is_better value resolution"
TAIL = "bound validity_class synthetic mode image image_digest kernel zfs accel cpu_model host started_at duration_s prereg raw"


def cells() -> list[dict[str, Any]]:
    pairs = [(c, p) for c in FACTORS["compression"] for p in FACTORS["corpus"]]
    return [{"id": f"compression={c},corpus={p}", "levels": {"compression": c, "corpus": p}} for c, p in pairs]


def columns() -> list[str]:
    return [*HEAD.split(), *(f"f_{name}" for name in FACTORS), *TAIL.split()]


def row(cell: dict[str, Any], block: int, metric: str, prereg: str, **changes: str) -> dict[str, str]:
    values = {
        **dict.fromkeys(columns(), ""),
        "study": STUDY,
        "campaign": "made-up",
        "protocol": "improved",
        "cell": cell["id"],
        "block": str(block),
        "boot": f"{cell['id']}/{block}",
        "run": "1",
        "position": "1",
        "status": "ok",
        "metric": metric,
        "unit": METRICS[metric],
        "value": f"{1.25 * block:.3f}",
        "resolution": "0.01",
        "bound": "CPU-bound",
        "validity_class": "E",
        "synthetic": "false",
        "mode": "clone",
        "image": "debian-12",
        "image_digest": "ab" * 32,
        "kernel": "6.1.0-1-cloud-amd64",
        "zfs": "2.1.11",
        "accel": "tcg",
        "cpu_model": "EPYC",
        "host": "bench",
        "started_at": f"2026-11-20T0{block}:00:00Z",
        "duration_s": "12.5",
        "prereg": prereg,
        "raw": f"raw/{cell['id']}/block-{block:02d}",
    }
    return values | {f"f_{name}": level for name, level in cell["levels"].items()} | changes


def rows(prereg: str, blocks: int) -> Iterator[dict[str, str]]:
    for block in range(1, blocks + 1):
        for cell in cells():
            failed = block == 2 and cell["id"] == "compression=lz4,corpus=text"
            changes = {"status": "failed", "reason": "guest gave no answer, within 60 s", "value": ""} if failed else {}
            yield from (row(cell, block, metric, prereg, **changes) for metric in METRICS)


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def write_csv(path: Path, header: list[str], records: Iterator[dict[str, str]] | list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


def make_project(root: Path, blocks: int = 3, git: bool = True) -> Path:
    """A project in ``root``, with sources, configuration, and results; returns ``root``."""
    _sources(root)
    plan = _plan(blocks, root)
    _results(root, plan, blocks)
    if git:
        commit(root)
    return root


def _sources(root: Path) -> None:
    write(root / "Snakefile", "rule all:\n    input: 'results/report.html'\n")
    write(root / ".gitignore", "/results/*\n!/results/README.md\n")
    write(root / "results" / "README.md", "What is where.\n")
    write(root / "LICENSE", "Apache License 2.0\n")
    write(root / "LICENSES" / "CC-BY-4.0.txt", "CC BY 4.0\n")
    write(root / "tools" / "setup", "#!/bin/sh\necho set up\n")
    write(root / "requirements" / "run.lock", "PyYAML==6.0.3 --hash=sha256:00\n")
    write(root / "config" / "config.yaml", CONFIG)
    write(root / "config" / "scales" / "smoke.yaml", "blocks: 3\n")
    write(root / "studies" / STUDY / "study.yaml", "title: Compression levels\n")
    write(root / "studies" / STUDY / "claims.yaml", "S3-01: {type: det}\n")
    write(root / "studies" / STUDY / "published.csv", "study,value,unit\nS3,1.47,x\n")
    write(root / "images" / "locks" / "debian-12.tsv", "# zassay package lock 1\nname\tversion\nzfs-dkms\t2.1.11\n")


def _plan(blocks: int, root: Path) -> dict[str, Any]:
    order = [{"block": b, "position": p, "cell": cell["id"]} for b in range(1, blocks + 1) for p, cell in enumerate(cells(), 1)]
    claims = hashlib.sha256((root / "studies" / STUDY / "claims.yaml").read_bytes()).hexdigest()
    plan: dict[str, Any] = {"study": STUDY, "question": "What does compression cost?", "cells": cells(), "order": order}
    plan["claims_sha256"] = claims
    covered = {key: plan[key] for key in ("claims_sha256", "cells", "order")}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return plan | {"prereg": hashlib.sha256(text.encode()).hexdigest()}


def _results(root: Path, plan: dict[str, Any], blocks: int) -> None:
    results = root / "results"
    folder = results / STUDY
    write(folder / "plan.json", json.dumps(plan))
    write(folder / "facts.json", '{"host": {"cpus": 2}}\n')
    write(folder / "timing.json", '{"total_s": 100}\n')
    write_csv(folder / "dataset.csv", columns(), rows(plan["prereg"], blocks))
    write(folder / "datapackage.json", json.dumps({"resources": [_descriptor()]}))
    write(folder / "estimates.csv", "claim,estimate,lower,upper,n\nS3-02,0.5,0.4,0.6,3\nS3-03,NA,NA,NA,0\n")
    write(folder / "verdicts.csv", "claim,verdict,detail\nS3-02,REPLICATED,\nS3-03,NOT TESTABLE HERE,class\n")
    for turn in plan["order"]:
        _run(folder, turn["cell"], turn["block"])
    write(folder / "figures" / "fig1.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>\n")
    write(folder / "figures" / "fig1.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    write(results / "report.html", "<!DOCTYPE html><title>report</title>\n")
    write(results / "host-dpkg.tsv", "package\tversion\tarchitecture\nqemu-system-x86\t7.2\tamd64\n")
    write(results / "run-records.jsonl", '{"stage":"run","end":1}\n{"stage":"bundle","end":2}\n')
    cache = root.parent / f"{root.name}-cache" / "debian-12"
    write(cache / "manifest.json", '{"name":"debian-12","sha256":"' + "ab" * 32 + '"}\n')
    write(cache / "disk.qcow2", b"QFI\xfb")
    (results / "images").mkdir(exist_ok=True)
    (results / "images" / "debian-12").symlink_to(cache)


def _descriptor() -> dict[str, Any]:
    fields = [{"name": name, "type": "string", "description": f"about {name}"} for name in columns()]
    return {"name": "dataset", "path": "dataset.csv", "schema": {"fields": fields}}


def _run(folder: Path, cell: str, block: int) -> None:
    raw = folder / "raw" / cell / f"block-{block:02d}"
    write(raw / "status.json", '{"status": "ok"}\n')
    write(raw / "guest" / "transcript.txt", f"$ zfs create pool/a\nblock {block}\n")
    write(raw / "guest" / "empty", "")
    write(folder / "parsed" / cell / f"block-{block:02d}.json", '{"measurements": {}}\n')


def commit(root: Path) -> None:
    """Make ``root`` a git checkout with one commit, with no help from this host's git configuration."""
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    when = {"GIT_AUTHOR_DATE": "2026-11-20T00:00:00Z", "GIT_COMMITTER_DATE": "2026-11-20T00:00:00Z"}
    env = os.environ | who | when | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "made up"]):
        subprocess.run(["git", *words], cwd=root, env=env, check=True, timeout=60)


def change_rows(root: Path, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Rewrite the dataset with ``change`` applied to each row."""
    path = root / "results" / STUDY / "dataset.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        records = [change(record) for record in csv.DictReader(handle)]
    write_csv(path, columns(), records)


def bundle(project: Path, demo: bool = False) -> Built:
    return build(project, project / "config" / "config.yaml", demo=demo)


def inside(built: Built, name: str) -> bytes:
    with zipfile.ZipFile(built.written.path) as archive:
        return archive.read(f"{built.written.path.stem}/data/{name}")


def names(built: Built) -> set[str]:
    with zipfile.ZipFile(built.written.path) as archive:
        return {name.partition("/data/")[2] for name in archive.namelist() if "/data/" in name}
