"""A study file becomes cells by a pure function; whatever is wrong in it is one message with the place and the nearest name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from golden_record import ROOT, STUDY, load, project, size, swap
from hypothesis import given
from hypothesis import strategies as st

from zassay import campaign, design, study
from zassay.errors import Problem
from zassay.study import Study

HERE = f"studies/{STUDY}/study.yaml"


def read(folder: Path, edit: Callable[[str], str] = str) -> Study:
    return load(project(folder, edit))[1]


def digests(found: Study) -> dict[str, str]:
    return {cell.id: cell.settings.digest for cell in found.cells}


def test_every_combination_of_levels_is_one_cell(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.factors == ("compression", "corpus", "zio_taskq_batch_pct")
    assert len(found.cells) == 7 * 2 * 2
    assert len({cell.id for cell in found.cells}) == len(digests(found)) == len(set(digests(found).values())) == 28
    cell = found.cell("gzip-9_media_50")
    assert cell.levels == {"compression": "gzip-9", "corpus": "media", "zio_taskq_batch_pct": "50"}


def test_a_level_patches_the_settings_and_a_bare_list_is_a_property(tmp_path: Path) -> None:
    found = read(tmp_path)
    base, other = found.cell("off_text_75").settings, found.cell("zstd_media_50").settings
    assert (base.properties["compression"], other.properties["compression"]) == ("off", "zstd")
    assert (base.payload, other.payload) == ({"name": "text"}, {"name": "media"})
    assert (base.tunables["zio_taskq_batch_pct"], other.tunables["zio_taskq_batch_pct"]) == ("75", "50")
    same = {key: value for key, value in base.properties.items() if key != "compression"}
    assert same == {key: value for key, value in other.properties.items() if key != "compression"}


def test_sizes_keep_their_ratios_to_the_machine(tmp_path: Path) -> None:
    setup, found = load(project(tmp_path, lambda text: size("disk_size", "8 * data")(size("data", "1/4 * arc")(text))))
    arc, settings = setup.scale.scope["arc"], found.cells[0].settings
    assert settings.workload["size"] == arc // 4
    assert settings.pool["disk_size"] == 2 * arc
    assert settings.tunables["zfs_arc_max"] == str(arc)
    assert settings.workload["block"] == 1 << 20


def test_the_same_file_gives_the_same_digests(tmp_path: Path) -> None:
    assert digests(read(tmp_path / "a")) == digests(read(tmp_path / "b"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Compression levels", "title: Other words"),
        ("question: What", "question: How"),
        ("better: lower", "better: none"),
        ("# 4 CPUs", "# said otherwise"),
        ("resolution: 0.001", "resolution: 0.002"),
    ],
)
def test_words_that_decide_no_measurement_change_no_digest(tmp_path: Path, old: str, new: str) -> None:
    assert digests(read(tmp_path / "a", swap(old, new))) == digests(read(tmp_path / "b"))


def test_changing_one_level_changes_its_cells_alone(tmp_path: Path) -> None:
    before = digests(read(tmp_path / "a"))
    after = digests(
        read(
            tmp_path / "b", swap('"50": {tunables: {zio_taskq_batch_pct: "50"}}', '"50": {tunables: {zio_taskq_batch_pct: "49"}}')
        )
    )
    assert {cell for cell in before if before[cell] != after[cell]} == {cell for cell in before if cell.endswith("_50")}


def test_changing_the_settings_changes_every_cell(tmp_path: Path) -> None:
    before, after = digests(read(tmp_path / "a")), digests(read(tmp_path / "b", swap('atime: "off"', 'atime: "on"')))
    assert set(before) == set(after) and not set(before.values()) & set(after.values())


def test_exclusions_leave_out_what_they_name(tmp_path: Path) -> None:
    found = read(tmp_path, swap("metrics:", "exclude: [{compression: zstd, corpus: media}, {compression: lzjb}]\nmetrics:"))
    assert len(found.cells) == 28 - 2 - 4
    assert not [cell for cell in found.cells if cell.levels["compression"] == "lzjb"]


DESIGN = """design:
  - {compression: ["off", lz4], zio_taskq_batch_pct: "75"}
  - {compression: [gzip, lz4], corpus: text}
"""
SCALES = """scales:
  smoke:
    why: it is short
    sizes: {data: 1/4 * arc}
    settings: {workload: {block: 2 MiB}, cache: cold}
    only: {corpus: text}
    exclude: [{compression: lz4, zio_taskq_batch_pct: "75"}]
  paper:
    why: it is long
    design: [{compression: zstd}]
"""


def ids(found: Study) -> list[str]:
    return [cell.id for cell in found.cells]


def test_a_design_is_the_union_of_its_parts(tmp_path: Path) -> None:
    whole = ["off_text_75", "off_media_75", "lz4_text_50", "lz4_text_75", "lz4_media_75", "gzip_text_50", "gzip_text_75"]
    assert ids(read(tmp_path / "a", swap("metrics:", DESIGN + "metrics:"))) == whole
    with_exclusion = read(
        tmp_path / "b", swap("metrics:", DESIGN + "exclude: [{compression: [lz4, gzip], corpus: text}]\nmetrics:")
    )
    assert ids(with_exclusion) == ["off_text_75", "off_media_75", "lz4_media_75"]


def test_a_scale_has_its_own_sizes_settings_and_limits_and_says_so(tmp_path: Path) -> None:
    setup, found = load(project(tmp_path, swap("metrics:", DESIGN + SCALES + "metrics:")))
    assert setup.scale.name == "smoke"
    assert ids(found) == ["off_text_75", "lz4_text_50", "gzip_text_50", "gzip_text_75"]
    settings = found.cells[0].settings
    assert settings.workload["size"] == found.sizes["data"] == setup.scale.scope["arc"] // 4
    assert (settings.workload["block"], settings.cache) == (2 << 20, "cold")
    assert "3 of the design's 7 cells, left out at this scale (it is short); not at all: corpus media." in found.unkept


def test_another_scale_is_not_limited_by_it(tmp_path: Path) -> None:
    root = project(tmp_path, swap("metrics:", DESIGN + SCALES + "metrics:"))
    lab = study.load(root, STUDY, campaign.load_scale(root, "lab"))
    assert (len(lab.cells), lab.cells[0].settings.cache) == (7, "")
    assert not [line for line in lab.unkept if "left out" in line]
    paper = study.load(root, STUDY, campaign.load_scale(root, "paper"))
    assert ids(paper) == ["zstd_text_50", "zstd_text_75", "zstd_media_50", "zstd_media_75"]


def test_settings_that_came_later_are_in_the_digest_only_when_given(tmp_path: Path) -> None:
    before = read(tmp_path / "a").cells[0].settings
    assert not set(study.OPTIONAL) & set(before.as_dict())
    given = "  scheduler: bfq\n  cache: warm\n  path: nfs\n"
    given += "  background: {tool: writers, count: 2, size: 1/2 * data, rate: 3 MiB}\n"
    found = read(tmp_path / "b", swap("  protocol: improved\n", "  protocol: improved\n" + given))
    after = found.cells[0].settings
    assert (after.scheduler, after.cache, after.path) == ("bfq", "warm", "nfs")
    assert after.background == {"tool": "writers", "count": 2, "size": found.sizes["data"] // 2 >> 20 << 20, "rate": 3 << 20}
    assert set(study.OPTIONAL) <= set(after.as_dict())
    assert before.digest != after.digest


def test_the_digest_of_a_cell_measured_long_ago_is_still_the_same() -> None:
    """Settings as they were before there were others: if this changes, every result on disk would be measured again."""
    plain = study.Settings("i", "f", "improved", {}, {}, {}, {}, {}, {}, {})
    assert plain.digest == "ed7b5df22554fd3effaee2158c720d04aca5d74bb20aa1bec8d632a7fa6d3a46"


SCALES_OF_THIS_TREE = campaign.known_scales(ROOT)


@pytest.mark.parametrize("scale", SCALES_OF_THIS_TREE)
@pytest.mark.parametrize("name", study.known_studies(ROOT))
def test_every_study_of_this_tree_can_be_planned_at_every_scale(name: str, scale: str) -> None:
    found = study.load(ROOT, name, campaign.load_scale(ROOT, scale))
    assert len({cell.settings.digest for cell in found.cells}) == len(found.cells), "two cells measure the same"
    unset = [cell.id for cell in found.cells if cell.settings.protocol != cell.levels.get("protocol", "improved")]
    assert unset == [], "a level called like a protocol does not set it"


def test_unkept_things_of_another_scale_are_not_told(tmp_path: Path) -> None:
    found = read(
        tmp_path, swap("unkept:\n", 'unkept:\n  - {what: "only there", scale: paper}\n  - {what: "here", scale: smoke}\n')
    )
    assert "here" in found.unkept and "only there" not in found.unkept


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('["off", lzjb', "[off, lzjb", ['factors.compression[0] is the boolean false; write "off" in quotes']),
        ('    atime: "off"', "    atime: off", ['settings.properties.atime is the boolean false; write "off" in quotes']),
        ('    "50": {', "    50: {", ['a key is the number 50; write "50" in quotes']),
        ("lzjb, lz4,", "lzjb, lz4, lz4,", ["factors.compression says twice: lz4"]),
        ("title:", "titel:", ["unknown key: titel", "(did you mean title?)"]),
        ("image: debian-12", "image: debian12", [f'{HERE}: unknown image "debian12"', "(did you mean debian-12?)"]),
        ("image: debian-12", "machine: small\n  image: debian-12", ["settings has an unknown key: machine"]),
        ("filesystem: zfs", "filesystem: zsf", ['unknown filesystem "zsf"', "(did you mean zfs?)"]),
        ("tool: copy", "tool: copi", ['unknown workload "copi"', "(did you mean copy?)"]),
        ("{tool: copy, ", "{", ["settings: workload.tool is not given"]),
        ("size: 1 * data, ", "", ["settings: size is not given"]),
        ("payload: {name: media}", "payload: {name: medai}", ['unknown payload "medai"', "(did you mean media?)"]),
        ("names: [cpu,", "names: [cpux,", ['settings.collect.names: unknown collector "cpux"', "(did you mean cpu?)"]),
        ("recordsize: 128K", "recordsise: 128K", ['unknown property "recordsise"', "(did you mean recordsize?)"]),
        ('ashift: "12"', 'asift: "12"', ['settings.pool.properties: unknown property "asift"', "(did you mean ashift?)"]),
        ("layout: single", "layout: mirro", ['settings.pool.layout: "mirro" is not known']),
        ("disks: [pool0]", "disks: [pool7]", ["settings.pool.disks on machine small", "(did you mean pool"]),
        ("\n  data: ", "\n  data: 33554432 #", [f'{HERE}: sizes.data: "33554432" is a size without a unit']),
        ("\n  data: ", "\n  data: 1/2 * ark #", ['sizes.data: "1/2 * ark" is relative to "ark"', "known: arc, "]),
        ("size: 1 * data", "size: 1 * dat", ['settings.workload.size: "1 * dat"', "known: arc, data, "]),
        ("disk_size: 6 * data", "disk_size: 6 MB", ['settings.pool.disk_size: not a size: "6 MB"']),
        ("zfs_arc_max: 1 * arc", "zfs_arc_max: 1 * ark", ['settings.tunables.zfs_arc_max: "1 * ark"']),
        ("metrics:", "exclude: [{compresion: lz4}]\nmetrics:", ['exclude[0]: unknown factor "compresion"', "mean compression?"]),
        ("metrics:", "exclude: [{compression: lz5}]\nmetrics:", ['exclude[0].compression: unknown level "lz5"', "mean lz4?"]),
        ("metrics:", "design: [{compresion: lz4}]\nmetrics:", ['design[0]: unknown factor "compresion"', "mean compression?"]),
        ("metrics:", "design: [{corpus: [text, madia]}]\nmetrics:", ['design[0].corpus: unknown level "madia"', "mean media?"]),
        ("metrics:", "design: [{corpus: [off]}]\nmetrics:", ["design[0].corpus"]),
        ("metrics:", "scales: {smok: {why: x}}\nmetrics:", ['scales: unknown scale "smok"', "(did you mean smoke?)"]),
        ("metrics:", "scales: {smoke: {only: {corpus: text}}}\nmetrics:", ["scales.smoke", "'why' is a required property"]),
        ("metrics:", "scales: {smoke: {why: x, only: {corpus: txt}}}\nmetrics:", ['only.corpus: unknown level "txt"']),
        ("  protocol: improved", "  protocol: improved\n  scheduler: cfq", ["settings.scheduler", "mq-deadline, bfq, kyber"]),
        ("  protocol: improved", "  background: {tool: w, size: 1 * dat}", ['settings.background.size: "1 * dat"']),
        ("metrics:", "exclude: [{corpus: text}, {corpus: media}]\nmetrics:", ["exclude: leaves no cell"]),
        ("lz4, gzip-2", "lz4, gzip_2, gzip-2", ["two cells would both be called gzip-2_media_50", "rename one"]),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    with pytest.raises(Problem) as caught:
        read(tmp_path, swap(old, new))
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_study_scale_or_machine_is_named(tmp_path: Path) -> None:
    root = project(tmp_path)
    with pytest.raises(Problem, match='unknown study "compresion-levels"'):
        study.check_name(root, "compresion-levels")
    with pytest.raises(Problem, match="mean gzip-9_text_"):
        load(root)[1].cell("gzip-9_text_5")
    config, scale = root / "config" / "config.yaml", root / "config" / "scales" / "smoke.yaml"
    scale.write_text(swap("machine: small", "machine: smal")(scale.read_text()))
    with pytest.raises(Problem, match=r'config/scales/smoke\.yaml: unknown machine "smal"'):
        load(root)
    config.write_text(swap("scale: smoke", "scale: smok")(config.read_text()))
    with pytest.raises(Problem, match='unknown scale "smok"'):
        load(root)


def test_a_machine_without_a_unit_is_named(tmp_path: Path) -> None:
    root = project(tmp_path)
    path = root / "machines" / "small.yaml"
    path.write_text(swap("memory: 512 MiB", 'memory: "512"')(path.read_text()))
    with pytest.raises(Problem, match=r'machines/small\.yaml: memory: "512" is a size without a unit'):
        load(root)


# The pure parts

WORDS = st.text(alphabet="ab", min_size=1, max_size=2)
PATCH = st.recursive(WORDS, lambda inner: st.dictionaries(WORDS, inner, max_size=3), max_leaves=6)
PATCHES = st.dictionaries(WORDS, PATCH, max_size=3)


@given(PATCHES, PATCHES)
def test_merging_changes_neither_side_and_keeps_what_the_patch_says(base: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((base, patch))
    merged = design.merge(base, patch)
    assert (base, patch) == before
    assert set(merged) == set(base) | set(patch)
    assert all(merged[key] == value for key, value in patch.items() if not isinstance(value, dict))
    assert all(merged[key] == value for key, value in base.items() if key not in patch)


@given(PATCHES, PATCHES)
def test_merging_twice_is_merging_once(base: dict[str, Any], patch: dict[str, Any]) -> None:
    merged = design.merge(base, patch)
    assert design.merge(merged, patch) == merged


def test_mappings_are_merged_key_by_key_and_lists_replaced() -> None:
    base = {"pool": {"disks": ["a", "b"], "properties": {"x": "1", "y": "2"}}}
    patch = {"pool": {"disks": ["c"], "properties": {"y": "3"}}}
    assert design.merge(base, patch) == {"pool": {"disks": ["c"], "properties": {"x": "1", "y": "3"}}}


@given(st.text(max_size=20))
def test_a_slug_is_one_safe_folder_name(level: str) -> None:
    assert set(study.slug(level)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.+-")
    assert "_" not in study.slug(level)
