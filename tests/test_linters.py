"""Linters as tests: each finds nothing in the tree, and each is shown to find something in a bad file."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tree import ROOT, files, shell_scripts

LINT_R = "found <- {call}; print(found); quit(status = if (length(found) > 0) 1 else 0)"
SCHEMAS = "workflows/schemas"


def python() -> list[str]:
    return files(".py")


def workflow() -> list[str]:
    return [*files(".smk"), *(["Snakefile"] if (ROOT / "Snakefile").is_file() else [])]


def vagrantfile() -> list[str]:
    return [name for name in ("vagrant/Vagrantfile",) if (ROOT / name).is_file()]


def yaml() -> list[str]:
    return files(".yaml", ".yml")


def prose_and_code() -> list[str]:
    return files(".md", ".py", ".smk", ".sh", ".R", ".Rmd", ".yaml", ".toml", ".txt", ".hcl", ".cff")


@dataclass(frozen=True)
class Linter:
    """``argv`` goes before the files; ``bad`` is a file name and contents that it must refuse."""

    name: str
    argv: Sequence[str]
    files: Callable[[], list[str]]
    bad: tuple[str, str]
    env: dict[str, str] = field(default_factory=dict)


def checks(schema: str, pattern: str) -> Linter:
    """A data file of the tree against its JSON Schema."""
    argv = ["check-jsonschema", "--schemafile", str(ROOT / SCHEMAS / f"{schema}.schema.yaml")]
    return Linter(f"schema-{schema}", argv, functools.partial(matching, pattern), ("bad.yaml", "no-such-key: 1\n"))


def matching(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


LINTERS = (
    Linter("ruff-format", ["ruff", "format", "--check"], python, ("bad.py", "x = ( 1 )\n")),
    Linter("ruff-check", ["ruff", "check", "--no-cache"], python, ("bad.py", "import os\n")),
    Linter("mypy", ["mypy", "--strict"], lambda: ["src"], ("bad.py", "def f(x): return x\n")),
    Linter("snakefmt", ["snakefmt", "--check"], workflow, ("bad.smk", "rule a:\n  output: 'x'\n  shell: 'touch x'\n")),
    Linter("shellcheck", ["shellcheck", "-e", "SC2187"], shell_scripts, ("bad.sh", "#!/bin/sh\nrm $1\n")),
    Linter("shfmt", ["shfmt", "-d", "-i", "4"], shell_scripts, ("bad.sh", "#!/bin/sh\nif true; then\n  :\nfi\n")),
    Linter("packer-fmt", ["packer", "fmt", "-check"], lambda: files(".hcl"), ("bad.pkr.hcl", "locals {\na=1\n}\n")),
    Linter("yamllint", ["yamllint", "--strict", "-c", str(ROOT / ".yamllint")], yaml, ("bad.yaml", "compression: off\n")),
    Linter("codespell", ["codespell", "--toml", str(ROOT / "pyproject.toml")], prose_and_code, ("bad.md", f"{'te'}{'h'} end\n")),
    Linter(
        "cff",
        ["check-jsonschema", "--builtin-schema", "vendor.citation-file-format"],
        lambda: ["CITATION.cff"],
        ("bad.cff", "cff-version: 1.2.0\n"),
    ),
    Linter(
        "schemas",
        ["check-jsonschema", "--check-metaschema"],
        lambda: files(".yaml", under=SCHEMAS),
        ("bad.yaml", "$schema: https://json-schema.org/draft/2020-12/schema\ntype: 5\n"),
    ),
    checks("config", "config/config.yaml"),
    checks("scale", "config/scales/*.yaml"),
    checks("image", "images/*.yaml"),
    checks("machine", "machines/*.yaml"),
    checks("study", "studies/*/study.yaml"),
    checks("claims", "studies/*/claims.yaml"),
    checks("audit", "studies/*/published.audit.yaml"),
)


def run(argv: Sequence[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def need(tool: str) -> None:
    """Absent tools are forgiven to a person at work, never to CI."""
    if shutil.which(tool) is None and not os.environ.get("CI"):
        pytest.skip(f"{tool} is not installed; run: make setup-test")


SHOWN = 60  # lines of what a linter found


def finds_nothing(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        lines = done.stdout.splitlines()
        shown = "\n".join([*lines[:SHOWN], *(["..."] if len(lines) > SHOWN else [])])
        pytest.fail(f"{' '.join(done.args[:3])} ... ended with code {done.returncode}\n{shown}", pytrace=False)


def need_schema(linter: Linter) -> None:
    for word in linter.argv:
        if word.startswith(str(ROOT / SCHEMAS)) and not Path(word).is_file():
            pytest.skip(f"{Path(word).name} does not exist")


@pytest.mark.parametrize("linter", LINTERS, ids=lambda each: each.name)
def test_finds_nothing(linter: Linter) -> None:
    need(linter.argv[0])
    need_schema(linter)
    paths = linter.files()
    if not paths:
        pytest.skip("no such file in the tree yet")
    finds_nothing(run([*linter.argv, *paths]))


@pytest.mark.parametrize("linter", LINTERS, ids=lambda each: each.name)
def test_finds_a_fault(linter: Linter, tmp_path: Path) -> None:
    need(linter.argv[0])
    need_schema(linter)
    name, contents = linter.bad
    (tmp_path / name).write_text(contents)
    done = run([*linter.argv, name], cwd=tmp_path)
    assert done.returncode != 0, done.stdout
    assert "unrecognized" not in done.stdout
    assert "No such" not in done.stdout


# Linters of a whole: the package graph, the workflow, the R package, the Vagrantfile


def test_imports_go_one_way() -> None:
    need("lint-imports")
    finds_nothing(run(["lint-imports", "--no-cache"]))


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("filesystems/zfs.py", "import subprocess", "Plug-ins"),
        ("machine/qemu.py", "import zassay.parse", "Stages"),
        ("parse.py", "import zassay.machine.qemu", "What is derived"),
        ("errors.py", "import zassay.study", "above the ground"),
        ("study.py", "import subprocess", "One module"),
    ],
)
def test_an_import_the_wrong_way_is_found(tmp_path: Path, module: str, line: str, contract: str) -> None:
    need("lint-imports")
    shutil.copytree(ROOT / "src" / "zassay", tmp_path / "zassay", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "zassay" / module).open("a") as handle:
        handle.write(f"\n{line}\n")
    config = str(ROOT / "pyproject.toml")
    done = run(["lint-imports", "--no-cache", "--config", config], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode != 0
    assert any(contract in each for each in done.stdout.splitlines() if " BROKEN" in each), done.stdout


def test_the_workflow_is_sound() -> None:
    """`snakemake --lint`, without the one opinion that this project does not share (see unshared)."""
    need("snakemake")
    if not (ROOT / "Snakefile").is_file():
        pytest.skip("no Snakefile yet")
    done = run(["snakemake", "--lint"])
    assert unshared(done) == []


def test_an_unsound_workflow_is_found(tmp_path: Path) -> None:
    need("snakemake")
    (tmp_path / "Snakefile").write_text("rule a:\n    output: 'x'\n    shell: 'touch /abs/x && conda run y > {output}'\n")
    assert unshared(run(["snakemake", "--lint"], cwd=tmp_path)) != []


def unshared(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Titles of what the linter found; a workflow that cannot be read at all is found too."""
    titles = re.findall(r"^    \* (.+?):?$", done.stdout, re.M)
    if done.returncode != 0 and not titles:
        return [done.stdout]
    # Software comes from tools/setup, once for all rules.
    return sorted({title for title in titles if "conda environment or container" not in title})


def stages() -> list[str]:
    """In the order in which the Snakefile includes them."""
    return re.findall(r'^include: "workflows/rules/(\w+)\.smk"', (ROOT / "Snakefile").read_text(), re.M)


def test_data_flow_one_way() -> None:
    """No rule reads what a rule of a later stage writes."""
    need("snakemake")
    order = {
        rule: number
        for number, stage in enumerate(stages())
        for rule in re.findall(r"^rule (\w+):", (ROOT / f"workflows/rules/{stage}.smk").read_text(), re.M)
    }
    graph = run(["snakemake", "--rulegraph"]).stdout
    names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)"', graph, re.M))
    edges = [(names[a], names[b]) for a, b in re.findall(r"^\s*(\d+) -> (\d+)", graph, re.M)]
    assert edges, graph
    assert [(a, b) for a, b in edges if b in order and order[a] > order[b]] == []


def lint_r(call: str) -> subprocess.CompletedProcess[str]:
    need("Rscript")
    return run(["Rscript", "--vanilla", "-e", LINT_R.format(call=call)])


def test_lintr_finds_nothing() -> None:
    if not files(".R", under="analysis/"):
        pytest.skip("no R yet")
    finds_nothing(lint_r("lintr::lint_package('analysis')"))


def test_lintr_finds_a_fault(tmp_path: Path) -> None:
    (tmp_path / "bad.R").write_text("x = T\n")
    done = lint_r(f"lintr::lint('{tmp_path}/bad.R')")
    assert done.returncode == 1
    assert "bad.R" in done.stdout


def vagrant(folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    need("vagrant")
    env = {"VAGRANT_HOME": str(home), "VAGRANT_CHECKPOINT_DISABLE": "1", "VAGRANT_DEFAULT_PROVIDER": "libvirt"}
    return run(["vagrant", "validate"], cwd=folder, env={**env, "VAGRANT_DOTFILE_PATH": str(home / "dot")})


def test_the_vagrantfile_is_valid(tmp_path: Path) -> None:
    if not vagrantfile():
        pytest.skip("no Vagrantfile yet")
    finds_nothing(vagrant(ROOT / "vagrant", tmp_path))


def test_an_invalid_vagrantfile_is_found(tmp_path: Path) -> None:
    bad = 'Vagrant.configure("2") { |c| c.vm.box = "x"; c.vm.provider(:libvirt) { |v| v.no_such_key = 1 } }\n'
    (tmp_path / "Vagrantfile").write_text(bad)
    done = vagrant(tmp_path, tmp_path / "home")
    assert done.returncode != 0
    assert "no_such_key" in done.stdout
