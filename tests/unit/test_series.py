"""series.csv and latency.csv: samples and histograms of the runs that count, in the form of docs/series.md."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from golden_record import GOLDEN, copied, recorded, rewrite

from zassay import files, series
from zassay.collectors import Point, arc, cpu, levels, nic, rates
from zassay.readers import Sample, Unreadable
from zassay.record import RunFiles

CELL = "lz4_text_50"


def study(tmp_path: Path, record: Path, status: str = "ok") -> tuple[Path, dict[str, Any]]:
    """A study's folder with one boot."""
    target = tmp_path / "study" / "raw" / CELL / "block-01"
    target.parent.mkdir(parents=True)
    record.rename(target)
    files.write_json(tmp_path / "study" / "parsed" / CELL / "block-01.json", {"status": status})
    return tmp_path / "study", {"study": "s", "order": [{"block": 1, "position": 1, "cell": CELL}]}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_samples_become_series_of_the_measured_part(tmp_path: Path) -> None:
    folder, plan = study(tmp_path, copied(tmp_path))
    counts = series.write(folder, plan)
    found = table(folder / "series.csv")
    assert len(found) == counts["series.csv"] and counts["latency.csv"] == 0 and not (folder / "latency.csv").exists()
    assert list(found[0]) == series.SERIES
    assert {row["series"] for row in found} >= {
        "phase_write",
        "phase_read",
        "cpu_busy",
        "arc_size",
        "disk_write_rate",
        "memory_used",
    }
    phases = {row["series"]: (float(row["t_s"]), float(row["value"])) for row in found if row["series"].startswith("phase_")}
    assert phases["phase_write"] == (0.0, pytest.approx(2.894471))
    assert phases["phase_read"][0] == pytest.approx(21.55 - 14.19)
    times = [float(row["t_s"]) for row in found]
    assert times == sorted(times) and times[0] == 0 and times[-1] <= 22.03 - 14.19
    assert all(0 <= float(row["value"]) <= 1.0001 for row in found if row["unit"] == "1")


def test_histograms_of_fio_become_latencies(tmp_path: Path) -> None:
    folder, plan = study(tmp_path, recorded("fio", tmp_path))
    series.write(folder, plan)
    found = table(folder / "latency.csv")
    assert list(found[0]) == series.LATENCY and {row["op"] for row in found} == {"read"}
    for run in range(1, 6):
        assert sum(int(row["count"]) for row in found if row["run"] == str(run)) == 256, (
            "each run read 32 MiB in records of 128 KiB"
        )
    first = [float(row["bin_s"]) for row in found if row["run"] == "1"]
    assert first == sorted(first) and 1e-6 < first[0] < first[-1] < 60


def test_a_run_that_does_not_count_has_no_rows_and_an_older_table_goes(tmp_path: Path) -> None:
    folder, plan = study(tmp_path, copied(tmp_path), "invalid")
    (folder / "series.csv").write_text("old\n")
    assert series.write(folder, plan) == {"series.csv": 0, "latency.csv": 0}
    assert not (folder / "series.csv").exists()


def test_samples_that_cannot_be_read_make_no_rows(tmp_path: Path) -> None:
    record = copied(tmp_path)
    rewrite(record, "samples", lambda text: text.replace("cpu  ", "cpv  "))
    assert {row["series"].partition("_")[0] for row in series.series(RunFiles(record))} == {"phase", "memory", "arc", "disk"}


@pytest.mark.parametrize(("name", "table_of"), [("", "series.csv"), ("fio", "latency.csv")])
def test_the_same_record_gives_the_same_bytes(tmp_path: Path, name: str, table_of: str) -> None:
    folder, plan = study(tmp_path, recorded(name, tmp_path) if name else copied(tmp_path))
    series.write(folder, plan)
    before = (folder / table_of).read_bytes()
    series.write(folder, plan)
    assert (folder / table_of).read_bytes() == before


def samples(spec: str, *parts: tuple[float, str]) -> list[Sample]:
    return [Sample(uptime, {spec: text}) for uptime, text in parts]


def test_rates_are_of_the_seconds_between_samples() -> None:
    seen = samples("x", (10.0, "5"), (10.0, "6"), (12.0, "9"))
    assert list(rates(seen, "x", lambda text: {"a": int(text)}, "B/s")) == [Point(12.0, "a", 1.5, "B/s")]


def test_levels_leave_out_what_came_before_and_what_was_cut_off() -> None:
    seen = [*samples("x", (1.0, "5"), (2.0, "6")), Sample(3.0, {})]
    assert list(levels(seen, "x", lambda text: {"a": int(text)}, "B")) == [Point(2.0, "a", 6, "B")]


def test_cpu_shares_leave_idle_and_waiting_out_of_busy() -> None:
    spec = cpu.Cpu.specs[0]
    seen = samples(spec, (1.0, "cpu  0 0 0 0 0 0 0 0 0 0\n"), (2.0, "cpu  10 0 20 50 10 0 10 0 0 0\n"))
    found = {point.series: point.value for point in cpu.Cpu().series(RunFiles(GOLDEN), seen)}
    assert found == pytest.approx({"cpu_user": 0.1, "cpu_system": 0.2, "cpu_iowait": 0.1, "cpu_busy": 0.4})
    with pytest.raises(Unreadable):
        cpu.ticks("intr 1 2 3 4 5 6 7 8\n")


HEADER = "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs |bytes\n"
ROW = "{name:>6}: {received} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0\n"


def test_the_network_leaves_the_loopback_out() -> None:
    text = HEADER + ROW.format(name="lo", received=7, sent=7) + ROW.format(name="eth0", received=100, sent=20)
    assert nic.moved(text) == {"net_receive_rate": 100, "net_send_rate": 20}


def test_a_window_begins_with_the_sample_before_it() -> None:
    seen = [Sample(at, {}) for at in (1.0, 2.0, 3.0, 4.0)]
    assert [each.uptime for each in series.window(seen, 2.5, 3.5)] == [2.0, 3.0]


def test_arc_series_are_by_name() -> None:
    text = (GOLDEN / "guest" / "cold").read_text(encoding="utf-8")
    assert arc.sizes(text)["arc_c_max"] == 64 << 20
