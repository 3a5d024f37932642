"""Exact ends of lines that are computed from the counter, of terms by their ratio, and of factors begun to repeat."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.analysis.forecast.exact import exact
from workbench.analysis.forecast.laws.seasonal_steps import seasonal_steps


def end(values: np.ndarray, op: str, t: float) -> int:
    return int(np.argmax(values <= t if op == ">" else values >= t))


def answer(values, op, t):
    monitor = wb.TerminationMonitor([("x", "bound")])
    for v in values:
        monitor.observe({"x": v}, True, [(v, op, t)])
    return monitor.prediction()


@pytest.mark.parametrize("n", [120, 487, 3001])
@pytest.mark.parametrize("lr", [1.0, 0.0137])
def test_a_rate_that_falls_in_a_line_to_zero_is_zero_there(n, lr):
    values = lr * (n - np.arange(n + 1.0)) / (n - 7)
    seen = n // 3
    said = answer(values[:seen], ">", 0.0)
    assert said.remaining == n - (seen - 1) and said.interval[1] - said.interval[0] <= 1
    assert exact(values[:seen], ">=", 0.0, "line").k == n + 1 - (seen - 1)


def test_only_the_end_of_the_record_need_be_a_line():
    k = np.arange(401.0)
    values = np.where(k < 20, (k + 1) / 20, (400 - k) / 380)
    assert exact(values[:60], ">", 0.101, "line").k == end(values[20:], ">", 0.101) + 20 - 59


def test_what_bends_or_leads_away_is_no_line():
    k = np.arange(60.0)
    assert exact(0.5 * (1 + np.cos(math.pi * k / 4000)), ">", 0.01, "line") is None
    assert exact(1.0 - k / 300, "<", 2.0, "line") is None
    assert exact(np.ones(60), "<", 2.0, "line") is None
    assert exact((1.0 - k / 300 + 1e-6 * k * k).astype(np.float32), ">", 0.1, "line") is None


TERMS = {
    "factorial": (lambda k: Fraction(math.factorial(k)), "<", 1e100),
    "term of exp(3)": (lambda k: Fraction(3**k, math.factorial(k)), ">", 1e-40),
    "Catalan": (lambda k: Fraction(math.comb(2 * k, k), k + 1), "<", 1e60),
    "binomial": (lambda k: Fraction(math.comb(100, k)), ">", 0.5),
    "1/k(k+1)": (lambda k: Fraction(1, (k + 1) * (k + 2)), ">", 1e-4),
}


@pytest.mark.parametrize("name", TERMS)
def test_terms_end_to_the_term(name):
    term, op, t = TERMS[name]
    values = np.array([float(term(k)) for k in range(160)])
    n = end(values, op, t)
    seen = max(n // 3, 13)
    found = exact(values[:seen], op, t, "term-ratio")
    assert found is not None and found.k == n - (seen - 1)
    assert answer(values[:seen], op, t).remaining == n - (seen - 1)


@pytest.mark.parametrize("name", TERMS)
def test_terms_are_found_at_every_length_on_every_processor(name, monkeypatch):
    """Nothing is solved in floats, whose last bits are those of a processor and its BLAS."""

    def solved(*_, **__):
        raise AssertionError("solved in floats")

    for solver in ("lstsq", "solve", "inv", "pinv", "qr", "svd"):
        monkeypatch.setattr(np.linalg, solver, solved)
    term, op, t = TERMS[name]
    values = np.array([float(term(k)) for k in range(160)])
    n = end(values, op, t)
    found = {seen: exact(values[:seen], op, t, "term-ratio") for seen in range(13, n)}
    assert [seen for seen, law in found.items() if law is None or law.k != n - (seen - 1)] == []


def test_other_records_have_no_such_ratio():
    k = np.arange(40.0)
    rng = np.random.default_rng(3)
    others = (0.9**k, 1 / (k + 3), 2.0 + k, np.exp(-k * k / 300), 0.9**k + 0.1 * 0.5**k, np.exp(rng.normal(size=40)))
    for values in (*others, 0.9**k * (1 + 1e-12 * rng.normal(size=40))):
        assert exact(values, ">", 1e-9, "term-ratio") is None and exact(values, "<", 1e9, "term-ratio") is None


def test_factors_that_begin_to_repeat_are_a_guess_with_its_doubt():
    values = np.cumprod(np.r_[1.0, np.resize([1.5, 0.25, 0.25], 40)])
    found = seasonal_steps(values[:6].tolist(), ">", 1e-4)
    assert found is not None and found.why == "seasonal-begun" and found.k == end(values, ">", 1e-4) - 5
    said = answer(values[:6], ">", 1e-4)
    assert said.confidence < 0.9 and said.interval[0] == 1 and said.interval[1] > said.remaining
    assert seasonal_steps(values[:5].tolist(), ">", 1e-4) is None
    assert seasonal_steps([1.0, 1.5, 0.375, 0.1, 0.15, 0.05], ">", 1e-4) is None
