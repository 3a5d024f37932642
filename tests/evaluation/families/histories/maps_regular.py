"""Regular motion: fixed points and cycles of maps, rotations, quasi-periodic vectors, populations, oscillators."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ellipk

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, case, family, log_uniform, orbit, placed, scale, size
from tests.evaluation.scoring.cases import Case

GOLDEN = (math.sqrt(5) - 1) / 2


@family(HISTORY)
def logistic_fixed_point(rng: Rng) -> Case:
    """Multiplier 2 - r at 1 - 1/r, drawn away from 0."""
    r = float(rng.choice([rng.uniform(1.15, 1.8), rng.uniform(2.2, 2.9)]))
    rate = abs(2 - r)
    v = orbit(lambda x: r * x * (1 - x), rng.uniform(0.2, 0.45), int(rng.uniform(8, 26) / -math.log(rate)) + 12)
    return placed(rng, v, C, quarter=False, rate=rate, limit=1 - 1 / r)


@family(HISTORY)
def logistic_cycle(rng: Rng) -> Case:
    """Inside the windows of period 2, 4 and 3."""
    low, high, p = ((3.08, 3.4, 2), (3.475, 3.53, 4), (3.8315, 3.84, 3))[int(rng.integers(3))]
    r, n = rng.uniform(low, high), size(rng, 600, 4000)
    v = orbit(lambda x: r * x * (1 - x), rng.uniform(0.2, 0.45), n)
    return placed(rng, v, O, quarter=False, period=float(p))


@family(HISTORY)
def logistic_at_doubling(rng: Rng) -> Case:
    """r = 3: alternates towards 2/3 like k^(-1/2)."""
    v = orbit(lambda x: 3 * x * (1 - x), rng.uniform(0.3, 0.6), size(rng, 500, 6000))
    return case(v, C, hard=True, limit=2 / 3, exponent=0.5)


@family(HISTORY)
def drift_through_doubling(rng: Rng) -> Case:
    """r rises through 3, where the fixed point gives way to a cycle of two, and stays there."""
    n = size(rng, 400, 5000)
    r = np.minimum(np.linspace(2.7, rng.uniform(3.25, 3.4), int(0.6 * n)), 4)
    r = np.r_[r, np.full(n - len(r), r[-1])]
    x, out = 0.6, []
    for a in r:
        out.append(x)
        x = a * x * (1 - x)
    return case(np.array(out) * scale(rng), O, hard=True, quarter=False, period=2.0)


@family(HISTORY)
def drift_back_to_rest(rng: Rng) -> Case:
    """r falls from chaos through the cascade to a stable fixed point, and stays there."""
    n, last = size(rng, 600, 5000), rng.uniform(2.3, 2.7)
    r = np.linspace(3.9, last, n // 2)
    x, out = 0.3, []
    for a in np.r_[r, np.full(n - len(r), last)]:
        out.append(x)
        x = a * x * (1 - x)
    return case(out, C, hard=True, quarter=False, limit=1 - 1 / last)


@family(HISTORY)
def rotation_of_the_circle(rng: Rng) -> Case:
    """x + a mod 1 with an irrational a: a sampled saw."""
    a = (GOLDEN + int(rng.integers(0, 3))) / int(rng.integers(7, 40))
    v = (rng.uniform() + a * np.arange(size(rng, 200, 5000))) % 1.0
    period = 1 / a
    return placed(rng, v, O, hard=True, quarter=len(v) > 40 * period, period=period)


@family(HISTORY)
def circle_map_locked(rng: Rng) -> Case:
    """In the tongue of rotation number 1/2."""
    k, n = rng.uniform(0.6, 0.95), size(rng, 400, 3000)
    v = orbit(lambda t: (t + 0.5 - k / (2 * math.pi) * math.sin(2 * math.pi * t)) % 1.0, rng.uniform(0.1, 0.4), n)
    return case(v, O, quarter=False, period=2.0)


@family(HISTORY)
def quasi_periodic_vector(rng: Rng) -> Case:
    """Two incommensurable angles, one in each pair of components."""
    a = rng.uniform(0.2, 0.9)
    k, b = np.arange(size(rng, 300, 5000)), a * (1 + GOLDEN)
    v = np.stack([np.cos(a * k), np.sin(a * k), 0.7 * np.cos(b * k + 1), 0.7 * np.sin(b * k + 1)], axis=1)
    return case(v * scale(rng), O, hard=True)


@family(HISTORY)
def quasi_periodic_sum(rng: Rng) -> Case:
    a = rng.uniform(0.15, 0.8)
    k = np.arange(size(rng, 300, 5000))
    v = np.cos(a * k) + rng.uniform(0.3, 0.7) * np.cos(a * math.sqrt(3) * k + 2) + 0.2 * np.cos(a * GOLDEN * k)
    return placed(rng, v, O, hard=True, quarter=len(k) * a > 400)


@family(HISTORY)
def standard_map_torus(rng: Rng) -> Case:
    """Chirikov's map with a small kick, around its centre: an invariant curve, both components."""
    k = rng.uniform(0.2, 0.6)
    x, p, out = math.pi + rng.uniform(0.2, 0.8), 0.0, []
    for _ in range(size(rng, 400, 5000)):
        out.append((x, p))
        p = p + k * math.sin(x)
        x = x + p
    return case(out, O, hard=True)


@family(HISTORY)
def henon_quadratic_map(rng: Rng) -> Case:
    """Henon's area-preserving map near its centre."""
    a = rng.uniform(0.6, 1.4)
    c, s = math.cos(a), math.sin(a)
    x, y, out = rng.uniform(0.03, 0.12), 0.0, []
    for _ in range(size(rng, 400, 5000)):
        out.append((x, y))
        x, y = x * c - (y - x * x) * s, x * s + (y - x * x) * c
    return case(out if rng.random() < 0.5 else np.array(out)[:, 0], O, hard=True)


@family(HISTORY)
def leapfrog_oscillator(rng: Rng) -> Case:
    """Stormer-Verlet on x'' = -x: an exact rotation by arccos(1 - h^2 / 2)."""
    h = rng.uniform(0.1, 1.3)
    t = math.acos(1 - h * h / 2)
    n = size(rng, max(60, int(8 * 2 * math.pi / t)), 4000)
    out = [1.0, math.cos(t) + 0.3]
    while len(out) < n:
        out.append((2 - h * h) * out[-1] - out[-2])
    return placed(rng, np.array(out), O, quarter=n * t > 60, period=2 * math.pi / t)


@family(HISTORY)
def pendulum_sampled(rng: Rng) -> Case:
    """Period 4 K(sin^2(a / 2)) of a swing of amplitude a; a fourth-order symplectic integrator."""
    a, h = rng.uniform(0.8, 2.4), 0.02
    m = int(rng.integers(5, 25))
    w1 = 1 / (2 - 2 ** (1 / 3))
    weights = (w1, 1 - 2 * w1, w1)
    x, v, out = a, 0.0, []
    for i in range(m * int(rng.integers(250, 500))):
        if i % m == 0:
            out.append(x)
        for w in weights:
            x += w * h / 2 * v
            v -= w * h * math.sin(x)
            x += w * h / 2 * v
    period = 4 * float(ellipk(math.sin(a / 2) ** 2)) / (h * m)
    return placed(rng, np.array(out), O, hard=True, quarter=len(out) > 40 * period, period=period)


@family(HISTORY)
def predator_prey_cycle(rng: Rng) -> Case:
    """Lotka and Volterra's equations, symplectic in the logarithms."""
    u, w, h, out = rng.uniform(0.3, 0.8), 0.0, 0.05, []
    for i in range(8 * int(rng.integers(250, 500))):
        if i % 8 == 0:
            out.append(math.exp(u))
        w += h * (math.exp(u) - 1)
        u += h * (1 - math.exp(w))
    return placed(rng, np.array(out), O, hard=True)


@family(HISTORY)
def hopf_spiral_to_circle(rng: Rng) -> Case:
    """z <- z exp(iw) (1 + g (1 - |z|^2)): from near the centre out to the unit circle."""
    w, g = rng.uniform(0.2, 2.5), rng.uniform(0.02, 0.2)
    n = int(rng.uniform(20, 60) / g) + int(12 / w)
    z, out = complex(rng.uniform(0.02, 0.2)), []
    for _ in range(n):
        out.append(z)
        z *= complex(math.cos(w), math.sin(w)) * (1 + g * (1 - abs(z) ** 2))
    v = np.array(out)
    both = np.stack([v.real, v.imag], axis=1) * scale(rng)
    return case(both if rng.random() < 0.4 else both[:, 0], O, hard=True, quarter=False, period=2 * math.pi / w)


@family(HISTORY)
def beverton_holt(rng: Rng) -> Case:
    """A population that saturates: rate 1/r."""
    r, k = rng.uniform(1.1, 3), log_uniform(rng, 10, 1e6)
    n = int(rng.uniform(10, 28) / math.log(r)) + 8
    v = orbit(lambda x: r * x / (1 + x * (r - 1) / k), k * rng.uniform(0.05, 0.5), n)
    return case(v, C, quarter=False, rate=1 / r, limit=k)


@family(HISTORY)
def ricker_at_rest(rng: Rng) -> Case:
    """Multiplier 1 - r at 1."""
    r = float(rng.choice([rng.uniform(0.1, 0.8), rng.uniform(1.25, 1.9)]))
    n = int(rng.uniform(8, 26) / -math.log(abs(1 - r))) + 14
    v = orbit(lambda x: x * math.exp(r * (1 - x)), rng.uniform(0.3, 0.7), n)
    return placed(rng, v, C, quarter=False, rate=abs(1 - r), limit=1.0)


@family(HISTORY)
def leslie_growth(rng: Rng) -> Case:
    """Age classes: grows by the dominant eigenvalue, the classes taking their shares first."""
    a = np.array([[rng.uniform(0.2, 0.5), rng.uniform(1, 1.6), rng.uniform(0.6, 1)], [0.7, 0, 0], [0, 0.6, 0]])
    rate = float(np.max(np.linalg.eigvals(a).real))
    x, out = rng.uniform(1, 20, 3), []
    for _ in range(size(rng, 60, 400)):
        out.append(x)
        x = a @ x
    return case(np.array(out)[:, 0] if rng.random() < 0.5 else out, D, quarter=False, rate=rate)


@family(HISTORY)
def epidemic_infected(rng: Rng) -> Case:
    """Infected share: rises, falls, and ends at 0."""
    b, g = rng.uniform(0.3, 0.6), rng.uniform(0.08, 0.15)
    s, i, out = 0.999, 0.001, []
    for _ in range(int(rng.uniform(40, 70) / g)):
        out.append(i)
        s, i = s - b * s * i, i + b * s * i - g * i
    return case(np.array(out) * log_uniform(rng, 1, 1e7), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def neutral_fixed_point(rng: Rng) -> Case:
    """x <- x - a x^2: like 1 / (a k), exponent 1."""
    a = rng.uniform(0.2, 0.9)
    v = orbit(lambda x: x - a * x * x, rng.uniform(0.3, 0.9), size(rng, 400, 8000))
    return placed(rng, v, C, hard=True, limit=0.0, exponent=1.0)


@family(HISTORY)
def nicholson_bailey(rng: Rng) -> Case:
    """Hosts and parasites whose fixed point is unstable: oscillations that grow."""
    r = rng.uniform(1.7, 2.2)
    p = math.log(r)
    x, y, out = r * p / (r - 1) * 1.001, p, []
    while len(out) < 300 and 0.02 < x < 50:
        out.append(x)
        x, y = r * x * math.exp(-y), x * (1 - math.exp(-y))
    return case(out, D, hard=True, quarter=False)


@family(HISTORY)
def fibonacci_numbers(rng: Rng) -> Case:
    """Fibonacci-like integers, growing by the golden ratio."""
    a, b = (int(i) for i in rng.integers(1, 20, 2))
    out = [a, b]
    while len(out) < int(rng.integers(30, 80)):
        out.append(out[-1] + out[-2])
    return case(np.array(out, np.int64), D, quarter=False, rate=(1 + math.sqrt(5)) / 2)
