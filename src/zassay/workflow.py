"""What the Snakefile needs to know before it can declare: studies, blocks, images. Pure, quick, static."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay import campaign, doctor, files, study
from zassay.machine import supervise

HOST_POOL = 4


@dataclass(frozen=True)
class Flow:
    """``blocks[study]`` are two-digit labels; ``images[study]`` the images its cells boot."""

    studies: tuple[str, ...]
    blocks: dict[str, list[str]]
    images: dict[str, list[str]]
    scale_digest: str

    def block_before(self, name: str, block: str) -> list[str]:
        """The marker that has to exist before this block: blocks are measured in the order of the plan."""
        at = self.blocks[name].index(block)
        return [f"results/{name}/run/block-{self.blocks[name][at - 1]}.json"] if at else []

    def blocks_done(self, name: str) -> list[str]:
        return [f"results/{name}/run/block-{block}.json" for block in self.blocks[name]]

    def image_files(self, name: str) -> list[str]:
        return [f"results/images/{image}.json" for image in self.images[name]]

    @staticmethod
    def sources(*modules: str) -> list[str]:
        """Our own files whose change makes a stage stale (its raw records stay)."""
        package = Path(__file__).parent
        found = [path for name in modules for path in [package / f"{name}.py", *sorted((package / name).glob("*.py"))]]
        return [str(path.relative_to(campaign.project_root())) for path in found if path.is_file()]

    @property
    def analysis(self) -> list[str]:
        """The R package's code and templates: a change of them draws and decides again, and measures nothing."""
        root = campaign.project_root()
        found = [path for part in ("R", "inst", "exec") for path in (root / "analysis" / part).rglob("*") if path.is_file()]
        return sorted(str(path.relative_to(root)) for path in found)

    @property
    def config(self) -> str:
        """The campaign's configuration, for the report's title; relative where it is the checkout's own."""
        root = campaign.project_root()
        path = campaign.config_path(root)
        return str(path.relative_to(root) if path.is_relative_to(root) else path)

    @property
    def questions(self) -> list[str]:
        """What the whole catalogue asks: the report names also the claims that this campaign does not measure."""
        root = campaign.project_root()
        found = [path for name in ("*.yaml", "published.csv") for path in root.glob(f"studies/*/{name}")]
        return sorted(str(path.relative_to(root)) for path in found)

    @property
    def calibration(self) -> list[str]:
        """The outcome of `make calibrate`, when somebody has run it."""
        path = Path("results", "calibration.csv")
        return [str(path)] if (campaign.project_root() / path).is_file() else []

    @property
    def image_sources(self) -> list[str]:
        """What every image is made from, beside its own description and lock."""
        root = campaign.project_root()
        found = [
            root / "images" / "image.pkr.hcl",
            *(root / "images" / "guest").iterdir(),
            *(root / "images" / "provision").iterdir(),
        ]
        return sorted(str(path.relative_to(root)) for path in found if path.is_file())

    @property
    def every_image(self) -> list[str]:
        return sorted({path for name in self.studies for path in self.image_files(name)})


def start(resources: Mapping[str, Any]) -> Flow:
    """Check the host, tell the jobs who supervises them, read the campaign. Raises Problem in one line."""
    _environment()
    doctor.require_or_exit()
    if "host" not in resources:
        raise SystemExit(f"zassay: the profile gives no capacity pool; run: snakemake --cores 4 --resources host={HOST_POOL}")
    supervise.forward()
    setup = campaign.load()
    forget_lost_images(setup.results / "images")
    blocks = [f"{number:02d}" for number in range(1, setup.scale.blocks + 1)]
    found = {name: study.load(setup.root, name, setup.scale) for name in setup.studies}
    images = {name: sorted({cell.settings.image for cell in what.cells}) for name, what in found.items()}
    scale = files.sha256_json(
        [setup.scale.name, setup.scale.scope, vars(setup.scale.machine) | {"disks": "", "classes": ""}, setup.scale.blocks]
    )
    return Flow(setup.studies, dict.fromkeys(setup.studies, blocks), images, scale)


def _environment() -> None:
    """Rules find our own tools although nobody activated .venv, and sort and print alike on every host."""
    os.environ["PATH"] = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.environ["LC_ALL"] = "C.UTF-8"


def forget_lost_images(folder: Path) -> None:
    """A note about an image whose cache entry is gone would keep it from being built again."""
    for note in folder.glob("*.json"):
        link = folder / note.stem
        if not (link / "disk.qcow2").is_file() or json.loads(note.read_text()) != json.loads(
            (link / "manifest.json").read_text()
        ):
            note.unlink()
