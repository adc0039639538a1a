"""Collectors: what is sampled in the guest while a workload runs. One small class per file; each names its sources."""

from __future__ import annotations

from pathlib import Path

SAMPLER = Path(__file__).with_name("sampler.pl")


class Collector:
    """``specs`` are the sampler's sources (see sampler.pl) on the Linux family."""

    name = ""
    specs: tuple[str, ...] = ()
