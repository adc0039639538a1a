"""The measuring initrd: busybox, the few modules a guest needs to reach its disk, and what ``images/guest`` holds."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from zassay import files, proc
from zassay.errors import Problem

BUSYBOX = "bin/busybox"
DECOMPRESS_DEADLINE_S = 60
MODE_FILE, MODE_EXECUTABLE, MODE_FOLDER, MODE_DEVICE = 0o100644, 0o100755, 0o040755, 0o020600
CONSOLE = (5, 1)


@dataclass(frozen=True)
class Member:
    """One member of the archive: its mode with type bits; ``device`` is (major, minor) of a character device."""

    name: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def build(modules_root: Path, guest_dir: Path, modules: list[str], out: Path) -> None:
    """Write the initrd to ``out``.

    ``modules_root`` holds ``bin/busybox`` and ``lib/modules/<kernel>``; ``modules`` are names in the order wanted, what
    they depend on is added before them. Every regular file of ``guest_dir`` goes to ``/zassay/``, its ``init`` also to
    ``/init``. The same input makes the same bytes.
    """
    with files.atomic(out, "wb") as handle:
        handle.write(archive(members(modules_root, guest_dir, modules)))


def members(modules_root: Path, guest_dir: Path, modules: list[str]) -> list[Member]:
    tree = kernel_tree(modules_root)
    paths = insmod_order(tree, modules)
    loaded = [Member(f"lib/modules/{path.name.split('.ko')[0]}.ko", MODE_FILE, _plain(tree / path)) for path in paths]
    guest = [Member(f"zassay/{path.name}", MODE_EXECUTABLE, path.read_bytes()) for path in guest_files(guest_dir)]
    init = [Member("init", MODE_EXECUTABLE, member.data) for member in guest if member.name == "zassay/init"]
    if not init:
        raise Problem(f"{guest_dir}: no file init in it", "it is the first process of the measuring boot")
    listed = "".join(f"/{member.name}\n" for member in loaded)
    fixed = [
        Member("dev/console", MODE_DEVICE, device=CONSOLE),
        Member(BUSYBOX, MODE_EXECUTABLE, (modules_root / BUSYBOX).read_bytes()),
        Member("zassay/modules", MODE_FILE, listed.encode()),
    ]
    return _with_folders([*fixed, *init, *guest, *loaded])


def guest_files(guest_dir: Path) -> list[Path]:
    return sorted(path for path in guest_dir.iterdir() if path.is_file() and not path.name.startswith("."))


def kernel_tree(modules_root: Path) -> Path:
    """``lib/modules/<kernel>`` of the one kernel that is there."""
    trees = sorted((modules_root / "lib" / "modules").glob("*/modules.dep"))
    if len(trees) != 1:
        raise Problem(f"{modules_root}: {len(trees)} kernels with modules in it", "an image has exactly one")
    return trees[0].parent


def insmod_order(tree: Path, wanted: Iterable[str]) -> list[Path]:
    """Paths below ``tree`` in the order they can be inserted; built-in modules are left out."""
    depends = dict(_depends((tree / "modules.dep").read_text(encoding="utf-8")))
    by_name = {module_name(path): path for path in depends}
    soft = _soft_depends(tree / "modules.softdep")
    aliases = _aliases(tree / "modules.alias")
    built_in = {module_name(line) for line in _lines(tree / "modules.builtin")}
    order: list[str] = []

    def visit(name: str, must: bool) -> None:
        path = by_name.get(name) or by_name.get(_provider(aliases.get(name, [])))
        if path is None:
            if must and name not in built_in:
                raise Problem(f'{tree.name}: no module "{name}"', "see initrd_modules of the image")
            return
        if path in order:
            return
        for before in soft.get(module_name(path), ()):
            visit(before, must=False)
        for before in reversed(depends[path]):
            visit(module_name(before), must=True)
        order.append(path)

    for name in wanted:
        visit(name.replace("-", "_"), must=True)
    return [Path(path) for path in order]


def module_name(path: str) -> str:
    return Path(path).name.split(".ko")[0].replace("-", "_")


def _depends(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in text.splitlines():
        path, _, needed = line.partition(":")
        yield path, needed.split()


def _soft_depends(path: Path) -> dict[str, list[str]]:
    """What is to be loaded before a module although no symbol needs it (``softdep NAME pre: A B``)."""
    found: dict[str, list[str]] = {}
    for line in _lines(path):
        match = re.match(r"softdep (\S+) pre: ([^:]*?)(?: post:.*)?$", line)
        if match:
            found.setdefault(match[1].replace("-", "_"), []).extend(n.replace("-", "_") for n in match[2].split())
    return found


def _aliases(path: Path) -> dict[str, list[str]]:
    """Names that modules are asked for by (``crypto_crc32c``), without the patterns for devices."""
    found: dict[str, list[str]] = {}
    for line in _lines(path):
        alias, module = line.split()[1:3] if line.startswith("alias ") else ("*", "")
        if "*" not in alias:
            found.setdefault(alias.replace("-", "_"), []).append(module.replace("-", "_"))
    return found


def _provider(modules: list[str]) -> str:
    """One of the modules that offer the same: the generic one, as others refuse CPUs without their instructions."""
    return next((name for name in modules if name.endswith("_generic")), modules[0] if modules else "")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _plain(path: Path) -> bytes:
    """A module without its compression: busybox's insmod knows none."""
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        plain = path.with_suffix("")
        proc.run(["zstd", "-q", "-d", "-f", str(path), "-o", str(plain)], deadline_s=DECOMPRESS_DEADLINE_S)
        return plain.read_bytes()
    return path.read_bytes()


def _with_folders(given: list[Member]) -> list[Member]:
    """The members with the folders they lie in, sorted by name, so that a folder comes before its content."""
    folders = {str(parent) for member in given for parent in Path(member.name).parents if parent.name}
    empty = {"proc", "sys", "root"}
    return sorted([*given, *(Member(name, MODE_FOLDER) for name in folders | empty)], key=lambda member: member.name)


def archive(given: Iterable[Member]) -> bytes:
    """A cpio archive in the format the kernel reads (newc): numbered inodes, no times, all owned by root."""
    parts = [_record(member, number) for number, member in enumerate(given, 1)]
    return b"".join([*parts, _record(Member("TRAILER!!!", 0), 0)])


def _record(member: Member, inode: int) -> bytes:
    name = member.name.encode() + b"\0"
    links = 2 if member.mode == MODE_FOLDER else 1
    fields = (inode, member.mode, 0, 0, links, 0, len(member.data), 0, 0, *member.device, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in fields) + name
    return _padded(head) + _padded(member.data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
