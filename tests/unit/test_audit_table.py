"""zassay audit-table and zassay import --report from the command line to the R package and back."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from tool_output import recorded

from zassay import cli
from zassay.campaign import project_root

pytestmark = pytest.mark.skipif(
    shutil.which("Rscript") is None and not os.environ.get("CI"), reason="Rscript is not installed; run: make setup-test"
)
TABLE = """row_id,study,table,config,metric,unit,statistic,value,sd,n,resolution,raw
a,X,T,load=none,time,s,single,50.2,,,0.1,0:50.2
b,X,T,load=heavy,time,s,single,350,,,1,5:50
c,X,T,load=heavy/none,slowdown,x,ratio,8.2,,,0.1,8.2:1
"""


def audit(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(["audit-table", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a table, with blanks.csv"
    path.write_text(TABLE)
    return path


def test_a_finding_in_words(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = audit(capsys, str(table))
    assert code == 0
    assert f"{table}: 1 check: 1 impossible" in out
    assert "5:50 / 0:50.2 is 6.972 [6.955, 6.989]; 8.2 was printed." in out
    assert "One digit would do: 6:50 for 5:50." in out


def test_the_same_as_csv_and_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = audit(capsys, str(table), "--format", "csv")
    _, document, _ = audit(capsys, str(table), "--format", "json")
    (row,), (found,) = csv.DictReader(io.StringIO(text)), json.loads(document)
    assert row == {key: str(value) for key, value in found.items()}
    assert (found["verdict"], found["recomputed"], found["rows"], found["line"]) == ("impossible", "6.972", "c b a", 3)


def test_a_clean_table_has_nothing_to_say(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text(TABLE.replace("8.2", "7.0"))
    assert audit(capsys, str(table))[1] == f"{table}: 1 check: 1 ok\n"
    assert "as printed" in audit(capsys, str(table), "--all")[1]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (("350,", "fast,"), 'row 2, column "value": "fast" is not a number'),
        (("metric,unit", "metric,metric"), 'column "metric" is there twice'),
        (("load=none", "=none"), 'row 1, column "config": "=none"'),
    ],
)
def test_a_bad_table_names_row_and_column(
    table: Path, capsys: pytest.CaptureFixture[str], spoil: tuple[str, str], said: str
) -> None:
    table.write_text(TABLE.replace(*spoil))
    code, out, error = audit(capsys, str(table))
    assert (code, out) == (1, "")
    assert error.startswith(f"zassay audit-table: {table}: {said}")
    assert "Rscript" not in error


def test_no_such_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = audit(capsys, str(tmp_path / "none.csv"))
    assert code == 1 and "no such file" in error


def test_a_sidecar_is_found_beside_its_table(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    relation = {"what": "no faster under load", "kind": "bound", "quantity": "slowdown", "at_least": 10}
    table.with_name("a table, with blanks.audit.yaml").write_text(yaml.safe_dump({"relations": [relation]}))
    assert "2 checks: 2 impossible" in audit(capsys, str(table))[1]


def test_every_source_of_ours_can_be_audited(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(project_root().glob("studies/*/published.csv")):
        code, _, error = audit(capsys, str(path))
        assert code == 0, error


@pytest.mark.slow
def test_data_from_outside_get_estimates_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "map.yaml").write_text("tool: fio\nfiles:\n  - match: '{jobs}-b{block}.json'\n")
    paths = []
    for block, version in enumerate(("3.25", "3.33", "3.25"), 1):
        for jobs, kind in (("grouped", "grouped-plus"), ("single", "single")):
            paths.append(tmp_path / f"{jobs}-b{block}.json")
            paths[-1].write_text(recorded(f"fio/{version}-{kind}.json"))
    out = tmp_path / "results" / "outside"
    words = ["--study", "outside", "--map", str(tmp_path / "map.yaml"), "--out", str(out), "--report"]
    assert cli.main(["import", *map(str, paths), *words]) == 0, capsys.readouterr().err
    with (out / "outside" / "verdicts.csv").open(newline="") as handle:
        verdicts = {row["statement"].split(" by ")[0]: row["verdict"] for row in csv.DictReader(handle)}
    # Emulated or unknown: counts are looked at, times are not.
    assert verdicts["bytes moved"] == "EXPLORATORY"
    assert verdicts["bandwidth"] == "NOT TESTABLE HERE"
    page = (out / "report.html").read_text()
    assert "unchecked" in page and "outputs from outside" in page
