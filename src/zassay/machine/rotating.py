"""A rotating disk beside QEMU: a server on a unix socket that answers each request when a real disk would have.

    python -m zassay.machine.rotating SOCKET FILE GEOMETRY      (GEOMETRY: JSON of platter.Geometry without its size)

Bytes are in FILE, which had better be in memory. The device's clock is virtual: a request is due so many seconds after the
one before it, so what the host's scheduler delays once is not carried along. It serves one guest and ends with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from zassay import proc
from zassay.errors import Problem
from zassay.machine import nbd
from zassay.machine.leftovers import Record
from zassay.machine.nbd import Command
from zassay.machine.platter import Geometry, Platter, Request
from zassay.machine.spec import DiskSpec

READY_S = 20.0
# A guest that is being made ready may be long in coming, but not for ever.
CLIENT_S = 300.0
POLL_S = 0.01


class Gone(Exception):
    """The guest has let go of its disk."""


class Stream:
    """The socket's bytes, of which a whole piece is there or not yet."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._buffer = sock, bytearray()

    def fill(self) -> None:
        data = self._sock.recv(1 << 20)
        if not data:
            raise Gone
        self._buffer += data

    def peek(self, size: int, offset: int = 0) -> bytes | None:
        return bytes(self._buffer[offset : offset + size]) if len(self._buffer) >= offset + size else None

    def drop(self, size: int) -> None:
        del self._buffer[:size]

    def take(self, size: int) -> bytes:
        while (piece := self.peek(size)) is None:
            self.fill()
        self.drop(size)
        return piece


class Server:
    """One disk, one client. Requests wait in ``_waiting``; one at a time is under the head until its time has come."""

    def __init__(self, sock: socket.socket, descriptor: int, platter: Platter) -> None:
        self._sock, self._stream = sock, Stream(sock)
        self._file, self._platter = descriptor, platter
        self._waiting: list[tuple[Request, Command, bytes]] = []
        self._under: tuple[float, Command, bytes] | None = None

    def negotiate(self) -> None:
        self._sock.sendall(nbd.HELLO)
        self._stream.take(4)
        ready = False
        while not ready:
            number, length = nbd.option(self._stream.take(nbd.OPTION.size))
            self._stream.take(length)
            said, ready = nbd.answer(number, self._platter.geometry.size)
            self._sock.sendall(said)

    def serve(self) -> None:
        """Until the guest disconnects or its end of the socket is closed."""
        while True:
            left = None if self._under is None else max(0.0, self._under[0] - time.monotonic())
            if select.select([self._sock], [], [], left)[0]:
                self._stream.fill()
                self._hear()
            self._finish()

    def _hear(self) -> None:
        """Every whole request that has arrived."""
        while (head := self._stream.peek(nbd.REQUEST.size)) is not None:
            command = nbd.command(head)
            payload = self._stream.peek(command.length, len(head)) if command.kind == nbd.WRITE else b""
            if payload is None:
                return
            self._stream.drop(len(head) + len(payload))
            self._accept(command, payload)

    def _accept(self, command: Command, payload: bytes) -> None:
        if command.kind == nbd.DISCONNECT:
            raise Gone
        if command.kind == nbd.FLUSH:
            # Whatever was acknowledged is on the medium.
            self._sock.sendall(nbd.reply(command.handle))
        elif command.kind not in (nbd.READ, nbd.WRITE) or command.start + command.length > self._platter.geometry.size:
            self._sock.sendall(nbd.reply(command.handle, nbd.INVALID))
        else:
            request = Request(command.start, command.length, command.kind == nbd.WRITE, time.monotonic())
            self._waiting.append((request, command, payload))

    def _finish(self) -> None:
        """Answer what is due, and put the next request under the head: if it waited, its time began when the last one ended."""
        if self._under is not None and self._under[0] <= time.monotonic():
            _, command, payload = self._under
            self._under = None
            self._sock.sendall(self._move(command, payload))
        if self._under is None and self._waiting:
            chosen = self._platter.choose([request for request, _, _ in self._waiting])
            request, command, payload = self._waiting.pop(chosen)
            self._under = (self._platter.serve(request), command, payload)

    def _move(self, command: Command, payload: bytes) -> bytes:
        """The bytes themselves, to or from the file."""
        if command.kind == nbd.READ:
            data = os.pread(self._file, command.length, command.start)
            return nbd.reply(command.handle) + data if len(data) == command.length else nbd.reply(command.handle, nbd.IO_ERROR)
        moved = os.pwrite(self._file, payload, command.start)
        return nbd.reply(command.handle, 0 if moved == command.length else nbd.IO_ERROR)


def listen(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(str(path))
    sock.listen(1)
    sock.settimeout(CLIENT_S)
    return sock


def main(arguments: list[str]) -> int:
    where, file, geometry = Path(arguments[0]), arguments[1], json.loads(arguments[2])
    descriptor = os.open(file, os.O_RDWR)
    platter = Platter(Geometry(size=os.fstat(descriptor).st_size, **geometry), free=time.monotonic())
    with listen(where) as door:
        client, _ = door.accept()
    with client, contextlib.suppress(Gone):
        server = Server(client, descriptor, platter)
        server.negotiate()
        server.serve()
    return 0


@contextlib.contextmanager
def serving(disk: DiskSpec, file: Path, record: Record) -> Iterator[Path]:
    """Serve ``file`` as the rotating disk that ``disk`` describes; gives the socket. It ends with the block, by its id."""
    sock, log = file.with_suffix(".sock"), file.with_suffix(".log")
    argv = [sys.executable, "-m", "zassay.machine.rotating", str(sock), str(file), json.dumps(geometry(disk))]
    # This very package, whichever of several an interpreter would find.
    ours = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")])}
    with proc.child(argv, log=log, env=ours) as process:
        record.process("disk", process.pid)
        _wait_for(sock, lambda: process.poll() is None, log)
        yield sock


def geometry(disk: DiskSpec) -> dict[str, object]:
    if disk.rotation is None:
        raise Problem(f"disk {disk.role} does not rotate")
    return {"bytes_per_s": disk.bytes_per_s, **vars(disk.rotation)}


def _wait_for(sock: Path, alive: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while not sock.exists():
        if not alive() or time.monotonic() > deadline:
            raise Problem("the rotating disk did not start", proc.failure_hint(log.read_text(errors="replace"), log))
        time.sleep(POLL_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
