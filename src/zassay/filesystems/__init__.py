"""Filesystems: how one is made, made cold, flushed and read back. One class per file; each returns shell text and values."""

from __future__ import annotations

from abc import ABC, abstractmethod

from zassay import registry
from zassay.errors import unknown
from zassay.study import Settings

MOUNT = "/mnt/zassay"


class Filesystem(ABC):
    """A filesystem under test. Scripts may use ``$OUT`` (the run's folder in the guest) and fail with a non-zero exit."""

    name = ""
    packages: dict[str, tuple[str, ...]] = {}
    # Why the authors have not run it, where they have not.
    not_run = ""

    @abstractmethod
    def warm(self, settings: Settings) -> str:
        """Done once in a template: load modules with the cell's tunables, run the tools once."""

    @abstractmethod
    def create(self, settings: Settings, devices: list[str]) -> str:
        """Make and mount an empty filesystem at MOUNT on ``devices``, then write what it reads back to ``$OUT/readback``."""

    @abstractmethod
    def flush(self) -> str:
        """Everything written so far is on the device when this command returns."""

    @abstractmethod
    def make_cold(self) -> str:
        """Drop all cached data of the filesystem and write the proof to ``$OUT``."""

    @abstractmethod
    def after(self) -> str:
        """Write health and space accounting to ``$OUT``."""

    @abstractmethod
    def expected(self, settings: Settings) -> dict[str, str]:
        """What ``$OUT/readback`` has to say, by key."""

    @abstractmethod
    def space(self, text: str) -> tuple[int, int]:
        """(logical bytes, bytes used) from the file ``space`` that ``after`` wrote."""

    @abstractmethod
    def cached(self, text: str) -> float:
        """From the file ``cold`` that ``make_cold`` wrote: the share of the cache that still held data (0 to 1)."""

    @abstractmethod
    def health(self, text: str) -> tuple[str, float]:
        """From the file ``pool`` that ``after`` wrote: what is wrong with it ("" for nothing), and how full it is (0 to 1)."""

    def facts(self) -> str:
        """Lines of ``printf 'key\\tvalue\\n'`` for the facts of a guest: versions of its module and tools."""
        return ""

    def counters(self) -> tuple[str, ...]:
        """Paths (or globs) of its own counters in the guest, to be kept before and after each measured stretch."""
        return ()

    def weigh(self) -> str:
        """The file ``space`` of ``after`` alone, where that is quicker: it is asked for while something is measured."""
        return self.after()

    def accounts(self) -> str:
        """What ``after`` does not tell and a ledger wants: files of ``$OUT``, written while the data are still there."""
        return ""

    def pressed(self, settings: Settings) -> float:
        """How many bytes the devices take for one byte used (mirrors, parity)."""
        return 1.0


def get(name: str) -> Filesystem:
    import zassay.filesystems as package

    return registry.find(package, Filesystem, name, "settings.filesystem", "filesystem")()  # type: ignore[type-abstract]


def of(settings: Settings) -> Filesystem:
    """The filesystem of a cell, by the path on which its workload reaches it."""
    from zassay.filesystems import nfs

    under = get(settings.filesystem)
    if settings.path not in ("", nfs.LOCAL, nfs.NFS):
        raise unknown("settings.path", "path", settings.path, (nfs.LOCAL, nfs.NFS))
    return nfs.OverNfs(under) if settings.path == nfs.NFS else under
