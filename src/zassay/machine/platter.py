"""A model of a rotating disk: how long each request takes, given where the head is and how far the platter has turned.

The whole virtual disk counts as the full stroke, so that a small disk has the seeks of a large one in proportion. Every
track holds what passes under the head in one turn; there is no cache for writing: what is acknowledged is on the medium.
Reading on is free: after a read the drive fills its buffer, and a read that goes on there waits for the medium alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Geometry:
    """A disk of ``size`` bytes: rate under the head (bytes/s), turns per minute, seeks (s), bytes read ahead, queue."""

    size: int
    bytes_per_s: float
    rpm: int
    track_seek_s: float
    full_seek_s: float
    read_ahead: int
    queue: str

    @property
    def turn_s(self) -> float:
        return 60 / self.rpm

    @property
    def track(self) -> float:
        return self.bytes_per_s * self.turn_s


@dataclass(frozen=True)
class Request:
    """What the guest asks for, and when it came (s by the device's clock)."""

    start: int
    length: int
    writes: bool
    came: float


@dataclass
class Platter:
    """Where the head is: it stands at byte ``at``, which passed under it at the time ``passed``; the drive is ``free`` for the
    next request; it ``reads_on`` after a read, until its buffer is full."""

    geometry: Geometry
    free: float = 0.0
    at: int = 0
    passed: float = 0.0
    reads_on: bool = False

    def serve(self, request: Request) -> float:
        """Move the head through a request; the time at which it is done."""
        begin = max(self.free, request.came)
        self.passed = self._positioned(request, begin) + request.length / self.geometry.bytes_per_s
        self.at, self.reads_on = request.start + request.length, not request.writes
        # What was in the buffer before it was asked for could not be handed over before.
        self.free = max(self.passed, begin)
        return self.free

    def _positioned(self, request: Request, begin: float) -> float:
        """When the first byte of a request is under the head, or was, where the drive has read on."""
        if self.reads_on and not request.writes and request.start == self.at:
            return max(self.passed, begin - self.geometry.read_ahead / self.geometry.bytes_per_s)
        return self._turned(request.start, begin + self._seek_s(request.start))

    def _seek_s(self, to: int) -> float:
        g = self.geometry
        distance = abs(to - self.at)
        if distance < g.track:
            return 0.0
        return g.track_seek_s + (g.full_seek_s - g.track_seek_s) * math.sqrt(distance / g.size)

    def _turned(self, to: int, now: float) -> float:
        """The next time at which a byte passes under the head; the platter turns for ever, whatever is asked of it."""
        turn, track = self.geometry.turn_s, self.geometry.track
        due = (to / track) % 1.0 * turn
        wait = (due - now) % turn
        # The byte that is just under the head is not missed by a rounding error.
        return now if turn - wait < 1e-7 else now + wait

    def choose(self, waiting: Sequence[Request]) -> int:
        """Which of the waiting requests is next: the first that came, or the one that is soonest under the head."""
        if self.geometry.queue == "fifo" or len(waiting) == 1:
            return 0
        begins = (self._positioned(each, max(self.free, each.came)) for each in waiting)
        return min(enumerate(begins), key=lambda pair: pair[1])[0]
