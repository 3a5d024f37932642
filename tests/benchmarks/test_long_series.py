"""A long series is drawn within its budget of points and time; ``long_series`` prints the figures of the full size."""

from __future__ import annotations

import pytest

from tests.benchmarks.long_series import measure


@pytest.mark.slow
def test_stretches_of_a_million_values():
    figures = list(measure(1_000_000))
    assert len(figures) >= 8
    for figure in figures:
        assert figure.extremes and 25 <= figure.points <= 4_000, figure
    again = sorted(f.ms for f in figures[1:])
    assert again[len(again) // 2] < 100.0, [str(f) for f in figures]
