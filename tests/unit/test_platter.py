"""The model of a rotating disk: known answers, and what must hold whatever is asked of it."""

from __future__ import annotations

import itertools
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zassay.machine.platter import Geometry, Platter, Request

MIB = 1 << 20
# 120 turns a second, and a MiB a track.
G = Geometry(
    size=512 * MIB, bytes_per_s=120 * MIB, rpm=7200, track_seek_s=0.001, full_seek_s=0.015, read_ahead=2 * MIB, queue="fifo"
)
TURN = 1 / 120


def read(start: int, length: int, came: float = 0.0) -> Request:
    return Request(start, length, False, came)


def write(start: int, length: int, came: float = 0.0) -> Request:
    return Request(start, length, True, came)


def test_a_turn_passes_a_track() -> None:
    assert G.turn_s == pytest.approx(TURN) and G.track == pytest.approx(MIB)
    assert Platter(G).serve(read(0, MIB)) == pytest.approx(TURN)


def test_what_follows_without_a_pause_costs_its_bytes_alone() -> None:
    disk = Platter(G)
    times = [disk.serve(write(index * 128 * 1024, 128 * 1024)) for index in range(80)]
    assert times[-1] == pytest.approx(10 * MIB / G.bytes_per_s)
    assert all(b > a for a, b in itertools.pairwise(times))


def test_a_write_that_comes_too_late_waits_for_the_next_turn() -> None:
    disk = Platter(G)
    first = disk.serve(write(0, MIB // 4))
    second = disk.serve(write(MIB // 4, MIB // 4, came=first + 0.001))
    assert second == pytest.approx(first + TURN + TURN / 4)


def test_a_read_that_comes_late_finds_its_bytes_in_the_buffer() -> None:
    disk = Platter(G)
    first = disk.serve(read(0, MIB // 4))
    late = first + 1.0
    assert disk.serve(read(MIB // 4, MIB // 4, came=late)) == pytest.approx(late)
    # The buffer held 2 MiB: what is left of them is there at once too, and then the medium has to be waited for.
    assert disk.serve(read(MIB // 2, 7 * MIB // 4, came=late)) == pytest.approx(late)
    assert disk.serve(read(9 * MIB // 4, MIB, came=late)) == pytest.approx(late + TURN)


def test_a_write_empties_the_buffer() -> None:
    disk = Platter(G)
    first = disk.serve(read(0, MIB // 4))
    second = disk.serve(write(MIB // 4, MIB // 4, came=first))
    third = disk.serve(read(MIB // 2, MIB // 4, came=second + 0.001))
    assert third == pytest.approx(second + TURN + TURN / 4)


def test_a_seek_takes_longer_the_further_it_goes() -> None:
    def seek(distance: int) -> float:
        return Platter(G)._seek_s(distance)

    assert seek(0) == seek(MIB - 1) == 0
    assert seek(MIB) == pytest.approx(0.001 + 0.014 * (1 / 512) ** 0.5)
    assert seek(512 * MIB) == pytest.approx(0.015)
    assert seek(2 * MIB) < seek(100 * MIB) < seek(511 * MIB)


def test_random_reads_take_a_seek_and_half_a_turn() -> None:
    """8.5 ms and 4.2 ms: 7200/min disks do some 75 to 80 random reads a second."""
    chance, disk, times = random.Random(1), Platter(G), [0.0]
    for _ in range(4000):
        times.append(disk.serve(read(chance.randrange(G.size // 4096) * 4096, 4096, came=times[-1])))
    rate = 4000 / times[-1]
    assert 74 <= rate <= 82
    waits = [b - a for a, b in itertools.pairwise(times)]
    assert statistics.mean(waits) == pytest.approx(0.0085 + TURN / 2, rel=0.05)


def test_the_nearest_first_is_faster_than_the_first_come() -> None:
    def rate(queue: str) -> float:
        chance, disk = random.Random(2), Platter(Geometry(**{**vars(G), "queue": queue}))
        waiting = [read(chance.randrange(G.size // 4096) * 4096, 4096) for _ in range(16)]
        for _ in range(1000):
            done = disk.serve(waiting.pop(disk.choose(waiting)))
            waiting.append(read(chance.randrange(G.size // 4096) * 4096, 4096, came=done))
        return 1000 / disk.free

    assert rate("nearest") > 1.5 * rate("fifo")


def test_the_first_come_is_first_in_a_fifo() -> None:
    assert Platter(G).choose([read(400 * MIB, 4096), read(0, 4096)]) == 0
    near = Platter(Geometry(**{**vars(G), "queue": "nearest"}))
    assert near.choose([read(400 * MIB, 4096), read(0, 4096)]) == 1


requests = st.lists(
    st.tuples(st.integers(0, G.size // 512 - 256), st.integers(1, 256), st.booleans(), st.floats(0, 0.1)), min_size=1, max_size=30
)


@given(requests)
def test_no_time_goes_backwards_and_no_byte_is_faster_than_the_medium(asked: list[tuple[int, int, bool, float]]) -> None:
    disk, came, before = Platter(G), 0.0, 0.0
    for start, length, writes, pause in asked:
        came += pause
        done = disk.serve(Request(start * 512, length * 512, writes, came))
        assert done >= came and done >= before
        longest = G.full_seek_s + TURN + length * 512 / G.bytes_per_s
        assert done <= max(came, before) + longest + 1e-6
        if writes:
            assert done >= max(came, before) + length * 512 / G.bytes_per_s - 1e-9
        before = done
