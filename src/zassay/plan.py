"""The plan of a study: cells, blocks and a seeded random order, written and hashed before the first run."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zassay import __version__, files, predict
from zassay.campaign import Campaign
from zassay.errors import Problem
from zassay.study import Study


@dataclass(frozen=True)
class Turn:
    """One cell's turn in one block; ``position`` counts from 1 within the block."""

    block: int
    position: int
    cell: str


def order(study: str, cells: list[str], blocks: int, seed: int) -> list[Turn]:
    """Every cell once per block, each block shuffled on its own from (seed, study, block)."""
    turns = []
    for block in range(1, blocks + 1):
        shuffled = sorted(cells)
        # A string seed goes through SHA-512: the same order on every platform and Python from 3.2 on.
        random.Random(f"{seed}/{study}/{block}").shuffle(shuffled)
        turns += [Turn(block, position, cell) for position, cell in enumerate(shuffled, 1)]
    return turns


def make(campaign: Campaign, study: Study) -> dict[str, Any]:
    """The plan as JSON. ``prereg`` covers the claims, the cells' settings and the order: what was fixed beforehand."""
    turns = order(study.name, [cell.id for cell in study.cells], campaign.scale.blocks, campaign.seed)
    plan: dict[str, Any] = {
        "study": study.name,
        "source": study.source,
        "title": study.title,
        "question": study.question,
        "campaign": campaign.name,
        "scale": campaign.scale.name,
        "machine": study.cells[0].settings.machine,
        "sizes": study.sizes,
        "unkept": list(study.unkept),
        "seed": campaign.seed,
        "blocks": campaign.scale.blocks,
        "factors": list(study.factors),
        "metrics": [vars(metric) for metric in study.metrics],
        "cells": [
            {"id": c.id, "levels": c.levels, "settings": c.settings.as_dict(), "digest": c.settings.digest} for c in study.cells
        ],
        "order": [vars(turn) for turn in turns],
        "zassay": __version__,
    }
    plan["predicted_s"] = round(predict.campaign_s(campaign, study), 1)
    plan["claims_sha256"] = claims_digest(campaign.root, study.name)
    plan["prereg"] = files.sha256_json({key: plan[key] for key in ("claims_sha256", "cells", "order")})
    return plan


def claims_digest(root: Path, study: str) -> str:
    path = root / "studies" / study / "claims.yaml"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def read(study_dir: Path) -> dict[str, Any]:
    path = study_dir / "plan.json"
    if not path.is_file():
        raise Problem(f"{path}: there is no plan yet", f"write it: zassay plan {study_dir.name}")
    return dict(files.read_json(path))


def turns_of(plan: dict[str, Any], block: int) -> list[Turn]:
    return [Turn(**turn) for turn in plan["order"] if turn["block"] == block]
