"""Loops that end, for the black box: rates, debts, schedules, growth, epidemics, batches, clauses."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import LONGEST, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=7)
def squares_piled_up(rng: Rng) -> Watched:
    """A pyramid of balls: sums of squares, or of cubes, until there are enough."""
    power, n = int(rng.integers(2, 4)), int(log_uniform(rng, 25, 3000))
    v = np.cumsum(np.arange(LONGEST, dtype=np.int64) ** power)
    return watched([("balls", v, "<", int(v[n]) - int(rng.integers(0, 9)))])


@loop_family(WATCHED, new=7)
def fibonacci_below_a_bound(rng: Rng) -> Watched:
    """Numbers that are the sum of the two before, in 64 bits."""
    start = {"a": int(rng.integers(1, 9)), "b": int(rng.integers(1, 9))}
    bound = int(10 ** rng.uniform(6, 18))
    return observed(start, lambda k, a, b: {"a": b, "b": a + b}, lambda a, b: [("a", a, "<", bound)])


@loop_family(WATCHED, new=7)
def outbreak_burns_out(rng: Rng) -> Watched:
    """New cases of Reed and Frost's epidemic, counted from its peak, until they are few."""
    b, s, i, out = float(rng.uniform(1.2, 1.8)), 0.999, 0.001, []
    for _ in range(2000):
        out.append(i)
        s, i = s * math.exp(-b * i), s * (1 - math.exp(-b * i))
    v = np.array(out[int(np.argmax(out)) :])
    return watched([("cases", v, ">", log_uniform(rng, 1e-9, 1e-4))], exact=False)


@loop_family(WATCHED, new=7)
def minimal_residual_on_an_indefinite_matrix(rng: Rng) -> Watched:
    """The residual of MINRES where eigenvalues of both signs let it rest every other step."""
    m = int(rng.integers(60, 200))
    spectrum = np.r_[-rng.uniform(0.3, 1, m // 2), rng.uniform(0.3, 1, m - m // 2)]
    out: list[float] = []
    b, tol = rng.normal(size=m), log_uniform(rng, 1e-9, 1e-3)
    basis = [b / np.linalg.norm(b)]
    for k in range(80):
        space = np.array(basis).T
        images = spectrum[:, None] * space
        left = b - images @ np.linalg.lstsq(images, b, rcond=None)[0] if k else b
        out.append(float(np.linalg.norm(left)))
        w = spectrum * basis[-1]
        for _ in range(2):
            w = w - space @ (space.T @ w)
        basis.append(w / np.linalg.norm(w))
    return watched([("residual", np.array(out), ">", tol * out[0])], exact=False)


@loop_family(WATCHED, new=7)
def temperature_by_the_logarithm(rng: Rng) -> Watched:
    """Hajek's temperature c / log(k + 2), the slowest that is used."""
    c, n = log_uniform(rng, 0.1, 100), log_uniform(rng, 30, 4000)
    return watched([("temperature", c / np.log(np.arange(LONGEST + 1.0) + 2), ">", c / math.log(n + 2.5))])


@loop_family(WATCHED, new=7)
def inverse_root_of_the_step(rng: Rng) -> Watched:
    """A learning rate a / sqrt(k + w), until it is small."""
    a, w, n = log_uniform(rng, 1e-3, 1), float(rng.uniform(1, 50)), log_uniform(rng, 30, 4000)
    return watched([("rate", a / np.sqrt(np.arange(LONGEST + 1.0) + w), ">", a / math.sqrt(n + w))])


@loop_family(WATCHED, new=7)
def radius_grows_once_and_shrinks_twice(rng: Rng) -> Watched:
    """A trust region's radius: a good step, then some bad ones, over and over, until it is too small."""
    bad, r, tol = int(rng.integers(1, 5)), log_uniform(rng, 0.1, 10), log_uniform(rng, 1e-9, 1e-3)
    grow, shrink = float(rng.uniform(1.1, 1.8)), float(rng.choice([0.25, 0.5]))
    return observed(
        {"r": r}, lambda k, r: {"r": r * (grow if k % (bad + 1) == 0 else shrink)}, lambda r: [("radius", r, ">", tol)]
    )


@loop_family(WATCHED, new=7)
def tumour_reaches_a_size(rng: Rng) -> Watched:
    """Gompertz's growth up to a share of its limit."""
    rate, part = float(rng.uniform(0.85, 0.99)), float(rng.uniform(0.3, 0.995))
    v = np.exp(-float(rng.uniform(2, 8)) * rate ** np.arange(LONGEST + 1.0))
    return watched([("size", 50 * v, "<", 50 * part)], exact=False)


@loop_family(WATCHED, new=7)
def yeast_fills_its_dish(rng: Rng) -> Watched:
    """Verhulst's growth in whole steps, past its turning point, up to a share of what the dish can feed."""
    r, goal = float(rng.uniform(0.05, 0.4)), float(rng.uniform(0.9, 0.9999))
    start = {"x": float(rng.uniform(0.2, 0.6))}
    return observed(start, lambda k, x: {"x": x + r * x * (1 - x)}, lambda x: [("x", x, "<", goal)], exact=False)


@loop_family(WATCHED, new=7)
def echo_fades_below_a_level(rng: Rng) -> Watched:
    """The loudness of blocks of a fading noise, each of many samples."""
    m, rate, tol = int(rng.integers(200, 3000)), float(rng.uniform(0.85, 0.99)), log_uniform(rng, 1e-4, 1e-2)
    n = int(math.log(tol) / math.log(rate)) + 200
    v = rate ** np.arange(n) * np.sqrt(rng.chisquare(m, n) / m)
    return watched([("loudness", v, ">", tol)], exact=False)


@loop_family(WATCHED, new=7)
def bids_in_whole_coins(rng: Rng) -> Watched:
    """A price that is raised by a twentieth or so, and by one coin at least, in whole coins."""
    part, bound = int(rng.integers(8, 40)), int(10 ** rng.uniform(3, 9))
    start = {"price": int(rng.integers(1, 50))}
    step = lambda k, price: {"price": price + price // part + 1}  # noqa: E731
    return observed(start, step, lambda price: [("price", price, "<", bound)])


@loop_family(WATCHED, new=7)
def mesh_that_grows_away_from_the_wall(rng: Rng) -> Watched:
    """Places of a mesh whose cells grow by a factor, up to the other side."""
    grow, first = float(rng.uniform(1.01, 1.2)), log_uniform(rng, 1e-5, 1e-2)
    step = lambda k, x, h: {"x": x + h, "h": h * grow}  # noqa: E731
    return observed({"x": 0.0, "h": first}, step, lambda x, h: [("x", x, "<", 1.0)])


@loop_family(WATCHED, new=7)
def until_it_is_close(rng: Rng) -> Watched:
    """Not (difference <= tolerance): a geometric difference, under a negation."""
    rate, tol = float(rng.uniform(0.4, 0.97)), log_uniform(rng, 1e-12, 1e-3)
    return observed({"d": 5.0}, lambda k, d: {"d": rate * d}, lambda d: [("d", d, "<=", tol)], "not")
