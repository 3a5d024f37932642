"""Control loops, queues, markets and step sizes: PID, relays, congestion windows, cobwebs, adaptive integrators."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import integrate

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, case, family, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def pi_controller(rng: Rng) -> Case:
    """A first-order plant with a PI controller; the poles of the closed loop decide."""
    while True:
        a, kp, ki = rng.uniform(0.7, 0.95), rng.uniform(0.1, 1.2), rng.uniform(0.02, 0.3)
        b = 1 - a
        # state (x, integral): u = kp (1 - x) + ki s, s' = s + 1 - x, x' = a x + b u
        m = np.array([[a - b * kp, b * ki], [-1.0, 1.0]])
        poles = np.sort(np.abs(np.linalg.eigvals(m)))
        turning = abs(np.linalg.eigvals(m)[0].imag) > 0
        if 0.5 < poles[1] < 0.98 and (turning or poles[0] < 0.8 * poles[1]):
            break
    s, out = np.zeros(2), []
    for _ in range(int(rng.uniform(10, 28) / -math.log(poles[1])) + 20):
        out.append(s[0])
        s = m @ s + np.array([b * kp, 1.0])
    return placed(rng, np.array(out), C, quarter=False, rate=float(poles[1]), limit=1.0)


@family(HISTORY)
def proportional_controller(rng: Rng) -> Case:
    """Stays below its target: b k / (1 - a + b k)."""
    a, k = rng.uniform(0.6, 0.95), rng.uniform(0.5, 3)
    b = 1 - a
    rate = a - b * k
    n = max(16, int(rng.uniform(8, 26) / -math.log(abs(rate) + 1e-3)))
    out = [0.0]
    while len(out) < n:
        out.append(rate * out[-1] + b * k)
    facts = {"rate": abs(rate)} if abs(rate) > 0.05 else {}
    return case(out, C, quarter=False, limit=b * k / (1 - rate), **facts)


@family(HISTORY)
def delayed_feedback(rng: Rng) -> Case:
    """x - g x of d steps ago: stable below g = 2 sin(pi / (4 d + 2)), unstable above."""
    d, stable = int(rng.integers(1, 7)), rng.random() < 0.5
    g = 2 * math.sin(math.pi / (4 * d + 2)) * (rng.uniform(0.6, 0.85) if stable else rng.uniform(1.15, 1.4))
    roots = np.roots(np.r_[1.0, -1.0, np.zeros(d - 1), g])
    rate = float(np.max(np.abs(roots)))
    n = min(int(rng.uniform(10, 26) / abs(math.log(rate))) + 60, 4000)
    x = [1.0] * (d + 1)
    while len(x) < n:
        x.append(x[-1] - g * x[-1 - d])
    return placed(rng, np.array(x), C if stable else D, quarter=False, rate=rate, **({"limit": 0.0} if stable else {}))


@family(HISTORY)
def integrator_windup(rng: Rng) -> Case:
    """An error that saturation leaves is summed up for ever."""
    n, rate = size(rng, 60, 4000), rng.uniform(0.5, 0.95)
    return placed(rng, np.cumsum(0.3 + 0.7 * rate ** np.arange(n)), D, quarter=False)


@family(HISTORY)
def thermostat(rng: Rng) -> Case:
    """On below one temperature, off above another."""
    k, gap = rng.uniform(0.02, 0.08), rng.uniform(1, 3)
    x, on, out = 20 + 0.5 * gap, True, []
    for _ in range(size(rng, 600, 4000)):
        out.append(x)
        on = True if x < 20 - gap else False if x > 20 + gap else on
        x += k * ((32 if on else 8) - x)
    return case(out, O, hard=True, quarter=False)


@family(HISTORY)
def integer_tank(rng: Rng) -> Case:
    """Filled by a units until full, emptied by b units until empty: an exact cycle once it has begun."""
    a, b, top = int(rng.integers(2, 9)), int(rng.integers(2, 9)), int(rng.integers(30, 120))
    x, fill, out, seen = 0, True, [], {}
    while (x, fill) not in seen:
        seen[x, fill] = len(out)
        out.append(x)
        fill = False if x >= top else True if x <= 0 else fill
        x += a if fill else -b
    period, start = len(out) - seen[x, fill], seen[x, fill]
    v = np.r_[out[:start], np.resize(out[start:], int(period * rng.uniform(8, 20)))]
    return case(v.astype(np.int64), O, quarter=False, period=float(period))


@family(HISTORY)
def congestion_window(rng: Rng) -> Case:
    """Additive increase, halved at the capacity: a saw of exact period."""
    w = 2 * int(rng.integers(5, 60))
    v = np.resize(np.arange(w // 2, w + 1), int((w // 2 + 1) * rng.uniform(6, 30)))
    return case(v, O, quarter=len(v) > 24 * (w // 2 + 1), period=w // 2 + 1.0)


@family(HISTORY)
def stable_queue(rng: Rng) -> Case:
    """Lindley's waiting times at 40 to 60 % load, from the stationary state."""
    load, w, out = rng.uniform(0.4, 0.6), 0.0, []
    n = size(rng, 3000, 9000)
    for a, s in zip(rng.exponential(1.0, n), rng.exponential(load, n), strict=True):
        w = max(0.0, w + s - a)
        out.append(w)
    return case(out[500:], S, hard=True, quarter=False)


@family(HISTORY)
def overloaded_queue(rng: Rng) -> Case:
    """More work than time: grows for ever."""
    load, w, out = rng.uniform(1.3, 2), 0.0, []
    n = size(rng, 1000, 6000)
    for a, s in zip(rng.exponential(1.0, n), rng.exponential(load, n), strict=True):
        w = max(0.0, w + s - a)
        out.append(w)
    return case(out, D, hard=True, quarter=False)


@family(HISTORY)
def cobweb(rng: Rng) -> Case:
    """Supply that follows the last price: the ratio of the slopes decides."""
    r = float(rng.choice([rng.uniform(0.4, 0.95), rng.uniform(1.04, 1.5)]))
    n = min(int(rng.uniform(8, 26) / abs(math.log(r))) + 16, 1500)
    v = 3 + rng.uniform(0.2, 1) * (-r) ** np.arange(n)
    return case(v * abs(scale(rng)), C, quarter=False, rate=r) if r < 1 else case(v, D, quarter=False, rate=r)


@family(HISTORY)
def multiplier_accelerator(rng: Rng) -> Case:
    """Samuelson's model of income: damped or growing waves, modulus sqrt(c v)."""
    while True:
        c, v = rng.uniform(0.5, 0.9), rng.uniform(0.6, 1.7)
        modulus = math.sqrt(c * v)
        if (c * (1 + v)) ** 2 < 3.6 * c * v and not 0.98 < modulus < 1.02:
            break
    y = [1 / (1 - c) + 1, 1 / (1 - c) + 1.5]
    while len(y) < min(int(rng.uniform(10, 24) / abs(math.log(modulus))) + 40, 1500):
        y.append(1 + c * (1 + v) * y[-1] - c * v * y[-2])
    if modulus < 1:
        return case(y, C, quarter=False, rate=modulus, limit=1 / (1 - c))
    return case(y, D, quarter=False, rate=modulus)


@family(HISTORY)
def adaptive_filter_weight(rng: Rng) -> Case:
    """LMS without disturbance: the weight reaches the true one."""
    mu, w, out, true = rng.uniform(0.02, 0.2), 0.0, [], rng.normal() + 3
    for u in rng.choice([-1.0, 1.0], size=int(rng.uniform(8, 25) / mu) + 20):
        out.append(w)
        w += mu * u * (true * u - w * u)
    return case(out, C, rate=1 - mu, limit=true, quarter=False)


def _steps(
    rhs: Callable[[float, np.ndarray], np.ndarray], end: float, y: list[float], method: str, **tight: float
) -> np.ndarray:
    return integrate.solve_ivp(rhs, (0.0, end), y, method=method, **tight).t


@family(HISTORY)
def times_before_a_pole(rng: Rng) -> Case:
    """y' = y^2 with adaptive steps: the time stops short of a pole near 1 / y0 (the computed one)."""
    y0 = rng.uniform(0.3, 3)
    t = _steps(lambda t, y: y * y, 1 / y0 * (1 - 1e-9), [y0], "RK45", rtol=10 ** rng.uniform(-8, -5))
    return case(t[:-1], C, hard=True, quarter=False)


@family(HISTORY)
def steps_before_a_pole(rng: Rng) -> Case:
    """Its step sizes shrink in proportion to the time that is left."""
    y0 = rng.uniform(0.3, 3)
    t = _steps(lambda t, y: y * y, 1 / y0 * (1 - 1e-9), [y0], "RK45", rtol=10 ** rng.uniform(-8, -5))
    return case(np.diff(t)[3:-1], C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def integrator_clock(rng: Rng) -> Case:
    """Times of an adaptive integrator on a wave: steps of bounded size, for ever."""
    w = rng.uniform(1, 3)
    t = _steps(lambda t, y: np.array([w * y[1], -w * y[0]]), rng.uniform(100, 250) / w, [1, 0], "RK45", rtol=1e-6)
    return case(t, D, quarter=False)


@family(HISTORY)
def implicit_steps_at_rest(rng: Rng) -> Case:
    """Step sizes of an implicit method while a stiff system comes to rest: grow without a bound."""
    k = rng.uniform(5, 50)
    tight = {"rtol": 1e-6, "atol": 1e-9}
    t = _steps(lambda t, y: np.array([-k * y[0], k * y[0] - y[1]]), 1e9, [1, 0], "BDF", **tight)
    return case(np.diff(t)[:-1], D, hard=True, quarter=False)
