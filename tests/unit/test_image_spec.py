"""Image files: every key is known and every mistake is named."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from zassay.errors import Problem
from zassay.image import catalog, keys
from zassay.image.catalog import PROJECT, ImageSpec

NAME = "debian-12"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that has the images of ours."""
    shutil.copytree(PROJECT / "images", tmp_path / "images")
    return tmp_path


def change(root: Path, **values: Any) -> None:
    path = root / "images" / f"{NAME}.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


def spec(root: Path) -> ImageSpec:
    return catalog.load(NAME, root)


@pytest.mark.parametrize("name", catalog.names())
def test_all_our_images_can_be_read(name: str) -> None:
    assert catalog.load(name).name == name


def test_an_unknown_image_names_the_known_ones(root: Path) -> None:
    with pytest.raises(Problem) as caught:
        catalog.load("debian12", root)
    assert "did you mean debian-12?" in caught.value.hint


def test_an_unknown_key_is_an_error_with_the_nearest_legal_one(root: Path) -> None:
    change(root, package=["fio"])
    with pytest.raises(Problem, match="unknown key: package") as caught:
        spec(root)
    assert "did you mean packages?" in caught.value.hint


@pytest.mark.parametrize(("size", "word"), [("4", "at least 1 GiB"), ("4 GX", "legal"), ("1025.5 MiB", "whole number")])
def test_a_disk_of_an_odd_size_is_refused(root: Path, size: str, word: str) -> None:
    disk = dict(catalog.load(NAME).raw["disk"]) | {"size": size}
    change(root, disk=disk)
    with pytest.raises(Problem, match=r"disk\.size") as caught:
        spec(root)
    assert word in caught.value.hint


def test_a_release_that_is_a_number_is_refused(root: Path) -> None:
    change(root, release=12)
    with pytest.raises(Problem, match="release"):
        spec(root)


def test_the_name_agrees_with_the_file(root: Path) -> None:
    change(root, name="debian-13")
    with pytest.raises(Problem, match="debian-13"):
        spec(root)


def test_a_remark_in_the_file_builds_nothing_again(root: Path) -> None:
    before = keys.of(spec(root))
    path = root / "images" / f"{NAME}.yaml"
    path.write_text(path.read_text() + "# a remark\n")
    assert keys.of(spec(root)) == before


def test_a_package_more_builds_everything_again(root: Path) -> None:
    before = keys.of(spec(root))
    change(root, packages=[*spec(root).packages, "tree"])
    after = keys.of(spec(root))
    assert not set(vars(before).values()) & set(vars(after).values())


@pytest.mark.parametrize(
    ("file", "same"),
    [
        ("provision/clean.sh", {"base", "initrd"}),
        ("image.pkr.hcl", {"base", "initrd"}),
        ("base/customize.sh", set()),
        ("locks/debian-12.tsv", set()),
    ],
)
def test_a_changed_file_builds_its_layer_and_what_lies_on_it(root: Path, file: str, same: set[str]) -> None:
    before = vars(keys.of(spec(root)))
    path = root / "images" / file
    path.write_text(path.read_text() + "x\n")
    after = vars(keys.of(spec(root)))
    assert {layer for layer in before if before[layer] == after[layer]} == same


def test_a_changed_guest_file_builds_only_the_initrd_again(root: Path) -> None:
    (root / "images" / "guest").mkdir(exist_ok=True)
    before = vars(keys.of(spec(root)))
    (root / "images" / "guest" / "more").write_text("x")
    after = vars(keys.of(spec(root)))
    assert {layer for layer in before if before[layer] == after[layer]} == {"base", "disk"}


def test_the_executable_bit_counts(root: Path) -> None:
    before = keys.of(spec(root))
    (root / "images" / "base" / "customize.sh").chmod(0o644)
    assert keys.of(spec(root)).base != before.base
