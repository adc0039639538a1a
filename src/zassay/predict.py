"""How long a study will take: from this host's own runs where there are any, else from the bytes that are to be moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zassay import workloads
from zassay.campaign import Campaign, cache_dir
from zassay.machine.accel import why_not_kvm
from zassay.progress import History
from zassay.study import Settings, Study

# A guess from our own first campaign, which the host's own history replaces as it grows.
RATE = {"tcg": 10 << 20, "kvm": 200 << 20}
OVERHEAD_S = {"tcg": 7.0, "kvm": 3.0}


def prior_s(settings: Settings, accel: str) -> float:
    """Seconds for one boot of a cell on a host that has not measured it: no faster than the disks of its pool allow."""
    workload = workloads.get(str(settings.workload["tool"]))
    pool = [settings.machine["disks"].get(role, {}) for role in settings.pool["disks"]]
    rate = min([RATE[accel], *(int(disk["bytes_per_s"]) for disk in pool if disk.get("bytes_per_s"))])
    scattered = workload.scattered(settings) * max(operation_s(disk) for disk in pool)
    return OVERHEAD_S[accel] + workload.moved_bytes(settings) / rate + scattered


def operation_s(disk: Mapping[str, Any]) -> float:
    """Seconds of one operation at a random place: half a turn and the mean of the shortest and the longest seek, or a limit."""
    if model := disk.get("rotation"):
        return float(30 / model["rpm"] + (model["track_seek_s"] + model["full_seek_s"]) / 2)
    return 1 / disk["operations_per_s"] if disk.get("operations_per_s") else 0.0


def accelerator(campaign: Campaign) -> str:
    """The one that the campaign asks for, or the one that works here."""
    return campaign.accel if campaign.accel in OVERHEAD_S else "tcg" if why_not_kvm() else "kvm"


def cells(study: Study, scale: str, accel: str) -> tuple[dict[str, float], frozenset[str]]:
    """Seconds of one boot of every cell, and those cells that this host has measured before."""
    history = History(cache_dir(), study.name, scale, accel)
    priors = {cell.id: prior_s(cell.settings, accel) for cell in study.cells}
    return history.predict(priors), history.measured(priors)


def campaign_s(campaign: Campaign, study: Study) -> float:
    """Seconds for all boots of all blocks."""
    found, _ = cells(study, campaign.scale.name, accelerator(campaign))
    return campaign.scale.blocks * total(found)


def total(seconds: Mapping[str, float]) -> float:
    return sum(seconds.values())
