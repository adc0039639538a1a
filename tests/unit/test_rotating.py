"""The rotating disk's server, spoken to as QEMU does: bytes are kept, times are the model's, and it ends with its client."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from zassay.errors import Problem
from zassay.machine import leftovers, nbd, rotating
from zassay.machine.spec import DiskSpec, Rotation

MIB = 1 << 20
SIZE = 64 * MIB
DISK = DiskSpec("pool0", "memory", bytes_per_s=120 * MIB, rotation=Rotation(7200, 0.001, 0.015, 2 * MIB, "nearest"))
SOON_S = 10.0


class Client:
    """As much of a client as a test needs."""

    def __init__(self, path: Path) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SOON_S)
        self.sock.connect(str(path))

    def exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.sock.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def option(self, number: int, data: bytes = b"") -> list[tuple[int, bytes]]:
        self.sock.sendall(nbd.OPTION.pack(nbd.OPTION_MAGIC, number, len(data)) + data)
        found: list[tuple[int, bytes]] = []
        while not found or found[-1][0] == nbd.DONE_INFO:
            magic, same, kind, length = nbd.OPTION_REPLY.unpack(self.exactly(nbd.OPTION_REPLY.size))
            assert (magic, same) == (nbd.OPTION_REPLY_MAGIC, number)
            found.append((kind, self.exactly(length)))
        return found

    def go(self) -> list[tuple[int, bytes]]:
        assert self.exactly(18) == nbd.HELLO
        self.sock.sendall(struct.pack(">I", 1))
        # QEMU asks for structured replies first, and does without them.
        assert self.option(8)[0][0] == nbd.UNSUPPORTED
        return self.option(nbd.GO, struct.pack(">IHHH", 0, 0, 0, 0))

    def send(self, kind: int, start: int = 0, length: int = 0, data: bytes = b"", handle: int = 7) -> None:
        self.sock.sendall(nbd.REQUEST.pack(nbd.REQUEST_MAGIC, 0, kind, handle, start, length) + data)

    def answer(self, length: int = 0) -> tuple[int, int, bytes]:
        magic, error, handle = nbd.REPLY.unpack(self.exactly(nbd.REPLY.size))
        assert magic == nbd.REPLY_MAGIC
        return error, handle, b"" if error else self.exactly(length)

    def read(self, start: int, length: int) -> bytes:
        self.send(nbd.READ, start, length)
        error, _, data = self.answer(length)
        assert error == 0
        return data

    def write(self, start: int, data: bytes) -> int:
        self.send(nbd.WRITE, start, len(data), data)
        return self.answer()[0]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@contextlib.contextmanager
def disk(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    with leftovers.scratch(tmp_path, "disk") as (folder, record):
        file = folder / "pool0.raw"
        with file.open("wb") as handle:
            handle.truncate(SIZE)
        with rotating.serving(DISK, file, record) as sock:
            yield sock, file


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with disk(tmp_path) as (sock, _):
        found = Client(sock)
        with found.sock:
            found.go()
            yield found


def test_it_tells_its_size_and_that_it_rotates(tmp_path: Path) -> None:
    with disk(tmp_path) as (sock, _):
        client = Client(sock)
        with client.sock:
            said = client.go()
    assert [kind for kind, _ in said] == [nbd.DONE_INFO, nbd.DONE_INFO, nbd.ACK]
    assert struct.unpack(">HQH", said[0][1]) == (0, SIZE, nbd.FLAGS)


def test_what_was_written_is_read_again(client: Client) -> None:
    data = os.urandom(3 * MIB)
    assert client.write(5 * MIB, data) == 0
    assert client.read(5 * MIB, len(data)) == data
    assert client.read(4 * MIB, MIB) == bytes(MIB)
    client.send(nbd.FLUSH)
    assert client.answer()[:2] == (0, 7)


def test_bytes_are_in_the_file(tmp_path: Path) -> None:
    with disk(tmp_path) as (sock, file):
        client = Client(sock)
        with client.sock:
            client.go()
            client.write(SIZE - 4096, b"z" * 4096)
            assert file.read_bytes()[-4096:] == b"z" * 4096


@pytest.mark.parametrize(("start", "length"), [(SIZE, 512), (SIZE - 512, 1024), (1 << 62, 512)])
def test_what_lies_beyond_the_end_is_an_error_and_no_more(client: Client, start: int, length: int) -> None:
    client.send(nbd.READ, start, length)
    assert client.answer()[0] == nbd.INVALID
    assert len(client.read(0, 512)) == 512


def test_what_it_does_not_know_is_an_error_and_no_more(client: Client) -> None:
    client.send(6, 0, 4096)
    assert client.answer()[0] == nbd.INVALID
    assert len(client.read(0, 512)) == 512


def test_sequential_reads_come_at_the_rate_of_the_medium(client: Client) -> None:
    client.read(0, MIB)
    start = time.monotonic()
    for index in range(1, 25):
        client.read(index * MIB, MIB)
    rate = 24 * MIB / (time.monotonic() - start)
    # No faster than the medium (but for what had been read ahead); how much slower depends on what else this host does.
    assert rate <= DISK.bytes_per_s * 1.1


def test_random_reads_take_their_seeks(client: Client) -> None:
    start = time.monotonic()
    for index in range(10):
        client.read((index * 37 % 64) * MIB, 4096)
    assert time.monotonic() - start >= 10 * 0.002


def test_requests_that_wait_are_all_answered(client: Client) -> None:
    for handle in range(20):
        client.send(nbd.READ, handle * 3 * MIB, 4096, handle=handle)
    assert sorted(client.answer(4096)[1] for _ in range(20)) == list(range(20))


def test_it_ends_when_its_client_goes(tmp_path: Path) -> None:
    with leftovers.scratch(tmp_path, "disk") as (folder, record):
        file = folder / "pool0.raw"
        file.write_bytes(bytes(MIB))
        pids: list[int] = []
        record.process = lambda role, pid: pids.append(pid)  # type: ignore[method-assign]
        with rotating.serving(DISK, file, record) as sock:
            client = Client(sock)
            client.go()
            client.sock.close()
            end = time.monotonic() + SOON_S
            while leftovers.start_time(pids[0]) and time.monotonic() < end:
                time.sleep(0.02)
            assert leftovers.start_time(pids[0]) == ""


def test_it_ends_with_its_block_though_nobody_came(tmp_path: Path) -> None:
    with disk(tmp_path) as (sock, _):
        (record,) = leftovers.state_dir().glob("guest-*.json")
        noted = leftovers._record(record)
        assert leftovers._same(noted, "disk") and sock.exists()
    assert leftovers.start_time(int(noted["disk_pid"])) == "" and not sock.parent.exists()


def test_a_server_left_by_an_ended_owner_is_ended_by_its_id(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper, subprocess.Popen(["true"]) as owner:
        owner.wait()
        folder = tmp_path / "zassay-disk-x"
        folder.mkdir()
        noted = {"owner_pid": str(owner.pid), "owner_start": "1", "scratch": str(folder)}
        noted |= {"disk_pid": str(sleeper.pid), "disk_start": leftovers.start_time(sleeper.pid)}
        leftovers.files.write_json(leftovers.state_dir() / "guest-1-x.json", noted)
        assert leftovers.sweep() == [f"ended a disk left by an earlier run (pid {sleeper.pid})", f"removed {folder}"]
        assert sleeper.wait(SOON_S) == -9


def test_a_client_of_another_protocol_is_sent_away(tmp_path: Path) -> None:
    with disk(tmp_path) as (sock, _):
        client = Client(sock)
        with client.sock:
            client.exactly(18)
            client.sock.sendall(b"\0\0\0\1" + b"GET / HTTP/1.1\r\n")
            with pytest.raises(EOFError):
                client.exactly(1)


def test_a_server_that_cannot_start_is_told(tmp_path: Path) -> None:
    with leftovers.scratch(tmp_path, "disk") as (folder, record):
        with pytest.raises(Problem, match="did not start") as caught, rotating.serving(DISK, folder / "none.raw", record):
            pass
    assert "none.raw" in caught.value.hint


def test_a_disk_that_does_not_rotate_has_no_model() -> None:
    with pytest.raises(Problem, match="does not rotate"):
        rotating.geometry(DiskSpec("pool0", "memory"))
