"""The host's end of the two channels into a guest: the agent (commands) and QMP (the virtual machine itself).

Both are socket pairs handed to QEMU as open descriptors, so there is no socket file and no port to leave behind.
"""

from __future__ import annotations

import json
import re
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zassay.errors import Problem

REPLY_GRACE_S = 20.0
# ID CODE OUT_LENGTH ERR_LENGTH SECONDS
HEAD = re.compile(rb"(\d+) (\d+) (\d+) (\d+) (\d+\.\d+)\n")


@dataclass(frozen=True)
class Reply:
    """What one guest command returned: exit code, output bytes, and its duration by the guest's and the host's clock (s)."""

    code: int
    out: bytes
    err: bytes
    guest_s: float
    host_s: float

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")


class _Stream:
    """Buffered reads with a deadline from a socket, giving up at once when the process behind it has ended."""

    def __init__(self, sock: socket.socket, alive: Callable[[], bool]) -> None:
        self._sock = sock
        self._alive = alive
        self._buffer = bytearray()

    def send(self, data: bytes, deadline: float) -> None:
        self._sock.settimeout(max(0.1, deadline - time.monotonic()))
        try:
            self._sock.sendall(data)
        except OSError as error:
            raise Problem(f"the guest does not take commands: {error}") from error

    def line(self, deadline: float) -> bytes:
        while b"\n" not in self._buffer:
            self._fill(deadline)
        end = self._buffer.index(b"\n") + 1
        return self._take(end)

    def exactly(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            self._fill(deadline)
        return self._take(size)

    def _take(self, size: int) -> bytes:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _fill(self, deadline: float) -> None:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Problem("the guest does not answer in time")
            if select.select([self._sock], [], [], min(left, 0.25))[0]:
                break
            if not self._alive():
                raise Problem("the virtual machine has ended")
        try:
            data = self._sock.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Problem("the virtual machine has ended")
        self._buffer += data


class Agent:
    """Runs scripts in the guest; see images/guest/agent for the other end and the protocol."""

    def __init__(self, sock: socket.socket, alive: Callable[[], bool]) -> None:
        self._stream = _Stream(sock, alive)
        self._sequence = 0

    def run(self, script: str, deadline_s: float) -> Reply:
        """Run a shell script; a reply later than ``deadline_s`` (plus a grace for the channel) is a Problem."""
        body = script.encode()
        return self._ask(f"run {{id}} {deadline_s:.0f} {len(body)}", body, deadline_s)

    def put(self, path: str, data: bytes, mode: int = 0o644) -> Reply:
        return self._ask(f"put {{id}} {mode:o} {len(data)} {path}", data, 60.0)

    def _ask(self, header: str, body: bytes, deadline_s: float) -> Reply:
        self._sequence += 1
        own = str(self._sequence)
        start = time.monotonic()
        deadline = start + deadline_s + REPLY_GRACE_S
        self._stream.send(header.format(id=own).encode() + b"\n" + body, deadline)
        line = self._stream.line(deadline)
        head = HEAD.fullmatch(line)
        if not head or head.group(1) != own.encode():
            raise Problem(f"the guest's agent answered out of turn: {line.split()!r}")
        out = self._stream.exactly(int(head.group(3)), deadline)
        err = self._stream.exactly(int(head.group(4)), deadline)
        return Reply(int(head.group(2)), out, err, float(head.group(5)), time.monotonic() - start)


class Qmp:
    """QEMU's machine protocol: one command, one return value; events are passed over."""

    def __init__(self, sock: socket.socket, alive: Callable[[], bool]) -> None:
        self._stream = _Stream(sock, alive)

    def greet(self, deadline_s: float = 10.0) -> None:
        self._stream.line(time.monotonic() + deadline_s)
        self.execute("qmp_capabilities")

    def execute(self, command: str, deadline_s: float = 20.0, **arguments: Any) -> Any:
        deadline = time.monotonic() + deadline_s
        request = {"execute": command, **({"arguments": arguments} if arguments else {})}
        self._stream.send(json.dumps(request).encode() + b"\n", deadline)
        while True:
            answer = json.loads(self._stream.line(deadline))
            if "error" in answer:
                raise Problem(f"QEMU refuses {command}: {answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]

    def until(self, command: str, done: Callable[[Any], bool], deadline_s: float) -> Any:
        """Repeat a query until ``done(answer)``."""
        deadline = time.monotonic() + deadline_s
        while not done(answer := self.execute(command)):
            if time.monotonic() > deadline:
                raise Problem(f"QEMU did not get there within {deadline_s:.0f} s: {command} says {answer}")
            time.sleep(0.01)
        return answer
