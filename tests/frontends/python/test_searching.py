"""Functions whose result sizes depend on the data."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


def places(x):
    return np.nonzero(x)


def rows(x):
    return np.argwhere(x > 1)


def flat(x):
    return np.flatnonzero(x), np.count_nonzero(x)


def counted(x):
    return np.count_nonzero(x, axis=0), np.count_nonzero(x > 0, axis=-1, keepdims=True)


def sieve(x):
    prime = np.ones(len(x), dtype=bool)
    prime[:2] = False
    for i in range(2, len(x)):
        if prime[i]:
            prime[i * i :: i] = False
    return np.nonzero(prime)[0]


@pytest.mark.parametrize("function", [places, rows, flat, counted, sieve], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(7,), (1,), (3, 4), (2, 3, 2)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
def test_places_are_those_of_numpy(function, shape, dtype):
    x = np.random.default_rng(0).integers(-1, 3, shape).astype(dtype)
    for given in (x, np.zeros_like(x), np.ones_like(x)):
        found, expected = wb.graph(function)(given), function(given)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for one, other in pairs:
            assert (np.asarray(one).dtype, np.shape(one)) == (np.asarray(other).dtype, np.shape(other))
            np.testing.assert_array_equal(one, other)


def test_single_numbers_have_no_places():
    with pytest.raises(wb.WorkbenchError, match="np.nonzero takes an array"):
        wb.graph(places)(np.float64(1.0))
