"""The accelerator is found by booting, the answer is kept, and what a machine's data may decide follows from evidence."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from zassay import proc
from zassay.errors import Problem
from zassay.machine import accel, validity
from zassay.machine.accel import Accelerator

HOST = {"vmx_or_svm": True, "itself_a_guest": False}
KVM, TCG = Accelerator("kvm", "it boots", 1.0), Accelerator("tcg", "no node", 0.0)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "vmlinux").write_bytes(b"kernel")
    return tmp_path / "vmlinux"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A node that opens; boots are noted and fail."""
    found: list[str] = []
    monkeypatch.setattr(accel, "why_not_kvm", lambda trust_flags=True: "")
    monkeypatch.setattr(accel, "boots", lambda *words: bool(found.append(words[1])))
    return found


def fake_qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / accel.QEMU).write_text(f"#!/bin/sh\n{script}\n")
    (folder / accel.QEMU).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


# The cheap half


def cpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: str) -> None:
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(accel, "NODE", tmp_path / "kvm")
    real = Path.read_text
    shown = f"processor\t: 0\nflags\t\t: fpu {flags} sse\n"
    monkeypatch.setattr(Path, "read_text", lambda self, *w, **k: shown if str(self) == "/proc/cpuinfo" else real(self, *w, **k))


def test_a_node_that_cannot_be_opened_speaks_against_kvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(accel, "NODE", tmp_path / "none")
    assert "cannot be opened" in accel.why_not_kvm()


@pytest.mark.parametrize(
    ("flags", "trust", "word"),
    [("vmx", True, ""), ("svm", True, ""), ("avx", True, "neither vmx nor svm"), ("avx", False, ""), ("xvmx", True, "neither")],
)
def test_a_processor_without_the_flag_speaks_against_kvm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: str, trust: bool, word: str
) -> None:
    cpu(monkeypatch, tmp_path, flags)
    found = accel.why_not_kvm(trust)
    assert (word in found) if word else found == ""


# Booting


def test_a_kernel_that_reaches_its_panic_boots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Path) -> None:
    fake_qemu(
        tmp_path,
        monkeypatch,
        "echo 'Linux version 6.1'; sleep 0.1; echo 'Kernel panic - not syncing: VFS: no root'; exec sleep 60",
    )
    start = time.monotonic()
    assert accel.boots(kernel, "tcg", "max", 20)
    assert time.monotonic() - start < 15


@pytest.mark.parametrize(
    "script", ["exec sleep 60", "echo 'Linux version 6.1'; exec sleep 60", "trap '' TERM; while :; do sleep 0.1; done"]
)
def test_an_accelerator_that_hangs_ends_at_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Path, script: str
) -> None:
    monkeypatch.setattr(proc, "TERM_GRACE_S", 0.5)
    fake_qemu(tmp_path, monkeypatch, script)
    start = time.monotonic()
    assert not accel.boots(kernel, "kvm", "host", 0.5)
    assert time.monotonic() - start < 8


def test_a_qemu_that_ends_at_once_does_not_boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Path) -> None:
    fake_qemu(tmp_path, monkeypatch, "echo 'could not access KVM'; exit 1")
    start = time.monotonic()
    assert not accel.boots(kernel, "kvm", "host", 30)
    assert time.monotonic() - start < 15


def test_a_probe_and_its_end_stay_within_ten_seconds() -> None:
    assert accel.PROBE_DEADLINE_S + 2 <= 10


# The answer


def test_a_node_that_opens_and_hangs_every_kernel_is_not_kvm(kernel: Path, calls: list[str]) -> None:
    found = accel.probe(kernel)
    assert found.name == "tcg" and calls == ["kvm"]
    assert "opens, but the image's kernel did not boot under it" in found.why and "emulated" in found.why


def test_the_answer_is_kept_and_given_again(kernel: Path, calls: list[str]) -> None:
    first = accel.probe(kernel)
    assert accel.probe(kernel) == first and calls == ["kvm"]
    assert accel.probe(kernel, use_cache=False).name == "tcg" and calls == ["kvm", "kvm"]


def test_another_kernel_is_asked_anew(kernel: Path, calls: list[str]) -> None:
    accel.probe(kernel)
    kernel.write_bytes(b"another kernel")
    accel.probe(kernel)
    assert calls == ["kvm", "kvm"]


def test_a_kernel_that_boots_is_kvm(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accel, "why_not_kvm", lambda trust_flags=True: "")
    monkeypatch.setattr(accel, "boots", lambda *words: True)
    assert accel.probe(kernel).name == "kvm"
    assert accel.choose("kvm", kernel).name == "kvm"


def test_nothing_is_booted_when_the_node_is_out_of_the_question(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, calls: list[str]
) -> None:
    monkeypatch.setattr(accel, "why_not_kvm", lambda trust_flags=True: "no node")
    found = accel.probe(kernel)
    assert found.name == "tcg" and found.why.startswith("no node; ") and calls == []


def test_tcg_is_taken_as_said_and_kvm_must_prove_itself(kernel: Path, calls: list[str]) -> None:
    assert accel.choose("tcg", kernel) == Accelerator("tcg", "the campaign asks for tcg", 0.0) and calls == []
    assert accel.choose("auto", kernel).name == "tcg"
    with pytest.raises(Problem, match="config accel: kvm is asked for, but") as caught:
        accel.choose("kvm", kernel)
    assert caught.value.hint == "legal values: auto, kvm, tcg"


# What the data may decide


@pytest.mark.parametrize(
    ("found", "host", "said", "label", "nested"),
    [
        (KVM, HOST, {"enabled": True, "present": True}, "V", False),
        (KVM, HOST | {"itself_a_guest": True}, {"enabled": True}, "V", True),
        (KVM, HOST, {"enabled": False}, "E", False),
        (KVM, HOST, {}, "E", False),
        (KVM, HOST | {"vmx_or_svm": False}, {"enabled": True}, "E", False),
        (TCG, HOST, {"enabled": True}, "E", False),
    ],
)
def test_the_lowest_evidence_wins(
    found: Accelerator, host: dict[str, bool], said: dict[str, bool], label: str, nested: bool
) -> None:
    result = validity.validity(found, host, said)
    assert (result["class"], result["nested"]) == (label, nested)
    assert result["evidence"]["why"] == found.why and result["evidence"]["query_kvm"] == said


def test_this_host_s_facts_hold_no_name() -> None:
    facts = validity.host_facts()
    assert facts["cores"] > 0 and facts["memory"] > 1 << 28 and len(facts["id"]) == 12
    assert socket.gethostname() not in (facts["id"], facts["cpu_model"], facts["kernel"])
    assert validity.host_facts() == facts
