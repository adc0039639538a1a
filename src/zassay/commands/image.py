"""Build, check and list the images that studies boot."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from zassay import units
from zassay.errors import Problem
from zassay.image import build, cache, catalog, keys, lock, resolve, twice
from zassay.image.steps import Steps
from zassay.machine import accel

ACTIONS: dict[str, str] = {
    "build": "build an image as far as its files changed",
    "verify": "read a built image again and compare its digests",
    "list": "what there is and what is built",
    "path": "print the folder of a built image",
    "relock": "take today's packages into the lock and show what changed",
    "remove": "remove what is built of an image (its packages stay)",
    "twice": "build the base twice and compare the bytes",
}
HEAD: tuple[str, ...] = ("image", "system", "kernel", "zfs", "built", "size", "digest", "lock")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, text in ACTIONS.items():
        each = actions.add_parser(action, help=text, description=text)
        if action != "list":
            each.add_argument("name", metavar="NAME", help="an image: the name of a file images/NAME.yaml")
        if action in ("build", "twice"):
            each.add_argument("--log-dir", type=Path, help="where the logs go (default: results/logs/image/NAME)")
        if action == "remove":
            each.add_argument("--old", action="store_true", help="only what no longer fits the image's files")
        if action == "build":
            each.add_argument("--link", type=Path, help="make this a symbolic link to the built image")
            each.add_argument("--accelerator", choices=["kvm", "tcg"], help="do not probe, use this one")


def main(args: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "build": _build,
        "verify": _verify,
        "list": _list,
        "path": _path,
        "relock": _relock,
        "remove": _remove,
        "twice": _twice,
    }
    return actions[args.action](args)


def _steps(args: argparse.Namespace) -> Steps:
    return Steps(args.name, args.log_dir or Path("results/logs/image") / args.name)


def _build(args: argparse.Namespace) -> int:
    steps = _steps(args)
    path = build.build(catalog.load(args.name), steps, lambda kernel: args.accelerator or accel.probe(kernel).name)
    if args.link:
        cache.link(args.link, path)
    steps.say(f"ready: {path}")
    return 0


def _verify(args: argparse.Namespace) -> int:
    path = cache.entry(args.name)
    faults = cache.verify(path)
    if faults:
        fix = f"build it again: zassay image remove {args.name} && zassay image build {args.name}"
        raise Problem(f"image {args.name}: {len(faults)} files are damaged", "\n".join([*faults, fix]))
    print(f"image {args.name}: {len(cache.manifest(path)['files'])} files are as the manifest says ({path})")
    return 0


def _path(args: argparse.Namespace) -> int:
    print(cache.entry(args.name))
    return 0


def _list(_: argparse.Namespace) -> int:
    rows = [HEAD, *(_row(catalog.load(name)) for name in catalog.names())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _row(spec: catalog.ImageSpec) -> tuple[str, ...]:
    path = cache.folder(spec.name) / keys.of(spec).entry
    system = f"{spec.family} {spec.release}"
    if not (path / cache.MANIFEST).is_file():
        return (spec.name, system, spec.kernel, spec.zfs, "no", "-", "-", _lock_age(spec))
    manifest = cache.manifest(path)
    disk = manifest["files"]["disk.qcow2"]
    built = (manifest["built_at"], units.show_bytes(disk["size"]), disk["sha256"][:12])
    return (spec.name, system, manifest["kernel"], manifest["zfs"], *built, _lock_age(spec))


def _lock_age(spec: catalog.ImageSpec) -> str:
    if not spec.lock.is_file():
        return "none"
    made = datetime.strptime(lock.read(spec.lock).made, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return f"{(datetime.now(UTC) - made).days} days old"


def _relock(args: argparse.Namespace) -> int:
    spec = catalog.load(args.name)
    old = lock.read(spec.lock).packages if spec.lock.is_file() else ()
    new = resolve.resolve(spec)
    changes = lock.difference(old, new.packages)
    if not changes:
        print(f"{spec.lock}: nothing changed ({len(old)} packages)")
        return 0
    lock.write(spec.lock, new)
    print("\n".join(changes))
    print(f"{spec.lock}: {len(changes)} of {len(new.packages)} packages changed: a new image identity")
    return 0


def _remove(args: argparse.Namespace) -> int:
    spec = catalog.load(args.name)
    for path in cache.remove(spec, keep=keys.of(spec) if args.old else None):
        print(f"removed {path}")
    return 0


def _twice(args: argparse.Namespace) -> int:
    return 0 if twice.compare(catalog.load(args.name), _steps(args)) else 1
