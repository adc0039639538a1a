"""In what circumstances two campaigns differ, ranked by how much each has been seen to matter for ZFS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay.bundle import tables
from zassay.bundle.opened import Opened

# From what changes a result most to what changes it least; the first is no circumstance but the question itself.
TOPICS = ("plan", "ZFS", "kernel", "accelerator", "cache mode", "memory : ARC", "CPU", "tools")
OF_ROWS = {
    "zfs": "ZFS",
    "kernel": "kernel",
    "accel": "accelerator",
    "validity_class": "accelerator",
    "mode": "accelerator",
    "cpu_model": "CPU",
    "host": "CPU",
    "image": "tools",
    "image_digest": "tools",
}
TOOLS = re.compile(
    r"(qemu-(system-x86|utils)|r-base-core|r-cran-[a-z0-9.-]+|python3|libpangoft2-1.0-0|packer|mmdebstrap|e2fsprogs)"
)
CACHE = re.compile(r"(?:file\.)?(cache\.[a-z-]+|aio)=([a-z]+)")
NO_VALUE = "not recorded"
LONGEST = 200


@dataclass(frozen=True)
class Row:
    """One circumstance of all bundles; ``values`` in their order."""

    topic: str
    name: str
    values: tuple[str, ...]

    @property
    def same(self) -> bool:
        return len(set(self.values)) == 1


def wanted(name: str) -> bool:
    """What this module reads of a bundle; of the runs' own facts, its caller adds one file per study."""
    parts = name.split("/")
    if parts[0] == "results":
        return len(parts) == 3 and parts[2] in ("plan.json", "facts.json", "dataset.csv")
    return name == "environment/host-dpkg.tsv" or (parts[:2] == ["environment", "images"] and parts[-1] == "manifest.json")


def compare(bundles: Sequence[Opened], studies: Sequence[str]) -> list[Row]:
    """Every circumstance that any of the bundles records, the weightiest first."""
    facts = [dict(_facts(bundle, studies)) for bundle in bundles]
    keys = sorted({key for each in facts for key in each}, key=lambda key: (TOPICS.index(key[0]), key[1]))
    return [Row(topic, name, tuple(each.get((topic, name), NO_VALUE) for each in facts)) for topic, name in keys]


def _facts(bundle: Opened, studies: Sequence[str]) -> Iterator[tuple[tuple[str, str], str]]:
    for study in studies:
        mark = f"{study}: " if len(studies) > 1 else ""
        for topic, name, value in _of_study(bundle, study):
            yield (topic, mark + name), _plain(value)
    for topic, name, value in (*_of_host(bundle), *_of_images(bundle)):
        yield (topic, name), _plain(value)


def _plain(value: object) -> str:
    """One printable line: a stranger's text goes to a terminal."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple | set) else str(value)
    return "".join(char if char.isprintable() else "?" for char in text)[:LONGEST]


Found = Iterator[tuple[str, str, object]]


def _of_study(bundle: Opened, study: str) -> Found:
    folder = f"results/{study}"
    if bundle.has(f"{folder}/dataset.csv"):
        yield from _of_rows(bundle.data / folder / "dataset.csv")
    if bundle.has(f"{folder}/plan.json"):
        yield from _of_plan(bundle.json(f"{folder}/plan.json"))
    if bundle.has(f"{folder}/facts.json"):
        yield from _of_facts(bundle.json(f"{folder}/facts.json"))
    run = next((bundle.data / folder).glob("raw/*/*/facts.json"), None)
    if run:
        yield from _of_disks(bundle.json(run.relative_to(bundle.data).as_posix()))


def _of_rows(path: Path) -> Found:
    seen: dict[str, set[str]] = {name: set() for name in OF_ROWS}
    for record in tables.records_of(path):
        for name in OF_ROWS:
            seen[name].add(record.get(name, ""))
    for name, topic in OF_ROWS.items():
        yield topic, name, sorted(seen[name] - {""}) or [NO_VALUE]


def dig(value: Any, *keys: str) -> Any:
    """A value deep inside what a stranger's JSON holds, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _of_plan(plan: Any) -> Found:
    for key in ("scale", "seed", "blocks", "claims_sha256", "prereg"):
        yield "plan", key, dig(plan, key)
    memory, arc = dig(plan, "sizes", "memory"), dig(plan, "sizes", "arc")
    if isinstance(memory, int) and isinstance(arc, int) and arc > 0:
        yield "memory : ARC", "memory / ARC", f"{memory / arc:g}"
        yield "memory : ARC", "guest memory, bytes", memory
    cells = dig(plan, "cells")
    settings = dig(cells[0], "settings") if isinstance(cells, list) and cells else None
    for key in ("primarycache", "secondarycache"):
        yield "cache mode", key, dig(settings, "properties", key)
    disks = dig(settings, "machine", "disks")
    if isinstance(disks, Mapping):
        yield "cache mode", "class of the disks", sorted(f"{role} {dig(disk, 'device_class')}" for role, disk in disks.items())
    yield "CPU", "guest CPUs", dig(settings, "machine", "cpus")
    yield "tools", "zassay", dig(plan, "zassay")


def _of_facts(facts: Any) -> Found:
    for image, each in sorted(facts.items()) if isinstance(facts, Mapping) else ():
        yield "ZFS", f"userland of {image}", dig(each, "guest", "zfs_tools")
        yield "kernel", "host kernel", dig(each, "host", "kernel")
        yield "CPU", "guest CPU model", dig(each, "guest", "cpu_model")
        yield "CPU", "host CPUs", dig(each, "host", "cores")
        yield "CPU", "host memory, bytes", dig(each, "host", "memory")
        yield "tools", "QEMU", [dig(each, "qemu", part) for part in ("major", "minor", "micro")]


def _of_disks(facts: Any) -> Found:
    """How the host caches the pool's disks: QEMU's own words."""
    words = dig(facts, "qemu")
    drives = [str(word) for word in words if "node-name=pool" in str(word)] if isinstance(words, list) else []
    modes = sorted({" ".join(f"{key}={value}" for key, value in CACHE.findall(word)) for word in drives})
    if modes:
        yield "cache mode", "disks of the pool on the host", modes


def _of_host(bundle: Opened) -> Found:
    yield "tools", "workflow", bundle.info.get("Workflow-Commit", NO_VALUE)
    if not bundle.has("environment/host-dpkg.tsv"):
        return
    with (bundle.data / "environment" / "host-dpkg.tsv").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            name, _, rest = line.rstrip("\n").partition("\t")
            name = name.partition(":")[0]
            if TOOLS.fullmatch(name):
                yield "tools", name, rest.partition("\t")[0]


def _of_images(bundle: Opened) -> Found:
    for path in sorted((bundle.data / "environment" / "images").glob("*/manifest.json")):
        manifest = bundle.json(path.relative_to(bundle.data).as_posix())
        packages = dig(manifest, "packages")
        yield "tools", f"{path.parent.name}: packages", len(packages) if isinstance(packages, list) else NO_VALUE
        yield "tools", f"{path.parent.name}: lock", dig(manifest, "lock_sha256")
        yield "tools", f"{path.parent.name}: base", dig(manifest, "base", "tar_sha256")


def lines(rows: Sequence[Row], labels: Sequence[str]) -> Iterator[str]:
    """What differs, the weightiest first, and then what does not."""
    differing = [row for row in rows if not row.same]
    yield "environment: what differs, the weightiest first" if differing else "environment: no difference recorded"
    for rank, topic in enumerate(TOPICS):
        for row in (row for row in differing if row.topic == topic):
            shown = " | ".join(f"{label} {_short(value)}" for label, value in zip(labels, row.values, strict=True))
            yield f"  {rank} {topic:<12} {row.name}: {shown}"
    same = [topic for topic in TOPICS if topic not in {row.topic for row in differing} and topic in {row.topic for row in rows}]
    if same:
        yield f"  the same: {', '.join(same)}"


def _short(value: str) -> str:
    return f"{value[:16]}..." if re.fullmatch(r"[0-9a-f]{40,}", value) else value
