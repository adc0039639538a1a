"""Which packages an image needs today: asked of apt with a private state, so the host's packages do not count."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from zassay import proc
from zassay.errors import Problem
from zassay.image.catalog import ImageSpec
from zassay.image.lock import Lock, Package
from zassay.image.mirrors import Mirror, of_host

ARCHITECTURE = "amd64"
SUITES = {"debian": ("", "-updates"), "debian-security": ("-security",)}
UPDATE_DEADLINE_S = 300
ASK_DEADLINE_S = 120


def resolve(spec: ImageSpec) -> Lock:
    """Resolve the image's packages on the host's mirrors; raises Problem when there is no Debian mirror."""
    mirrors = of_host()
    if not {"debian", "debian-security"} <= {mirror.archive for mirror in mirrors}:
        raise Problem(
            "this host's apt knows no Debian mirror with its security archive",
            "a lock is made on a Debian host; using one works anywhere",
        )
    with tempfile.TemporaryDirectory(prefix="zassay-apt-") as folder:
        env = {"APT_CONFIG": str(_private_apt(Path(folder), spec, mirrors)), "LC_ALL": "C"}
        proc.run(["apt-get", "update", "-q"], deadline_s=UPDATE_DEADLINE_S, env=env)
        wanted = _wanted(spec, env)
        show = ["apt-cache", "show", *(f"{name}={version}" for name, version in wanted)]
        stanzas = proc.run(show, deadline_s=ASK_DEADLINE_S, env=env).out
    packages = {package.name: package for package in map(_package, re.split(r"\n\n+", stanzas.strip()))}
    return Lock(datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"), tuple(sorted(packages.values())))


def _private_apt(folder: Path, spec: ImageSpec, mirrors: list[Mirror]) -> Path:
    """Write an apt configuration that knows our suites and an empty system; returns its path."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text("\n".join(_source_lines(spec, mirrors)) + "\n", encoding="utf-8")
    settings = {
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "APT::Architecture": ARCHITECTURE,
        "APT::Architectures": ARCHITECTURE,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
    }
    config = folder / "apt.conf"
    config.write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()), encoding="utf-8")
    return config


def _source_lines(spec: ImageSpec, mirrors: list[Mirror]) -> list[str]:
    lines = []
    for mirror in mirrors:
        option = f"[signed-by={mirror.signed_by}] " if mirror.signed_by else ""
        for ending in SUITES[mirror.archive]:
            lines.append(f"deb {option}{mirror.url} {spec.suite}{ending} {' '.join(spec.components)}")
    return lines


def _wanted(spec: ImageSpec, env: dict[str, str]) -> list[tuple[str, str]]:
    """(name, version) of all packages: the essential ones, apt, and the image's with what they depend on."""
    ask = ["apt-get", "install", "-qq", "-y", "--print-uris", "?essential", "apt", *spec.packages]
    out = proc.run(ask, deadline_s=ASK_DEADLINE_S, env=env).out
    found = re.findall(r"^'[^']+' ([^_\s]+)_([^_\s]+)_[a-z0-9]+\.deb ", out, re.MULTILINE)
    return [(name, unquote(version)) for name, version in found]


def _package(stanza: str) -> Package:
    keys = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", stanza, re.MULTILINE))
    return Package(keys["Package"], keys["Version"], keys["Architecture"], keys["SHA256"], int(keys["Size"]), keys["Filename"])
