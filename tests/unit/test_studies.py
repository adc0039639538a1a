"""The studies as they are: what they ask for is measured, every setting is said in each cell, and smoke is small."""

from __future__ import annotations

import pytest

from zassay import campaign, filesystems, study, workloads
from zassay.study import Study

ROOT = campaign.project_root()
EACH = [(name, scale) for name in study.known_studies(ROOT) for scale in campaign.known_scales(ROOT)]
# Cells × blocks × seconds of all studies together make the campaign; smoke has 45 minutes.
MOST_AT_SMOKE = 30


def at(name: str, scale: str) -> Study:
    return study.load(ROOT, name, campaign.load_scale(ROOT, scale))


@pytest.mark.parametrize(("name", "scale"), EACH)
def test_every_metric_is_measured_in_some_cell(name: str, scale: str) -> None:
    """One that no workload gives would be an empty column, and the claims on it never testable, without a word."""
    what = at(name, scale)
    measured = {
        metric for cell in what.cells for metric in workloads.get(str(cell.settings.workload["tool"])).names(cell.settings)
    }
    assert [metric.name for metric in what.metrics if metric.name not in measured] == []


@pytest.mark.parametrize(("name", "scale"), EACH)
def test_cells_differ_in_what_decides_them(name: str, scale: str) -> None:
    """Two cells with equal settings would be one cell measured under two names."""
    digests = [cell.settings.digest for cell in at(name, scale).cells]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(("name", "scale"), EACH)
def test_what_differs_between_versions_is_said(name: str, scale: str) -> None:
    """Whatever OpenZFS's versions have different defaults for."""
    for cell in at(name, scale).cells:
        if filesystems.of(cell.settings).name == "zfs":
            assert {"compression", "relatime", "recordsize", "dedup"} <= set(cell.settings.properties), cell.id
            assert {"zfs_arc_max", "zfs_dirty_data_max"} <= set(cell.settings.tunables), cell.id
            assert "ashift" in cell.settings.pool["properties"], cell.id
            assert "l2arc_write_max" in cell.settings.tunables or not cell.settings.pool.get("cache"), cell.id


@pytest.mark.parametrize("name", study.known_studies(ROOT))
def test_smoke_is_small(name: str) -> None:
    assert len(at(name, "smoke").cells) <= MOST_AT_SMOKE
