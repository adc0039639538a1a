"""Where this host gets Debian packages from: its own apt sources, never a name written down here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

APT = Path("/etc/apt")
ARCHIVE_VARIABLE = "ZASSAY_DEBIAN_ARCHIVE"
OFFLINE_VARIABLE = "ZASSAY_OFFLINE"


@dataclass(frozen=True)
class Mirror:
    """A mirror's base URL (no final slash), what it holds (``debian`` or ``debian-security``), and its keyring."""

    url: str
    archive: str
    signed_by: str = ""


def of_host(apt: Path = APT) -> list[Mirror]:
    """The Debian mirrors of the host's apt, each once, in the order found."""
    found: dict[str, Mirror] = {}
    for written, signed_by in _sources(apt):
        for url in _listed(written):
            match = re.fullmatch(r"(?:https?|file)://.*?/(debian|debian-security)/*", url)
            if match:
                plain = url.rstrip("/")
                found.setdefault(plain, Mirror(plain, match[1], signed_by))
    return list(found.values())


def _listed(url: str) -> list[str]:
    """The mirrors behind ``mirror+file:PATH``, as Debian's cloud images write it; any other URL stands for itself."""
    match = re.fullmatch(r"mirror\+file:(?://)?(/.*)", url)
    if not match:
        return [url]
    path = Path(match[1])
    return [line.split()[0] for line in path.read_text().splitlines() if line.strip()] if path.is_file() else []


def archive_bases(made: str, environ: dict[str, str] | None = None) -> list[str]:
    """Base URLs of the dated archive at the lock's time, when the user named one."""
    base = (os.environ if environ is None else environ).get(ARCHIVE_VARIABLE, "").rstrip("/")
    return [f"{base}/{archive}/{made}" for archive in ("debian", "debian-security")] if base else []


def _sources(apt: Path) -> Iterator[tuple[str, str]]:
    parts = apt / "sources.list.d"
    for path in [apt / "sources.list", *sorted(parts.glob("*.list"))]:
        if path.is_file():
            yield from _one_line(path.read_text(encoding="utf-8", errors="replace"))
    for path in sorted(parts.glob("*.sources")):
        yield from _deb822(path.read_text(encoding="utf-8", errors="replace"))


def _one_line(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = re.match(r"deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s", line)
        if match:
            signed = re.search(r"signed-by=(\S+)", match[1] or "")
            yield match[2], signed[1] if signed else ""


def _deb822(text: str) -> Iterator[tuple[str, str]]:
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", plain):
        keys = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(\S.*)$", stanza, re.MULTILINE))
        if "deb" in keys.get("Types", "").split() and keys.get("Enabled", "yes").lower() not in ("no", "false"):
            signed_by = keys.get("Signed-By", "")
            for url in keys.get("URIs", "").split():
                yield url, signed_by if signed_by.startswith("/") else ""
