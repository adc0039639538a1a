"""Packer's part: boot the base by its own bootloader, provision, test and pack it."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from zassay import proc
from zassay.errors import Problem
from zassay.image.catalog import ImageSpec
from zassay.image.steps import Steps, contained

TEMPLATE = "image.pkr.hcl"
OLDEST = (1, 6, 6)
FIRST_WITHOUT_BUNDLE = (1, 11, 0)
PLUGINS = ("qemu", "vagrant")
ASK_DEADLINE_S = 60
BUILD_DEADLINE_S = 1800
REASON_LINES = 8
# The slower an accelerator, the more one model for all hosts is worth; KVM can only offer the host's own.
CPU = {"kvm": "host", "tcg": "EPYC"}
ENVIRONMENT = {"CHECKPOINT_DISABLE": "1", "PACKER_NO_COLOR": "1"}
HOW_TO_GET = """Debian 12: apt-get install packer
elsewhere: the package packer of its maker (HashiCorp), or Debian 12's own .deb, which needs libc6 only
from version 1.11 on also: packer plugins install github.com/hashicorp/qemu
                           packer plugins install github.com/hashicorp/vagrant"""


def version() -> tuple[int, ...]:
    """The version of the Packer on PATH; raises Problem saying how to get one."""
    if shutil.which("packer") is None:
        raise Problem("packer is not installed", HOW_TO_GET)
    out = proc.run(["packer", "version"], deadline_s=ASK_DEADLINE_S, env=ENVIRONMENT).out
    match = re.search(r"Packer v(\d+)\.(\d+)\.(\d+)", out)
    if match is None:
        raise Problem(f'packer version printed "{out.strip()}"', f"another program of the same name?\n{HOW_TO_GET}")
    return tuple(int(part) for part in match.groups())


def check() -> str:
    """The version as text when this Packer can build our images; raises Problem saying what is missing."""
    found = version()
    text = ".".join(map(str, found))
    if found < OLDEST:
        raise Problem(f"packer is {text}, too old", f"at least 1.6.6 is needed\n{HOW_TO_GET}")
    if found >= FIRST_WITHOUT_BUNDLE:
        ask = ["packer", "plugins", "installed"]
        installed = proc.run(ask, deadline_s=ASK_DEADLINE_S, env=ENVIRONMENT, check=False).out
        missing = [name for name in PLUGINS if f"packer-plugin-{name}" not in installed]
        if missing:
            lines = "\n".join(f"packer plugins install github.com/hashicorp/{name}" for name in missing)
            raise Problem(f"packer {text} lacks its plugins: {', '.join(missing)}", lines)
    return text


def make_key(folder: Path) -> Path:
    """A key for this build alone: it opens nothing once the folder is gone."""
    key = folder / "key"
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "zassay-build", "-f", str(key)]
    proc.run(argv, deadline_s=ASK_DEADLINE_S)
    return key


@dataclass(frozen=True)
class Input:
    """What a build starts from: the base disk and its digest, the key, the accelerator, the version of the box."""

    base_disk: Path
    base_sha256: str
    key: Path
    accelerator: str
    box_version: str


def variables(spec: ImageSpec, given: Input, output: Path) -> list[str]:
    """The template's variables as command line options."""
    values = {
        "image": spec.folder / f"{spec.name}.yaml",
        "base_disk": given.base_disk,
        "base_sha256": given.base_sha256,
        "disk_mib": spec.disk_bytes >> 20,
        "output": output,
        "ssh_key": given.key,
        "accelerator": given.accelerator,
        "cpu": CPU[given.accelerator],
        "version": given.box_version,
    }
    return [f"-var={name}={value}" for name, value in values.items()]


def build(spec: ImageSpec, options: list[str], work: Path, steps: Steps) -> None:
    """Run Packer; its downloads' cache and temporary files stay in ``work``."""
    env = {**ENVIRONMENT, "PACKER_CACHE_DIR": str(work / "packer-cache"), "TMPDIR": str(work)}
    template = str(spec.folder / TEMPLATE)
    steps.run("packer", ["packer", "validate", *options, template], deadline_s=ASK_DEADLINE_S, env=env)
    try:
        steps.run("packer", contained(["packer", "build", *options, template]), deadline_s=BUILD_DEADLINE_S, env=env)
    except Problem as problem:
        log = steps.log("packer")
        raise Problem(problem.message, f"{reason(log.read_text(encoding='utf-8', errors='replace'))}\nlog: {log}") from None


def reason(log: str) -> str:
    """The lines that tell why a build failed: those before Packer begins to clean up, or the last ones."""
    before, found, _ = log.rpartition("==> qemu.image: Provisioning step had errors")
    return "\n".join((before if found else log).splitlines()[-REASON_LINES:])
