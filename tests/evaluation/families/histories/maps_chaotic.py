"""Published chaotic maps and flows, with parameters whose largest Lyapunov exponent is well above 0."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import integrate

from tests.evaluation.families.base import HISTORY, Rng, X, case, family, orbit, placed, size
from tests.evaluation.scoring.cases import Case

#: values from which the first quarter shows chaos, too
LEAST_FOR_QUARTER = 600

Map = Callable[[np.ndarray], np.ndarray]
Rhs = Callable[[float, np.ndarray], tuple[float, ...]]


def _long(drawn: Case) -> Case:
    """The same case, asked for its first quarter only if the record is long."""
    drawn.quarter = len(drawn.values) >= LEAST_FOR_QUARTER
    return drawn


def _exponent(f: Callable[[float], float], x: float, n: int = 2000, d: float = 1e-9) -> float:
    """Largest Lyapunov exponent of a map of the line, by a neighbour that is brought back to the distance d."""
    total = 0.0
    for _ in range(n):
        y, x = f(x + d), f(x)
        total += math.log(max(abs(y - x), 1e-300) / d)
    return total / n


def _robust(rng: Rng, make: Callable[[Rng], tuple[Callable[[float], float], float]], low: int = 200) -> np.ndarray:
    """An orbit of a drawn map, after its transient; maps in a periodic window are drawn again."""
    while True:
        f, x = make(rng)
        x = float(orbit(f, x, 200)[-1])
        if _exponent(f, x) > 0.25:
            return orbit(f, x, size(rng, low, 6000))


def _component(rng: Rng, step: Map, start: np.ndarray, skip: int = 100, low: int = 200, high: int = 5000) -> np.ndarray:
    """All components of an orbit, after its transient."""
    return orbit(step, start, skip + size(rng, low, high))[skip:]


@family(HISTORY)
def logistic_chaos(rng: Rng) -> Case:
    def make(rng: Rng) -> tuple[Callable[[float], float], float]:
        r = rng.uniform(3.65, 4)
        return lambda x: r * x * (1 - x), rng.uniform(0.1, 0.9)

    return _long(placed(rng, _robust(rng, make), X))


@family(HISTORY)
def logistic_chaos_short(rng: Rng) -> Case:
    """40 to 80 values of the full map."""
    v = orbit(lambda x: 4 * x * (1 - x), rng.uniform(0.1, 0.9), size(rng, 48, 80))
    return case(v, X, hard=True, quarter=False)


@family(HISTORY)
def logistic_chaos_narrow(rng: Rng) -> Case:
    """Recorded in float32 or float16."""

    def make(rng: Rng) -> tuple[Callable[[float], float], float]:
        r = rng.uniform(3.75, 4)
        return lambda x: r * x * (1 - x), rng.uniform(0.1, 0.9)

    return _long(case(_robust(rng, make).astype(rng.choice([np.float32, np.float16])), X, hard=True))


@family(HISTORY)
def skew_tent_chaos(rng: Rng) -> Case:
    c = rng.uniform(0.2, 0.8)
    v = orbit(lambda x: x / c if x < c else (1 - x) / (1 - c), rng.uniform(0.05, 0.95), size(rng, 200, 5000))
    return _long(placed(rng, v, X, hard=True))


@family(HISTORY)
def beta_shift_chaos(rng: Rng) -> Case:
    """x <- b x mod 1: uniform jumps."""
    b = rng.uniform(1.6, 5)
    return _long(placed(rng, orbit(lambda x: b * x % 1.0, rng.uniform(0.1, 0.9), size(rng, 200, 5000)), X, hard=True))


@family(HISTORY)
def chebyshev_chaos(rng: Rng) -> Case:
    """Chebyshev polynomial of degree 2 to 4: exponent log(degree)."""
    m = int(rng.integers(2, 5))
    v = orbit(lambda x: math.cos(m * math.acos(min(1.0, max(-1.0, x)))), rng.uniform(-0.9, 0.9), size(rng, 200, 5000))
    return _long(placed(rng, v, X))


@family(HISTORY)
def mouse_map_chaos(rng: Rng) -> Case:
    def make(rng: Rng) -> tuple[Callable[[float], float], float]:
        b = rng.uniform(-0.65, -0.5)
        return lambda x: math.exp(-6.2 * x * x) + b, 0.1

    return _long(placed(rng, _robust(rng, make), X))


@family(HISTORY)
def gauss_fraction_chaos(rng: Rng) -> Case:
    """1/x mod 1: what is left over in a continued fraction."""
    v = orbit(lambda x: 1 / x % 1.0 if x > 1e-12 else 0.123, rng.uniform(0.1, 0.9), size(rng, 200, 5000))
    return _long(case(v, X, hard=True))


@family(HISTORY)
def ricker_chaos(rng: Rng) -> Case:
    """A population that overshoots."""

    def make(rng: Rng) -> tuple[Callable[[float], float], float]:
        r = rng.uniform(2.8, 3.6)
        return lambda x: x * math.exp(r * (1 - x)), 0.5

    return _long(placed(rng, _robust(rng, make), X))


@family(HISTORY)
def henon_chaos(rng: Rng) -> Case:
    start = rng.uniform(-0.1, 0.1, 2)
    v = _component(rng, lambda s: np.array([1 - 1.4 * s[0] ** 2 + s[1], 0.3 * s[0]]), start)
    return _long(placed(rng, v[:, int(rng.integers(2))], X))


@family(HISTORY)
def lozi_chaos(rng: Rng) -> Case:
    """Misiurewicz's region: chaotic for every parameter in it."""
    a, b = rng.uniform(1.6, 1.75), rng.uniform(0.3, 0.45)
    v = _component(rng, lambda s: np.array([1 - a * abs(s[0]) + s[1], b * s[0]]), rng.uniform(-0.1, 0.1, 2))
    return _long(placed(rng, v[:, 0], X))


@family(HISTORY)
def ikeda_chaos(rng: Rng) -> Case:
    def step(s: np.ndarray) -> np.ndarray:
        t = 0.4 - 6 / (1 + s[0] ** 2 + s[1] ** 2)
        c, d = math.cos(t), math.sin(t)
        return np.array([1 + 0.9 * (s[0] * c - s[1] * d), 0.9 * (s[0] * d + s[1] * c)])

    return _long(placed(rng, _component(rng, step, rng.uniform(-0.2, 0.2, 2))[:, 0], X, hard=True))


@family(HISTORY)
def standard_map_chaos(rng: Rng) -> Case:
    """Chirikov's map with a large kick, both variables on the torus: conservative, hardly an island."""
    k = rng.uniform(6.7, 11)

    def step(s: np.ndarray) -> np.ndarray:
        p = (s[0] + k * math.sin(s[1])) % (2 * math.pi)
        return np.array([p, (s[1] + p) % (2 * math.pi)])

    v = _component(rng, step, rng.uniform(0.5, 5.5, 2), low=600)
    return _long(case(v if rng.random() < 0.5 else v[:, 0], X, hard=True))


@family(HISTORY)
def cat_map_vector(rng: Rng) -> Case:
    """Arnold's cat map: hyperbolic everywhere, exponent log((3 + sqrt 5) / 2)."""
    a = np.array([[2.0, 1.0], [1.0, 1.0]])
    return _long(case(_component(rng, lambda s: (a @ s) % 1.0, rng.uniform(0, 1, 2), low=400), X, hard=True))


@family(HISTORY)
def coupled_logistic_vector(rng: Rng) -> Case:
    e = rng.uniform(0.02, 0.08)

    def step(s: np.ndarray) -> np.ndarray:
        y = 3.95 * s * (1 - s)
        return (1 - e) * y + e * y[::-1]

    return _long(case(_component(rng, step, rng.uniform(0.1, 0.9, 2)), X))


def _flow(rhs: Rhs, start: np.ndarray, every: float, count: int, skip: float) -> np.ndarray:
    """Samples of a flow, after its transient; LSODA with tight tolerances, far below what chaos multiplies."""
    times = np.r_[0.0, skip + every * np.arange(count)]
    return integrate.odeint(rhs, start, times, rtol=1e-9, atol=1e-9, tfirst=True, mxstep=50_000)[1:]


def _lorenz(t: float, s: np.ndarray) -> tuple[float, ...]:
    x, y, z = s.tolist()
    return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z


def _rossler(t: float, s: np.ndarray) -> tuple[float, ...]:
    x, y, z = s.tolist()
    return -y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)


def _ueda(t: float, s: np.ndarray) -> tuple[float, ...]:
    """x'' + 0.05 x' + x^3 = 7.5 cos t."""
    x, v = s.tolist()
    return v, -0.05 * v - x * x * x + 7.5 * math.cos(t)


@family(HISTORY)
def lorenz_sampled(rng: Rng) -> Case:
    """One variable, 5 to 12 samples a turn, 40 turns and more."""
    every = rng.uniform(0.06, 0.12)
    v = _flow(_lorenz, np.array([1, 1, 20.0]) + rng.normal(size=3), every, size(rng, 400, 1000), 10)
    return placed(rng, v[:, int(rng.integers(3))], X, hard=True, quarter=False)


@family(HISTORY)
def lorenz_vector(rng: Rng) -> Case:
    v = _flow(_lorenz, np.array([1, 1, 20.0]) + rng.normal(size=3), 0.1, size(rng, 400, 1000), 10)
    return case(v, X, hard=True, quarter=False)


@family(HISTORY)
def rossler_sampled(rng: Rng) -> Case:
    """Its turns are nearly even, their heights are not."""
    v = _flow(_rossler, np.array([1, 1, 0.1]) + 0.3 * rng.normal(size=3), 0.8, size(rng, 500, 1000), 80)
    return placed(rng, v[:, 0], X, hard=True, quarter=False)


@family(HISTORY)
def duffing_driven_sampled(rng: Rng) -> Case:
    """Ueda's oscillator, 10 samples a turn of the drive."""
    start = np.array([2.5, 0.1]) + rng.normal(size=2)
    v = _flow(_ueda, start, math.pi / 5, size(rng, 500, 1000), 20 * math.pi)
    return placed(rng, v[:, 0], X, hard=True, quarter=False)


@family(HISTORY)
def duffing_stroboscopic(rng: Rng) -> Case:
    """The same oscillator once a turn of the drive."""
    start = np.array([2.5, 0.1]) + rng.normal(size=2)
    v = _flow(_ueda, start, 2 * math.pi, size(rng, 200, 300), 20 * math.pi)
    return placed(rng, v[:, 0], X, hard=True, quarter=False)
