"""What QEMU is told, and its two channels, without a guest: a fake peer stands at the other end of a socket pair."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.machine import channel, drives, qemu, spec, template
from zassay.machine.channel import Agent, Qmp
from zassay.machine.drives import Disk
from zassay.machine.qemu import Launch

ROOT = Path(__file__).resolve().parents[2]
MACHINE = spec.load(ROOT, "small")
POOL, SOURCE = Disk("pool0", Path("/d/pool0.raw")), Disk("source", Path("/d/text.raw"), read_only=True, direct=False)


def launch(**changes: object) -> Launch:
    return dataclasses.replace(qemu.launch_of(MACHINE, "tcg", Path("/image"), (POOL, SOURCE)), **changes)  # type: ignore[arg-type]


def words(**changes: object) -> list[str]:
    return qemu.command_line(launch(**changes), Path("/run/console.log"), 5, 7)


def after(option: str, found: list[str]) -> list[str]:
    return [found[index + 1] for index, word in enumerate(found) if word == option]


def drive(node: str, found: list[str]) -> dict[str, str]:
    """The options of one block device by name."""
    every = [dict(part.split("=", 1) for part in each.split(",")) for each in after("-blockdev", found)]
    return next(options for options in every if options["node-name"] == node)


def test_pool_disks_are_raw_and_pass_every_cache() -> None:
    assert drive("pool0", words()) == {
        "driver": "raw",
        "node-name": "pool0",
        "read-only": "off",
        "file.driver": "file",
        "file.filename": "/d/pool0.raw",
        "file.cache.direct": "on",
        "file.aio": "native",
    }


def test_the_source_is_read_only() -> None:
    assert drive("source", words())["read-only"] == "on"


def test_only_the_throwaway_root_is_a_qcow2() -> None:
    assert [each for each in after("-blockdev", words()) if "qcow2" in each] == [
        "driver=qcow2,node-name=root,file.driver=file,file.filename=/image/disk.qcow2,cache.no-flush=on"
    ]


def test_disks_are_found_by_serial_and_have_places_of_their_own() -> None:
    devices = [each for each in after("-device", words()) if each.startswith("virtio-blk-pci")]
    assert [dict(part.split("=") for part in each.split(",")[1:])["serial"] for each in devices] == ["root", "pool0", "source"]
    places = [each.partition("addr=")[2] for each in after("-device", words()) if "addr=" in each]
    assert len(set(places)) == len(places) == 5


def test_a_limited_disk_is_throttled_below_the_device() -> None:
    slow = dataclasses.replace(POOL, bytes_per_s=60 << 20, operations_per_s=75)
    found = words(disks=(slow,))
    assert after("-object", found) == ["throttle-group,id=pool0-limit,x-bps-total=62914560,x-iops-total=75"]
    assert drive("pool0-slow", found)["file"] == "pool0"
    assert "virtio-blk-pci,drive=pool0-slow,serial=pool0,addr=0x6" in after("-device", found)
    assert not [each for each in words() if "throttle" in each]


def test_a_measuring_guest_has_no_network_and_no_port() -> None:
    found = words()
    assert {"-nodefaults", "-no-user-config", "-no-reboot"} <= set(found)
    assert not {"-netdev", "-net", "-nic", "-vnc", "-spice", "-gdb", "-qmp", "-monitor"} & set(found)
    assert not [each for each in found if "virtio-net" in each or "hostfwd" in each or "tcp:" in each or "server=on" in each]
    assert after("-display", found) == ["none"]


def test_channels_are_open_descriptors_and_the_console_is_a_file() -> None:
    found = words()
    assert after("-chardev", found) == ["socket,id=agent,fd=5", "socket,id=qmp,fd=7"]
    assert after("-serial", found) == ["file:/run/console.log"]


def test_the_kernel_is_booted_directly() -> None:
    found = words()
    assert (after("-kernel", found), after("-initrd", found)) == (["/image/vmlinux"], ["/image/initrd"])
    assert {"console=ttyS0", "net.ifnames=0", "panic=-1", "mitigations=off"} <= set(after("-append", found)[0].split())


@pytest.mark.parametrize(("accel", "emulated"), [("tcg", True), ("kvm", False)])
def test_only_an_emulated_guest_is_told_that_its_counters_agree(accel: str, emulated: bool) -> None:
    assert ("tsc=reliable" in after("-append", words(accel=accel))[0].split()) is emulated


@pytest.mark.parametrize(("accel", "shown"), [("tcg", "tcg,thread=multi,tb-size=256"), ("kvm", "kvm")])
def test_the_accelerator_decides_the_processor(accel: str, shown: str) -> None:
    found = qemu.command_line(qemu.launch_of(MACHINE, accel, Path("/image")), Path("/c"), 5, 7)
    assert (after("-accel", found), after("-cpu", found)) == ([shown], [MACHINE.cpu_model[accel]])
    assert (after("-smp", found), after("-m", found)) == ([str(MACHINE.cpus)], [f"{MACHINE.memory >> 20}M"])


@pytest.mark.parametrize(("shared", "share"), [(True, "on"), (False, "off")])
def test_a_template_shares_its_memory_file_and_a_clone_does_not(shared: bool, share: str) -> None:
    found = words(ram_file=Path("/t/ram"), ram_shared=shared)
    assert after("-object", found) == [f"memory-backend-file,id=ram,size={MACHINE.memory >> 20}M,mem-path=/t/ram,share={share}"]
    assert "-object" not in words()


def test_a_clone_waits_for_its_state() -> None:
    assert words(incoming=True)[-2:] == ["-incoming", "defer"]
    assert "-incoming" not in words()


def test_two_starts_differ_in_nothing_but_their_places() -> None:
    assert words() == words()


def test_data_disks_have_no_holes_and_one_partition(tmp_path: Path) -> None:
    drives.make_raw_disk(tmp_path / "disk", 4 << 20)
    assert (tmp_path / "disk").stat().st_blocks * 512 >= (tmp_path / "disk").stat().st_size == 4 << 20
    drives.make_placeholder(tmp_path / "empty", 4 << 20, partitioned=True)
    assert (tmp_path / "empty").stat().st_size == 4 << 20
    assert (tmp_path / "empty").stat().st_blocks * 512 < 1 << 20
    # A guest that knew the placeholder takes the disk for the same one.
    assert (tmp_path / "disk").read_bytes() == (tmp_path / "empty").read_bytes()
    assert (tmp_path / "disk").read_bytes()[512:520] == b"EFI PART"


def test_placeholders_have_the_serial_and_size_of_their_disk(tmp_path: Path) -> None:
    drives.make_raw_disk(tmp_path / "pool0.raw", 4 << 20)
    (tmp_path / "text.raw").write_bytes(b"t" * 4096)
    disk = Disk("pool0", tmp_path / "pool0.raw", bytes_per_s=5, operations_per_s=6)
    pool, source = template.placeholders(tmp_path, (disk, Disk("source", tmp_path / "text.raw", read_only=True)))
    assert (pool.serial, pool.path.stat().st_size, pool.direct) == ("pool0", 4 << 20, False)
    assert (pool.bytes_per_s, pool.operations_per_s) == (0, 0) and pool.path != disk.path
    assert source.path.read_bytes() == bytes(4096), "a payload has no partition, nor has its placeholder"


# The channels

Peer = Callable[[socket.socket], None]


def until_the_end(peer: Peer, sock: socket.socket) -> None:
    """A peer whose other end is gone has nothing more to do."""
    with contextlib.suppress(OSError):
        peer(sock)


def some(sock: socket.socket) -> bytes:
    data = sock.recv(4096)
    if not data:
        raise ConnectionResetError
    return data


@pytest.fixture
def here() -> Iterator[Callable[[Peer], socket.socket]]:
    """Start a peer in a thread; gives our end of the pair."""
    ends: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def start(peer: Peer) -> socket.socket:
        mine, theirs = socket.socketpair()
        ends.extend((mine, theirs))
        threads.append(threading.Thread(target=until_the_end, args=(peer, theirs), daemon=True))
        threads[-1].start()
        return mine

    yield start
    # Our ends first: a peer that still reads then sees the end, where closing its own under it would be an error of the test.
    for end in ends[::2]:
        end.close()
    for thread in threads:
        thread.join(5)
    for end in ends[1::2]:
        end.close()


def heard(sock: socket.socket) -> tuple[list[str], bytes]:
    """One request: its words and its body, whose length is the third word of `run` and the fourth of `put`."""
    data = b""
    while b"\n" not in data:
        data += some(sock)
    head, _, body = data.partition(b"\n")
    found = head.decode().split(" ")
    while len(body) < int(found[3]):
        body += some(sock)
    return found, body


def saying(*replies: bytes) -> Peer:
    def peer(sock: socket.socket) -> None:
        for reply in replies:
            heard(sock)
            sock.sendall(reply)

    return peer


def test_a_reply_holds_code_output_and_durations(here: Callable[[Peer], socket.socket]) -> None:
    agent = Agent(here(saying(b"1 3 5 4 0.25\nou\n\xfftoops")), lambda: True)
    reply = agent.run("false", 5)
    assert (reply.code, reply.out, reply.err, reply.guest_s) == (3, b"ou\n\xfft", b"oops", 0.25)
    assert reply.text == "ou\n�t" and 0 <= reply.host_s < 5


def test_requests_carry_their_length_and_number(here: Callable[[Peer], socket.socket]) -> None:
    said: list[tuple[list[str], bytes]] = []

    def peer(sock: socket.socket) -> None:
        for number in (b"1", b"2"):
            said.append(heard(sock))
            sock.sendall(number + b" 0 0 0 0.00\n")

    agent = Agent(here(peer), lambda: True)
    agent.run("echo ä\n", 7)
    agent.put("/run/x", b"\x00\n", 0o755)
    assert said == [(["run", "1", "7", "8"], "echo ä\n".encode()), (["put", "2", "755", "2", "/run/x"], b"\x00\n")]


def test_a_reply_in_pieces_is_put_together(here: Callable[[Peer], socket.socket]) -> None:
    def peer(sock: socket.socket) -> None:
        heard(sock)
        for byte in b"1 0 3 0 0.01\nabc":
            sock.sendall(bytes([byte]))

    assert Agent(here(peer), lambda: True).run("x", 5).out == b"abc"


@pytest.mark.parametrize(
    "reply", [b"2 0 0 0 0.00\n", b"1 0 0\n", b"x 0 0 0 0.00\n", b"1 0 -5 0 0.00\n", b"1 0 a 0 0.00\n", b"\n", b"1 0 0 0 nan\n"]
)
def test_a_reply_out_of_turn_is_a_problem(here: Callable[[Peer], socket.socket], reply: bytes) -> None:
    with pytest.raises(Problem, match="answered out of turn"):
        Agent(here(saying(reply)), lambda: True).run("x", 5)


def test_silence_ends_at_the_deadline(here: Callable[[Peer], socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "REPLY_GRACE_S", 0.2)
    start = time.monotonic()
    with pytest.raises(Problem, match="does not answer in time"):
        Agent(here(lambda sock: None), lambda: True).run("x", 0.1)
    assert time.monotonic() - start < 5


def test_half_a_reply_ends_at_the_deadline_too(here: Callable[[Peer], socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "REPLY_GRACE_S", 0.2)
    with pytest.raises(Problem, match="does not answer in time"):
        Agent(here(saying(b"1 0 9 0 0.00\nabc")), lambda: True).run("x", 0.1)


def test_a_machine_that_ended_is_noticed_at_once(here: Callable[[Peer], socket.socket]) -> None:
    start = time.monotonic()
    with pytest.raises(Problem, match="the virtual machine has ended"):
        Agent(here(lambda sock: None), lambda: False).run("x", 60)
    with pytest.raises(Problem, match=r"has ended|does not take commands"):
        Agent(here(lambda sock: sock.close()), lambda: True).run("x", 60)
    assert time.monotonic() - start < 10


def test_qmp_passes_over_events(here: Callable[[Peer], socket.socket]) -> None:
    asked: list[dict[str, object]] = []

    def peer(sock: socket.socket) -> None:
        sock.sendall(b'{"QMP": {}}\n')
        for answer in (b'{"return": {}}\n', b'{"event": "STOP"}\n{"return": {"status": "ok"}}\n'):
            asked.append(json.loads(sock.recv(4096)))
            sock.sendall(answer)

    qmp = Qmp(here(peer), lambda: True)
    qmp.greet()
    assert qmp.execute("query-x", id="7") == {"status": "ok"}
    assert asked == [{"execute": "qmp_capabilities"}, {"execute": "query-x", "arguments": {"id": "7"}}]


def test_what_qemu_refuses_is_a_problem(here: Callable[[Peer], socket.socket]) -> None:
    def peer(sock: socket.socket) -> None:
        sock.recv(4096)
        sock.sendall(b'{"error": {"desc": "no such thing"}}\n')

    with pytest.raises(Problem, match="QEMU refuses cont: no such thing"):
        Qmp(here(peer), lambda: True).execute("cont")


def test_waiting_for_qemu_has_a_deadline(here: Callable[[Peer], socket.socket]) -> None:
    def peer(sock: socket.socket) -> None:
        while some(sock):
            sock.sendall(b'{"return": {"status": "active"}}\n')

    with pytest.raises(Problem, match="did not get there within 0 s"):
        Qmp(here(peer), lambda: True).until("query-migrate", lambda answer: answer["status"] == "completed", 0.1)


# A guest that dies


class FakeProcess:
    def poll(self) -> int | None:
        return 1


def test_a_panic_is_told_with_the_console_s_last_lines(here: Callable[[Peer], socket.socket], tmp_path: Path) -> None:
    console = tmp_path / "console.log"
    console.write_text("boot\nKernel panic - not syncing: sysrq triggered crash\nCPU: 0 PID: 1\n")
    sock = here(lambda sock: sock.close())
    guest = qemu.Guest(FakeProcess(), Agent(sock, lambda: False), Qmp(sock, lambda: False), console, ["qemu"])  # type: ignore[arg-type]
    with pytest.raises(Problem, match="Kernel panic - not syncing: sysrq triggered crash") as caught:
        guest.run("x", 5)
    assert "CPU: 0 PID: 1" in caught.value.hint and str(console) in caught.value.hint
    assert not guest.alive()


def test_a_guest_that_does_not_come_up_is_told_as_that(here: Callable[[Peer], socket.socket], tmp_path: Path) -> None:
    sock = here(lambda sock: sock.close())
    guest = qemu.Guest(FakeProcess(), Agent(sock, lambda: False), Qmp(sock, lambda: False), tmp_path / "c", ["qemu"])  # type: ignore[arg-type]
    with pytest.raises(Problem, match=r"^the guest did not come up: "):
        guest.wait_ready(5)


def test_a_command_that_fails_shows_itself(here: Callable[[Peer], socket.socket], tmp_path: Path) -> None:
    sock = here(saying(b"1 2 0 9 0.01\nno such x"))
    guest = qemu.Guest(FakeProcess(), Agent(sock, lambda: True), Qmp(sock, lambda: True), tmp_path / "c", ["qemu"])  # type: ignore[arg-type]
    with pytest.raises(Problem, match="guest command ended with code 2: zpool list") as caught:
        guest.must("zpool list\n", 5)
    assert "no such x" in caught.value.hint


def test_a_qemu_that_will_not_start_is_told_with_its_words(tmp_path: Path) -> None:
    bad = qemu.launch_of(MACHINE, "tcg", tmp_path)
    start = time.monotonic()
    with pytest.raises(Problem, match="QEMU did not start") as caught:
        with qemu.start(bad, tmp_path / "console.log"):
            pass
    assert "disk.qcow2" in caught.value.hint or "vmlinux" in caught.value.hint
    assert time.monotonic() - start < 20
