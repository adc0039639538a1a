"""`zassay cell`: the settings, disks and guest script of one cell, for people and for the Vagrantfile."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from zassay import campaign, cli, filesystems, study
from zassay.commands import cell as command
from zassay.disks import SOURCE, roles

SETUP = campaign.load()
STUDY = study.load(SETUP.root, study.known_studies(SETUP.root)[0], SETUP.scale)
CELLS = [STUDY.cells[0], STUDY.cells[-1]]


def told(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert cli.main(["cell", STUDY.name, CELLS[0].id, "--json", *options]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json_has_the_settings_that_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys)
    assert found["digest"] == CELLS[0].settings.digest
    assert found["settings"] == json.loads(json.dumps(CELLS[0].settings.as_dict()))
    assert (found["study"], found["cell"], found["levels"]) == (STUDY.name, CELLS[0].id, CELLS[0].levels)
    assert (found["image"], found["machine"]) == (CELLS[0].settings.image, SETUP.scale.machine.name)


def test_disks_are_the_pool_s_in_order_then_the_payload_s(capsys: pytest.CaptureFixture[str]) -> None:
    found, pool = told(capsys)["disks"], CELLS[0].settings.pool
    payload = command.payload_bytes(CELLS[0].settings)
    last = [(SOURCE, payload, "payload")] if payload else []
    own = [(role, pool["disk_size"], "pool") for role in pool["disks"]]
    assert [(disk["serial"], disk["bytes"], disk["holds"]) for disk in found] == [*own, *last]


def test_another_scale_has_other_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = told(capsys, "--scale", "smoke"), told(capsys, "--scale", "lab")
    assert small["disks"][0]["bytes"] < large["disks"][0]["bytes"]
    assert small["scale"] == "smoke"


def test_the_payload_can_be_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    payload = told(capsys)["payload"]
    assert payload["name"] == CELLS[0].settings.payload["name"]
    assert payload["bytes"] == command.payload_bytes(CELLS[0].settings)
    assert payload["seed"] == SETUP.seed


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.id)
def test_the_script_is_what_a_measurement_does(cell: study.Cell) -> None:
    filesystem = filesystems.get(cell.settings.filesystem)
    devices = [f"/dev/disk/by-id/virtio-{role}" for role in roles(cell.settings.pool)]
    text = command.script(STUDY, cell)
    assert filesystem.warm(cell.settings).strip() in text
    assert filesystem.create(cell.settings, devices).strip() in text
    assert text.index("udevadm settle") < text.index(filesystem.warm(cell.settings).strip())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_script_is_bash() -> None:
    text = command.script(STUDY, CELLS[0])
    assert text.startswith("#!/bin/bash\n")
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, timeout=30, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_two_cells_have_two_scripts() -> None:
    assert command.script(STUDY, CELLS[0]) != command.script(STUDY, CELLS[1])


def test_people_get_disks_settings_and_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cell", STUDY.name, CELLS[0].id]) == 0
    shown = capsys.readouterr().out
    for words in (CELLS[0].id, "disk pool0", "properties: {", "#!/bin/bash"):
        assert words in shown


def test_limits_of_a_disk_are_shown() -> None:
    disk = {"serial": "pool0", "bytes": 1 << 30, "class": "memory", "bytes_per_s": 60 << 20, "operations_per_s": 75}
    assert command._disk(disk) == "disk pool0         1 GiB  memory, 60 MiB/s, 75 operations/s"


def test_an_unknown_cell_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cell", STUDY.name, f"{CELLS[0].id}x"]) == 1
    assert f"did you mean {CELLS[0].id}?" in capsys.readouterr().err
