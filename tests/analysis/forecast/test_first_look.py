"""The first look at a record of floats leaves the law that continues it, and hardly any other."""

import itertools

import numpy as np
import pytest

from workbench.analysis.forecast.laws.first_look import LAWS, MOVES, SEASONAL_STEPS, exact_law, first_look
from workbench.analysis.forecast.laws.seasonal_steps import seasonal_steps
from workbench.analysis.forecast.plateaus import moves_too_often
from workbench.kernels.laws import may_follow


def _walk(first, step, n):
    return np.array(list(itertools.accumulate(range(n - 1), step, initial=first)))


def records(n, rng):
    """Records of each law, and of none."""
    k = np.arange(float(n))
    a, b, c = rng.uniform(0.2, 3.0, 3)
    amounts = rng.uniform(-1.0, 1.0, 4)
    yield "counter", a + 0.1 * k
    yield "added", _walk(a, lambda x, i: x + 0.1, n)
    yield "multiplier", _walk(a, lambda x, i: x * 0.93, n)
    yield "parabola", a * k * k - b * k + c
    yield "line", 1.0 - k / (2 * n)
    yield "logarithm", a * np.log(k + 2)
    yield "cooling", a / np.log(k + 1 + b)
    yield "terms", _walk(a, lambda x, i: x * b / (i + 1), n)
    yield "both", _walk(a, lambda x, i: x * (2 * i + 1) / (i + 2), n)
    yield "share", _walk(a, lambda x, i: 0.9 * x + amounts[i % 3], n)
    yield "affine", _walk(a, lambda x, i: 0.9 * x + b, n)
    yield "steps", _walk(a, lambda x, i: x + (0.25, 0.5, 1.5)[i % 3], n)
    yield "ratios", _walk(a, lambda x, i: x * (0.5, 0.9)[i % 2], n)
    yield "begun", _walk(a, lambda x, i: x * (0.5, 0.9, 0.7, 0.8)[i % 4], n)
    yield "noise", rng.normal(size=n)
    yield "stairs", np.repeat(k, 4)[:n]
    yield "broken", np.where(k == n - 3, np.nan, k)
    yield "blown up", np.where(k == n - 2, np.inf, a * k * k)
    yield "zeros", np.where(k % 2, 0.0, k)


#: Names of records, and the slug of the law that continues each of them.
CONTINUED = {
    "added": "counter",
    "multiplier": "geometric",
    "parabola": "parabola",
    "line": "line",
    "logarithm": "logarithm",
    "cooling": "logarithm",
    "terms": "term-ratio",
    "both": "term-ratio",
}
#: Names of records that no law of floats continues.
OTHERS = {"share", "affine", "begun", "noise", "broken", "blown up", "zeros"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_law_is_found_and_most_looks_leave_none(dtype):
    rng = np.random.default_rng(1)
    answered, asked, left = set(), 0, 0
    for n, op in itertools.product((3, 6, 8, 9, 12, 25, 60), ("<", ">", ">=", "!=")):
        for name, values in records(n, rng):
            x = values.astype(dtype)
            with np.errstate(all="ignore"):
                mark = float(rng.choice([x[-1] * 1.3 + 0.5, x[-1] * 0.5 - 0.3, 0.01, 0.0]))
                seen = first_look(x, op, mark)
                found = exact_law(x, op, mark, seen)
                asked, left = asked + len(LAWS), left + sum(bool(seen & bit) for bit, _ in LAWS)
                assert seasonal_steps(list(x), op, mark) is None or seen & SEASONAL_STEPS, (name, n, op, mark)
                assert bool(seen & MOVES) == moves_too_often(list(x))
            if found is not None:
                answered.add((name, found.why))
    assert left < 0.3 * asked
    assert not OTHERS & {name for name, _ in answered}
    if dtype is np.float64:
        assert CONTINUED.items() <= answered


def test_a_look_takes_three_floats_of_float64():
    """Anything else is an error."""
    with pytest.raises(ValueError, match="3 values"):
        may_follow(np.zeros(2), 2e-16, 1e-308, "<", 1.0)
    with pytest.raises(TypeError, match="float64"):
        may_follow(np.zeros(8, dtype=np.float32), 1e-7, 1e-38, "<", 1.0)
