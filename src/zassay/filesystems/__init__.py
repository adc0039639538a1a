"""Filesystems: how one is made, made cold, flushed and read back. One class per file; each returns shell text and values."""

from __future__ import annotations

from abc import ABC, abstractmethod

from zassay import registry
from zassay.study import Settings

MOUNT = "/mnt/zassay"


class Filesystem(ABC):
    """A filesystem under test. Scripts may use ``$OUT`` (the run's folder in the guest) and fail with a non-zero exit."""

    name = ""
    packages: dict[str, tuple[str, ...]] = {}

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


def get(name: str) -> Filesystem:
    import zassay.filesystems as package

    return registry.find(package, Filesystem, name, "settings.filesystem", "filesystem")()  # type: ignore[type-abstract]
