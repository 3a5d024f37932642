"""Loops that end, for the black box: solvers, schedules, waits, adoptions, pots, orbits, digits, registers."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import LONGEST, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=10)
def layers_by_preconditioned_gradients(rng: Rng) -> Watched:
    """The relative residual of conjugate gradients with a diagonal preconditioner on a rod of layers."""
    m, tol = int(rng.integers(80, 200)), log_uniform(rng, 1e-10, 1e-5)
    c = np.exp(rng.uniform(0, 1) * rng.normal(size=m + 1))
    a = np.diag(c[:-1] + c[1:] + 0.05) - np.diag(c[1:-1], 1) - np.diag(c[1:-1], -1)
    r, out = rng.normal(size=m), []
    z = p = r / np.diag(a)
    for _ in range(500):
        out.append(float(np.linalg.norm(r)))
        if out[-1] < 1e-12 * out[0]:
            break
        image, rho = a @ p, float(r @ z)
        r = r - rho / (p @ image) * image
        z = r / np.diag(a)
        p = z + float(r @ z) / rho * p
    return watched([("residual", np.array(out) / out[0], ">", tol)], exact=False)


@loop_family(WATCHED, new=10)
def overlapping_rods_agree(rng: Rng) -> Watched:
    """The error on the interface of two overlapping rods that are solved in turn: geometric."""
    left = float(rng.uniform(0.3, 0.6))
    right = left + float(rng.uniform(0.01, 0.15))
    step = lambda k, u: {"u": left / right * u * (1 - right) / (1 - left)}  # noqa: E731
    tol = log_uniform(rng, 1e-12, 1e-4)
    return observed({"u": float(rng.uniform(0.5, 5))}, step, lambda u: [("error", abs(u), ">", tol)])


@loop_family(WATCHED, new=10)
def delays_add_up_to_the_timeout(rng: Rng) -> Watched:
    """The time that was waited so far, with delays that double up to a greatest one."""
    base, cap = float(rng.choice([0.1, 0.5, 1.0])), float(rng.choice([4.0, 8.0, 30.0]))
    v = np.cumsum(np.r_[0.0, np.minimum(cap, base * 2.0 ** np.minimum(np.arange(4000), 60))])
    return watched([("waited", v, "<", cap * float(rng.uniform(30, 900)))])


@loop_family(WATCHED, new=10)
def chord_method_changes(rng: Rng) -> Watched:
    """|x' - x| of Newton's method with the slope of its first place, on an exponential."""
    root, start = math.log(float(rng.uniform(0.5, 20))), float(rng.uniform(1, 2.5))
    slope, tol = math.exp(root + start), log_uniform(rng, 1e-12, 1e-4)
    change = lambda x: (math.exp(x) - math.exp(root)) / slope  # noqa: E731
    step = lambda k, x: {"x": x - change(x)}  # noqa: E731
    return observed({"x": root + start}, step, lambda x: [("change", abs(change(x)), ">", tol)], exact=False)


@loop_family(WATCHED, new=10)
def fad_is_over(rng: Rng) -> Watched:
    """Bass' new adopters of each month, from their greatest number on, until they are few."""
    p, q = float(rng.uniform(0.002, 0.02)), float(rng.uniform(0.08, 0.4))
    total, out = 0.0, []
    for _ in range(3000):
        out.append((p + q * total) * (1 - total))
        total += out[-1]
    v = np.array(out[int(np.argmax(out)) :])
    return watched([("adopters", v, ">", log_uniform(rng, 1e-9, 1e-4))], exact=False)


@loop_family(WATCHED, new=10)
def whole_orbits_completed(rng: Rng) -> Watched:
    """Whole turns of a satellite that is looked at at times which do not divide its time of one turn."""
    p, turns = float(rng.uniform(2.3, 19)), int(rng.integers(15, 120))
    return watched([("turns", np.floor(np.arange(LONGEST) / p).astype(int), "<", turns)])


@loop_family(WATCHED, new=10)
def digits_added_to_the_number(rng: Rng) -> Watched:
    """A number to which its own digits are added, up to a bound."""
    v = [int(rng.integers(1, 100))]
    while len(v) < 3000:
        v.append(v[-1] + sum(map(int, str(v[-1]))))
    n = int(log_uniform(rng, 30, 2500))
    return watched([("number", np.array(v), "<", v[n])], exact=False)


@loop_family(WATCHED, new=10)
def denominators_of_a_surd(rng: Rng) -> Watched:
    """Denominators of the convergents of a fraction whose quotients take turns, up to a bound."""
    a, b = (int(i) for i in rng.choice([1, 1, 2, 3], 2))
    bound = int(10 ** rng.uniform(9, 17))
    step = lambda k, old, new: {"old": new, "new": (a if k % 2 else b) * new + old}  # noqa: E731
    return observed({"old": 0, "new": 1}, step, lambda old, new: [("denominator", new, "<", bound)])
