"""fio's latency histogram: 64 bins per octave, each named in JSON+ by the value in its middle (error at most 1/128)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

LINEAR = 128  # below this, every value has a bin of its own
PER_OCTAVE = 64


def index(value: int) -> int:
    """The bin that a latency (a whole number of the histogram's unit) falls into."""
    if value < LINEAR:
        return value
    shift = value.bit_length() - 7
    return (shift + 1) * PER_OCTAVE + (value >> shift) % PER_OCTAVE


def middle(at: int) -> int:
    """The value that stands for a bin."""
    if at < LINEAR:
        return at
    shift = at // PER_OCTAVE - 1
    return ((PER_OCTAVE + at % PER_OCTAVE) << shift) + (1 << shift >> 1)


def merged(histograms: Iterable[Mapping[float, int]]) -> dict[float, int]:
    """Counts of several jobs added up: the only way to a percentile of them all."""
    total: Counter[float] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return dict(sorted(total.items()))


def percentile(counts: Mapping[float, int], percent: float) -> float:
    """The first bin at which the cumulative count reaches its share of the whole."""
    wanted = percent / 100 * sum(counts.values())
    reached = 0
    for value in sorted(counts):
        reached += counts[value]
        # The slack keeps 0.75 * 200 from being 150.00000000000003.
        if reached >= wanted - 1e-9:
            return value
    raise ValueError("a percentile of an empty histogram")


def mean(counts: Mapping[int, int]) -> float:
    return sum(value * count for value, count in counts.items()) / sum(counts.values())
