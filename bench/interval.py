"""Spread and intervals of a few numbers: the coefficient of variation, and the mean with its 95 % interval by Student's t."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

# Two-sided 95 % quantiles of t by degrees of freedom; beyond 30 the normal's is within 4 %.
T95 = """12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 2.120 2.110 2.101 2.093
2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042""".split()


def variation(values: Sequence[float]) -> float:
    return statistics.stdev(values) / statistics.mean(values)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """(mean, lower, upper)."""
    mean, n = statistics.mean(values), len(values)
    t = float(T95[n - 2]) if n - 2 < len(T95) else 1.96
    half = t * statistics.stdev(values) / math.sqrt(n)
    return mean, mean - half, mean + half
