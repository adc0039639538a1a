"""Plug-ins register themselves: import every module of a package, then look among the subclasses."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

from zassay.errors import unknown

T = TypeVar("T")


def load_all(package: ModuleType) -> None:
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def find(package: ModuleType, base: type[T], name: str, where: str, what: str) -> type[T]:
    """The subclass of ``base`` whose ``name`` is ``name``; raises Problem with the known names."""
    known = every(package, base)
    if name not in known:
        raise unknown(where, what, name, known)
    return known[name]


def every(package: ModuleType, base: type[T]) -> dict[str, type[T]]:
    load_all(package)
    return {cls.name: cls for cls in _subclasses(base) if getattr(cls, "name", "")}  # type: ignore[attr-defined]


def _subclasses(base: type[T]) -> list[type[T]]:
    direct = base.__subclasses__()
    return direct + [deeper for cls in direct for deeper in _subclasses(cls)]
