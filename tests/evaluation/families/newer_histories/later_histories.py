"""Later histories: flows that keep energy, lattices and mirrors of chaos, correlated noise, beats and slow levels."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, signal

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, X, case, family, log_uniform, orbit, placed, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=6)
def stars_in_a_galaxy(rng: Rng) -> Case:
    """A coordinate of Henon and Heiles's model near its escape energy, sampled."""
    rhs = lambda t, s: [s[2], s[3], -s[0] - 2 * s[0] * s[1], -s[1] - s[0] ** 2 + s[1] ** 2]  # noqa: E731
    n, step = int(rng.integers(600, 1200)), rng.uniform(0.5, 1.0)
    x, y, py = 0.0, rng.uniform(-0.15, 0.1), rng.uniform(-0.05, 0.05)
    px = math.sqrt(2 * (0.1665 - y * y / 2 + y**3 / 3) - py * py)
    times = 200 + step * np.arange(n)
    found = integrate.solve_ivp(
        rhs, (0, times[-1]), [x, y, px, py], method="DOP853", t_eval=times, rtol=1e-8, atol=1e-8
    )
    return placed(rng, found.y[int(rng.integers(2))], X, hard=True, quarter=False)


@family(HISTORY, new=6)
def standard_map_sine_of_angle(rng: Rng) -> Case:
    """sin(x) on the chaotic sea of Chirikov's map, at kicks of two to five."""
    k, x, p, out = rng.uniform(2.5, 5), rng.uniform(0.05, 0.2), 0.0, []
    for _ in range(size(rng, 500, 2000)):
        out.append(math.sin(x))
        p += k * math.sin(x)
        x = (x + p) % (2 * math.pi)
    return placed(rng, np.array(out), X, hard=True, quarter=False)


@family(HISTORY, new=6)
def bouncing_on_a_table(rng: Rng) -> Case:
    """The speed of a ball that loses a part at each bounce upon a table that is shaken strongly."""
    lost, kick, v, phase, out = rng.uniform(0.5, 0.8), rng.uniform(6, 12), 1.0, rng.uniform(0, 6), []
    for _ in range(size(rng, 500, 2000) + 100):
        phase = (phase + v) % (2 * math.pi)
        v = lost * v + kick * (1 + math.cos(phase))
        out.append(v)
    return placed(rng, np.array(out[100:]), X, hard=True, quarter=False)


@family(HISTORY, new=6)
def tent_in_light_noise(rng: Rng) -> Case:
    """A tent map's values, measured with an error of half a hundredth to two."""
    m = rng.uniform(1.5, 1.95)
    x = orbit(lambda x: m * min(x, 1 - x), rng.uniform(0.2, 0.8), size(rng, 300, 2000) + 50)[50:]
    return placed(rng, x + rng.uniform(0.005, 0.02) * x.std() * rng.normal(size=len(x)), X, hard=True, quarter=False)


@family(HISTORY, new=6)
def yule_sunspots_like(rng: Rng) -> Case:
    """Yule's disturbed pendulum: AR(2) of a period of six to twenty, its waves forgotten within a few."""
    r, p, n = rng.uniform(0.75, 0.93), rng.uniform(6, 20), size(rng, 400, 2000)
    a = [1, -2 * r * math.cos(2 * math.pi / p), r * r]
    return placed(rng, signal.lfilter([1], a, rng.normal(size=n + 400))[400:], S, hard=True, quarter=False)


@family(HISTORY, new=6)
def overcorrected_noise(rng: Rng) -> Case:
    """A controller that corrects more than the error: noise that turns each time, and ages of two steps."""
    n = size(rng, 200, 2000)
    a = [1, rng.uniform(0.5, 0.85), rng.uniform(-0.1, 0.25)]
    return placed(rng, signal.lfilter([1], a, rng.normal(size=n + 300))[300:], S, hard=True, quarter=False)


@family(HISTORY, new=6)
def two_bells(rng: Rng) -> Case:
    """Two tones near to each other and an overtone, with noise of a few hundredths: beats."""
    t, p = np.arange(size(rng, 500, 2000)), rng.uniform(4, 10)
    y = np.sin(2 * np.pi * t / p) + 0.7 * np.sin(2 * np.pi * t / (p * rng.uniform(1.06, 1.2)) + 1)
    y += 0.4 * np.sin(2 * np.pi * t / (p * math.sqrt(0.2)))
    return placed(rng, y + rng.uniform(0.01, 0.05) * rng.normal(size=len(t)), O, hard=True, quarter=False)


@family(HISTORY, new=6)
def moons_in_resonance_no_more(rng: Rng) -> Case:
    """The distance of two bodies on circles, and a wave, with a little noise: a bent function of three phases."""
    t, p = np.arange(size(rng, 500, 2000)), rng.uniform(8, 20)
    q, s = p * rng.uniform(1.4, 2.7), p * rng.uniform(3.1, 4.8)
    at = lambda period, r: r * np.exp(2j * np.pi * t / period)  # noqa: E731
    y = np.abs(at(p, 1) - at(q, 1.7)) + 0.3 * np.cos(2 * np.pi * t / s)
    return placed(rng, y + rng.uniform(0.005, 0.03) * y.std() * rng.normal(size=len(t)), O, hard=True, quarter=False)


@family(HISTORY, new=6)
def skill_from_a_beginners_rating(rng: Rng) -> Case:
    """A rating that begins far from the player's strength and comes to it, by wins and losses."""
    rating, out, k, true = 0.0, [], rng.uniform(8, 20), rng.uniform(300, 500) * rng.choice([-1, 1])
    for _ in range(size(rng, 800, 3000)):
        out.append(rating)
        other = rating + 100 * rng.normal()
        won = rng.random() < 1 / (1 + 10 ** ((other - true) / 400))
        rating += k * (won - 1 / (1 + 10 ** ((other - rating) / 400)))
    return case(1500 + np.array(out), C, hard=True, quarter=False)


@family(HISTORY, new=6)
def rent_that_rises_in_steps_of_noise(rng: Rng) -> Case:
    """A trend with AR(1) noise of negative sign about it."""
    n = size(rng, 200, 2000)
    noise = signal.lfilter([1], [1, rng.uniform(0.3, 0.8)], rng.normal(size=n + 100))[100:]
    return placed(rng, noise + log_uniform(rng, 8, 60) * np.arange(n) / n, D, hard=True, quarter=False)
