"""The network block device protocol, as much of it as QEMU speaks to a disk of ours: text in, values out, no sockets.

https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md: fixed newstyle negotiation with GO, simple replies.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from zassay.errors import Problem

HELLO = struct.pack(">8sQH", b"NBDMAGIC", 0x49484156454F5054, 1)
OPTION = struct.Struct(">QII")
OPTION_REPLY = struct.Struct(">QIII")
REQUEST = struct.Struct(">IHHQQI")
REPLY = struct.Struct(">IIQ")
OPTION_MAGIC, OPTION_REPLY_MAGIC = 0x49484156454F5054, 0x3E889045565A9
REQUEST_MAGIC, REPLY_MAGIC = 0x25609513, 0x67446698
EXPORT_NAME, ABORT, INFO, GO = 1, 2, 6, 7
ACK, DONE_INFO, UNSUPPORTED = 1, 3, (1 << 31) + 1
READ, WRITE, DISCONNECT, FLUSH = 0, 1, 2, 3
# Has flags, flush, forced unit access (each write is on the medium when it is acknowledged), and it rotates.
FLAGS = 1 | 1 << 2 | 1 << 3 | 1 << 4
INVALID, IO_ERROR = 22, 5
LONGEST = 32 << 20


@dataclass(frozen=True)
class Command:
    """One request of the guest."""

    kind: int
    handle: int
    start: int
    length: int


def option(head: bytes) -> tuple[int, int]:
    """(option, length of its data) from the head of one."""
    magic, number, length = OPTION.unpack(head)
    if magic != OPTION_MAGIC or length > 4096:
        raise Problem("the client speaks another protocol")
    return number, length


def answer(number: int, size: int) -> tuple[bytes, bool]:
    """What to say to an option, and whether the disk is in use from then on. Raises Problem when the client goes."""
    if number == ABORT:
        raise Problem("the client gave up")
    if number == EXPORT_NAME:
        return struct.pack(">QH124x", size, FLAGS), True
    if number not in (INFO, GO):
        return OPTION_REPLY.pack(OPTION_REPLY_MAGIC, number, UNSUPPORTED, 0), False
    info = struct.pack(">HQH", 0, size, FLAGS)
    blocks = struct.pack(">HIII", 3, 1, 4096, LONGEST)
    parts = [OPTION_REPLY.pack(OPTION_REPLY_MAGIC, number, DONE_INFO, len(each)) + each for each in (info, blocks)]
    return b"".join(parts) + OPTION_REPLY.pack(OPTION_REPLY_MAGIC, number, ACK, 0), number == GO


def command(head: bytes) -> Command:
    magic, _, kind, handle, start, length = REQUEST.unpack(head)
    if magic != REQUEST_MAGIC or (kind in (READ, WRITE) and length > LONGEST):
        raise Problem("the client speaks another protocol")
    return Command(kind, handle, start, length)


def reply(handle: int, error: int = 0) -> bytes:
    return REPLY.pack(REPLY_MAGIC, error, handle)
