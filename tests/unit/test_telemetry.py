"""Telemetry: bursts, stalls and waits for locks, from samples whose truth is written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zassay.collectors import arc, dataset, txgs
from zassay.readers import Unreadable
from zassay.record import RunFiles
from zassay.study import settings_of
from zassay.workloads import WRITE, Span, telemetry

MIB = 1 << 20
SPAN = Span("a", 1, WRITE, alone=False)
NAMES = ["arc", "dataset", "txgs", "contention", "disk"]
SETTINGS: dict[str, Any] = dict.fromkeys(("image", "filesystem", "protocol"), "x") | {
    key: {} for key in ("pool", "properties", "tunables", "payload", "workload", "machine")
}


def objset(read: int, written: int) -> str:
    head = "28 1 0x01 7 2160 1 2\nname                            type data\ndataset_name                    7    tank/data\n"
    return f"{head}nwritten                        4    {written}\nnread                           4    {read}\n"


def arcstats(size: int, most: int) -> str:
    return f"9 1 0x01 2 0 0 0\nname type data\nsize 4 {size}\nc_max 4 {most}\n"


def history(*syncing: tuple[float, float]) -> str:
    """Groups that sync from when to when (s)."""
    rows = "".join(
        f"{number} {int(start * 1e9)} C 0 0 0 0 0 0 0 0 {int((end - start) * 1e9)}\n"
        for number, (start, end) in enumerate(syncing)
    )
    return f"{' '.join(txgs.COLUMNS)}\n{rows}"


def made(
    folder: Path, rates: list[float], *, full_from: int, syncing: tuple[tuple[float, float], ...], step: float = 1.0
) -> RunFiles:
    """A run sampled each ``step`` seconds from 100 s of uptime on: MiB written in each step, the ARC full from a step on."""
    guest, lines, written = folder / "guest", [], 0.0
    guest.mkdir()
    for index, rate in enumerate([0.0, *rates]):
        written += rate * MIB
        parts = {
            arc.Arc.specs[0]: arcstats(96 if index >= full_from else 50, 100),
            dataset.SPEC: objset(0, 1) + objset(7, int(written)),
            txgs.SPEC: history(*syncing),
        }
        lines.append(f"# {100 + index * step:.2f}\n" + "".join(f"= {k} {len(v)}\n{v}\n" for k, v in parts.items()))
    (guest / "samples").write_text("".join(lines))
    cpu = "cpu 1 1 1 1 1 1 1 1 1 1"
    (guest / "marks").write_text(f"a_start 100.00 1.000000 {cpu}\na_end {100 + len(rates) * step:.2f} 9.000000 {cpu}\n")
    waits = "".join(f"     {each}.000,{each},,lock:contention_begin,9,100.00,,\n" for each in range(1, len(rates) + 1))
    (guest / "contention").write_text(f"# started\n{waits}")
    (guest / "contention.start").write_text("100.00\n")
    (folder / "settings.json").write_text(json.dumps(SETTINGS | {"collect": {"interval_s": step, "names": NAMES}}))
    return RunFiles(folder)


def test_bursts_and_waits_are_told_apart_by_the_arc(tmp_path: Path) -> None:
    found = telemetry.metrics(made(tmp_path, [10] * 6 + [0, 20] * 3, full_from=6, syncing=()), SPAN)
    assert found["write_cv_filling"] == 0
    assert found["write_cv_full"] == pytest.approx((6 / 5) ** 0.5)
    assert found["bytes_filling"] == found["bytes_full"] == 60 * MIB
    assert found["contentions_filling"] == sum(range(1, 7))
    assert found["contentions_full"] == sum(range(7, 13))


def test_an_arc_that_never_fills_has_no_second_part(tmp_path: Path) -> None:
    found = telemetry.metrics(made(tmp_path, [10] * 12, full_from=99, syncing=()), SPAN)
    assert "write_cv_filling" in found
    assert not {"write_cv_full", "contentions_full", "bytes_full"} & set(found)
    assert set(found) <= telemetry.MAY_LACK


def test_a_part_of_a_few_seconds_has_no_coefficient_of_variation(tmp_path: Path) -> None:
    found = telemetry.metrics(made(tmp_path, [10] * 12, full_from=4, syncing=()), SPAN)
    assert "write_cv_filling" not in found
    assert found["write_cv_full"] == 0
    assert found["bytes_filling"] == 40 * MIB


def test_tenths_of_a_second_are_put_together_to_seconds(tmp_path: Path) -> None:
    """Even seconds of which each tenth is a burst are even."""
    found = telemetry.metrics(made(tmp_path, [0, 0, 0, 0, 0, 0, 0, 0, 0, 50] * 7, full_from=99, syncing=(), step=0.1), SPAN)
    assert found["write_cv_filling"] == pytest.approx(0)


def test_syncing_is_shared_out_by_whether_anything_moves(tmp_path: Path) -> None:
    """Ten steps, of which the last four stall; one group syncs through two of these and half a moving one."""
    run = made(tmp_path, [10] * 6 + [0] * 4, full_from=99, syncing=((105.5, 108.0),))
    found = telemetry.metrics(run, SPAN)
    assert found["sync_share_moving"] == pytest.approx(0.5 / 6)
    assert found["sync_share_stalled"] == pytest.approx(2 / 4)


def test_without_a_stall_there_is_no_share_of_it(tmp_path: Path) -> None:
    found = telemetry.metrics(made(tmp_path, [10] * 6, full_from=99, syncing=((100, 103),)), SPAN)
    assert found["sync_share_moving"] == pytest.approx(0.5)
    assert "sync_share_stalled" not in found


def test_samples_outside_the_stretch_do_not_count(tmp_path: Path) -> None:
    run = made(tmp_path, [10] * 6 + [500] * 6, full_from=99, syncing=())
    marks = (tmp_path / "guest" / "marks").read_text().replace("a_end 112.00", "a_end 106.00")
    (tmp_path / "guest" / "marks").write_text(marks)
    assert telemetry.metrics(run, SPAN)["bytes_filling"] == 60 * MIB


@pytest.mark.parametrize(
    ("collected", "allowed"),
    [
        (["cpu", "arc", "disk"], ()),
        (["arc", "dataset"], telemetry.BURSTS),
        (["dataset", "txgs"], telemetry.SYNCS),
        (["arc", "dataset", "contention"], (*telemetry.BURSTS, *telemetry.LOCKS)),
        (NAMES, (*telemetry.BURSTS, *telemetry.LOCKS, *telemetry.SYNCS)),
    ],
)
def test_a_study_gets_what_its_collectors_allow(collected: list[str], allowed: tuple[str, ...]) -> None:
    assert telemetry.names(settings_of(SETTINGS | {"collect": {"names": collected}})) == set(allowed)


def test_a_reading_of_the_dataset_that_is_cut_off_is_none() -> None:
    assert dataset.traffic(objset(5, 7) + objset(1, 2)) == dataset.Traffic(6, 9)
    for cut in ("", objset(5, 7)[:-40], objset(5, 7).replace("7\n", "x\n")):
        with pytest.raises(Unreadable):
            dataset.traffic(cut)


def test_counts_that_go_back_are_none(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="went back"):
        telemetry.metrics(made(tmp_path, [10, 10, -5, 10], full_from=99, syncing=()), SPAN)
