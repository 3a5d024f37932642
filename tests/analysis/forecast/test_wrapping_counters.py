"""A counter that wraps and is compared by ``!=``: the count is that of running on, without running."""

from __future__ import annotations

import random

import pytest

from workbench.analysis.forecast.laws.exact_continuation import WRAPS, integer_steps


@pytest.mark.parametrize("seed", range(6))
def test_the_count_is_that_of_running_on(seed):
    r = random.Random(seed)
    found = 0
    for _ in range(60):
        bits, signed = r.choice([8, 8, 16]), r.random() < 0.6
        modulus = 1 << bits
        low = -(modulus >> 1) if signed else 0
        step = r.choice([1, 2, 3, 5, 7, 12, 64, -1, -3, -8, -100])
        start, mark = (
            r.randrange(low, low + modulus),
            r.choice([0, 1, 7, 100, -5, 0.5, r.randrange(low, low + modulus)]),
        )
        value = lambda k: (start + k * step - low) % modulus + low  # noqa: E731, B023
        seen = [value(k) for k in range(5)]
        truth = next((k for k in range(1, modulus + 1) if value(4 + k) == mark), None)
        answer = integer_steps(seen, "!=", mark, bits, signed)
        if answer is None:
            assert truth is None or abs(step) * truth > WRAPS * modulus
            continue
        found += answer.k is not None
        assert answer.k == truth, (bits, signed, step, seen, mark, answer)
    assert found > 5
