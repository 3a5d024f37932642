"""The shortest exact period of the end of a series, against its definition."""

import numpy as np
import pytest

from workbench.analysis.root_cause.clause_features import period_of


def by_definition(values):
    n = len(values)
    return next(
        (p for p in range(1, n // 2 + 1) if values[n - 2 * p : n - p].tobytes() == values[n - p :].tobytes()), None
    )


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float64])
def test_period_is_the_shortest_that_was_seen_twice(dtype):
    rng, found = np.random.default_rng(0), set()
    for n in range(120):
        way = rng.integers(0, 2, int(rng.integers(0, 5)))
        values = np.concatenate([way, np.tile(rng.integers(0, 2, max(n // 3, 1)), 4)])[: n + 1].astype(dtype)
        assert period_of(values) == by_definition(values)
        found.add(by_definition(values))
    assert None in found and len(found) > 10


def test_period_of_floats_is_bit_for_bit():
    assert period_of(np.array([1.0, np.nan, 2.0, np.nan, 2.0])) == 2
    assert period_of(np.array([1.0, 0.0, -0.0])) is None


def test_period_of_arrays_compares_them_whole():
    assert period_of(np.array([[0, 1], [0, 2], [0, 1], [0, 2]])) == 2
