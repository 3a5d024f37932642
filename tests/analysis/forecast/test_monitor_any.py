"""A monitor and a tolerance on anything a loop can show: no question raises, and what two exact counters meet in."""

from __future__ import annotations

import math
import operator
import warnings
from fractions import Fraction

import numpy as np
import pytest

from workbench.analysis import TerminationMonitor, iterations_to_tolerance
from workbench.analysis.forecast.endless.noise_floor import far_from_noise
from workbench.analysis.forecast.never_crosses import _bounded
from workbench.analysis.forecast.noisy_limit import noisy_limit
from workbench.kernels import laws

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool", "float16", "float32", "f8")
EDGES = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e-310, 1e308, -1e308, 2.0**53, 2.0**63, 2.0**64, 1e-150, 3)


def values(rng: np.random.Generator, n: int) -> list:
    """Numbers of some course, dtype and scale; Python integers of any size too."""
    k, q = np.arange(n, dtype=float), float(rng.choice([0.1, 0.9, 1.01, 2.0, -0.5, -1.0, -1.5]))
    courses = [
        k,
        -k,
        q**k,
        1 / (k + 1),
        np.cos(k * q),
        np.resize(rng.integers(0, 5, int(rng.integers(1, 9))), n),
        rng.choice(EDGES, n),
        np.where(k == n // 2, rng.choice(EDGES), q**k),
        rng.normal(size=n),
        np.exp(k * k),
    ]
    a = np.asarray(courses[int(rng.integers(len(courses)))], dtype=float) * 10.0 ** float(rng.integers(-300, 300))
    kind = rng.choice([*DTYPES, "float", "int"])
    if kind == "float":
        return a.tolist()
    if kind == "int":
        return [int(v) * 10 ** int(rng.integers(1, 3) * 150) if math.isfinite(v) else 0 for v in a.tolist()]
    if np.dtype(kind).kind in "iu":
        a = np.clip(np.nan_to_num(a, posinf=9e18, neginf=-9e18), -9e18, 9e18).astype(np.int64)
    return list(a.astype(kind))


@pytest.mark.parametrize("seed", range(40))
def test_no_observation_makes_a_question_raise(seed):
    rng = np.random.default_rng(seed)
    for _ in range(12):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            n, many = int(rng.choice([3, 5, 8, 17, 40])), int(rng.integers(1, 4))
            sides = [(values(rng, n), str(rng.choice(list(OPS))), values(rng, n)) for _ in range(many)]
            fixed = [rng.random() < 0.6 for _ in sides]
        m = TerminationMonitor()
        for i in range(n):
            clauses = [(a[i], op, b[0] if still else b[i]) for (a, op, b), still in zip(sides, fixed, strict=True)]
            m.observe({"x": clauses[0][0]}, True, clauses, "single" if many == 1 else ("and", "or")[seed % 2])
            if i in (4, n - 1):
                answer = m.prediction()
                assert answer.outcome in ("terminates", "never", None) and str(answer)
                assert answer.status.name != "PROVED" and "_" not in answer.reason.slug


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_line_without_noise_is_not_noise(sign):
    x = sign * (3.0 + np.arange(60.0) / 64)
    assert far_from_noise(x, "<" if sign > 0 else ">", sign * 1e6) is None
    m = TerminationMonitor()
    for k, v in enumerate(x.tolist()):  # against a threshold that moves: then the gap is not one of counters
        m.observe({"x": v}, True, [(v, "<" if sign > 0 else ">", sign * (1e6 + (k % 7 == 0)))])
        assert m.prediction().status.name in ("PREDICTED", "UNKNOWN")


def test_a_map_is_undefined_only_where_it_is():
    record = [3.0]
    while len(record) < 12:
        record.append((2.0 + 0.5 * record[-1] ** 2) / record[-1])
    law = laws.fit(np.array(record), laws.MAP_LAWS, "square-root")
    np.testing.assert_allclose(law.after(np.array([1.0, 0.0, 2.0])), [2.5, math.nan, 2.0], rtol=1e-12)
    x = np.resize([3.0, 0.0, 1.0, 2.0, 5.0], 40)
    assert _bounded(x, "<", 1000.0, "x", "x < 1000").slug == "chaotic"


@pytest.mark.parametrize("op", ["<", "<=", "!="])
@pytest.mark.parametrize(
    ("step", "start", "moves"), [(2.0, 600, 0.5), (0.75, 150, 0.25), (3.0, 77.5, 0.5), (4, 90, 1.5)]
)
def test_two_exact_counters_meet_exactly(op, step, start, moves):
    sides = [(k * Fraction(step), Fraction(start) + k * Fraction(moves)) for k in range(5000)]
    truth = next((k for k, (a, b) in enumerate(sides) if not OPS[op](a, b)), None)
    seen = 20
    m = TerminationMonitor()
    for k in range(seen):
        m.observe({"x": step * k}, True, [(step * k, op, start + moves * k)])
    answer = m.prediction()
    if truth is None:
        assert op == "!=" and answer.outcome != "terminates"
    else:
        assert answer.remaining == truth - (seen - 1) and answer.interval == (answer.remaining, answer.remaining)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_damped_oscillation_above_a_floor_never_gets_below_it(seed, dtype):
    rng = np.random.default_rng(seed)
    k, scale, floor = np.arange(2000.0), 10.0 ** int(rng.integers(-6, 7)), 10.0 ** float(rng.uniform(-4, -1))
    wave = float(rng.uniform(0.6, 0.998)) ** k * np.abs(np.cos(float(rng.uniform(0.2, 2.8)) * k + seed))
    x = (scale * (wave + floor)).astype(dtype)
    below, above = dtype(0.1 * floor * scale), dtype(scale * (floor + 1e-3))
    for t in (below, above):
        m = TerminationMonitor()
        ends = int(np.argmax(x <= t)) if np.any(x <= t) else None
        upto = 64 if ends is None else min(ends, 50)  # at its floor for as long as it fell
        for v in x[:upto]:
            m.observe({"x": v}, True, [(v, ">", t)])
        answer = m.prediction()
        if ends is None:
            assert answer.outcome == "never", str(answer)
        else:
            assert answer.outcome != "never", str(answer)


@pytest.mark.parametrize("seed", range(10))
def test_a_noisy_decay_to_an_unknown_limit_meets_its_tolerance(seed):
    rng = np.random.default_rng(seed)
    k, rate = np.arange(6000.0), float(rng.uniform(0.85, 0.98))
    limit, scale = float(rng.uniform(-3, 3)), 10.0 ** int(rng.integers(-8, 9))
    error, tol = rate**k * (1 + 0.1 * rng.normal(size=6000)), 10.0 ** float(rng.uniform(-7, -3))
    truth = int(np.flatnonzero(np.abs(error) > tol)[-1]) + 1
    seen = scale * (limit + error[: truth // 2])
    found = noisy_limit(seen)
    assert found.low <= found.limit <= found.high
    assert abs(found.limit / scale - limit) < 0.5 * error[truth // 2 - 1]
    answer = iterations_to_tolerance(seen, tol * scale)
    assert abs(answer.iteration / truth - 1) <= 0.1 and answer.low < answer.iteration < answer.high
    assert noisy_limit(np.arange(40.0)) is None and noisy_limit(seen[:15]) is None


def _drifting(seed: int, sign: float):
    rng = np.random.default_rng(seed)
    step = 10.0 ** float(rng.uniform(-3, 3))
    m = TerminationMonitor()
    for v in (sign * step * (np.arange(60.0) + 0.1 * rng.normal(size=60))).tolist():
        m.observe({"x": v}, True, [(v, ">", -80.0 * step)])
    return m.prediction()


def test_a_noisy_drift_away_never_comes_back_and_one_towards_does():
    away = [_drifting(seed, 1.0).outcome for seed in range(20)]
    assert away.count("never") >= 18 and "terminates" not in away
    for seed in range(10):
        assert abs(_drifting(seed, -1.0).remaining - 21) <= 2
