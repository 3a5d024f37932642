"""Loops of public threads in which somebody asks why a solver stopped, or gave up; each written anew and small.

A function ends with ``return ..., k``, where ``k`` counts its iterations, so that Python itself says how many there
were. What the threads are about is in the docstrings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from workbench.analysis.standing import Standing


class PublicLoop(NamedTuple):
    """``thread`` is where it was asked; ``words`` must be in the answer."""

    thread: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    standing: Standing
    words: str


def power_flow(v: float, tol: float) -> tuple[float, int]:
    """A power flow whose mismatch is NaN "converges" after one iteration, for abs(NaN) > tol is false."""
    k = 0
    mismatch = 1.0
    while np.abs(mismatch) > tol:
        v = v - np.log(v) * 3.0
        mismatch = np.log(v)
        k += 1
    return v, k


def minimiser(x: float, goal: float) -> tuple[float, int]:
    """Migrad reports convergence although its estimated distance is NaN: ``edm > edmval`` fails."""
    k = 0
    edm = 1.0
    while edm > goal and k < 100:
        g = np.sqrt(x)
        x = x - 2.0 * g
        edm = np.sqrt(x) * 0.5
        k += 1
    return x, k


def value_iteration(v: Any, tol: float) -> tuple[Any, int]:
    """A sup norm that skips NaN: poisoned values give a difference of 0, and the solver calls itself converged."""
    k = 0
    diff = 1.0
    while diff > tol and k < 200:
        new = np.log(v) + 0.5 * v
        step = np.abs(new - v)
        diff = np.max(np.where(np.isfinite(step), step, 0.0))
        v = new
        k += 1
    return v, k


def endgame(x: float, tol: float, most: int) -> tuple[float, int]:
    """``while True`` with ``error < tol`` as its only way out goes on with NaN until its other limit."""
    k = 0
    while True:
        old = x
        x = np.sqrt(x - 1.0)
        error = np.abs(x - old)
        k += 1
        if error < tol:
            break
        if k >= most:
            break
    return x, k


def sinkhorn(err: float, threshold: float, most: int) -> tuple[float, int]:
    """A solver that goes on while ``isfinite(err) and err > threshold`` stops at infinity, and says converged."""
    k = 0
    while np.isfinite(err) and err > threshold and k < most:
        err = err * err
        k += 1
    return err, k


def fit(p: float, tol: float, most: int) -> tuple[float, int]:
    """A fit that runs out of iterations comes back without a hint of failure."""
    k = 0
    step = 1.0
    while step > tol and k < most:
        new = p - 0.01 * (p - 3.0)
        step = np.abs(new - p)
        p = new
        k += 1
    return p, k


def exactly_at_the_limit(r: float, eps: float, most: int) -> tuple[float, int]:
    """An iterative solver that converges in exactly as many iterations as are allowed is reported as failed."""
    k = 0
    while r > eps and k < most:
        r = r * 0.5
        k += 1
    return r, k


def coordinate_descent(w: float, tol: float, most: int) -> tuple[float, int]:
    """The main loop of coordinate descent leaves without the tolerance, and without a warning."""
    k = 0
    for _ in range(most):
        old = w
        w = 0.999 * w + 0.002
        k += 1
        if np.abs(w - old) < tol:
            break
    return w, k


def fast_ica(w: float, tol: float, most: int) -> tuple[float, int]:
    """A fixed point iteration that turns round and round hits ``maxiter`` instead of ``tol``."""
    k = 0
    change = 1.0
    while k < most and change > tol:
        new = -w
        change = np.abs(new - w)
        w = new
        k += 1
    return w, k


def wet_bulb(t: float, most: int) -> tuple[float, int]:
    """Iterations go on until ``maxiter`` all the time, because the test for convergence never looks at the change."""
    k = 0
    converged = False
    first = t
    while not converged and k < most:
        t = 0.5 * (t + 20.0)
        converged = bool(np.abs(t - first) < 1e-6)
        k += 1
    return t, k


def newton_slow(a: float, most: int) -> tuple[float, int]:
    """Newton for 1 / x = a from a needs far more iterations than usual; the loop has a limit and a break."""
    x = a
    k = 0
    for _ in range(most):
        dx = x - a * x * x
        x = x + dx
        k += 1
        if np.abs(dx) < 1e-15 * np.abs(x):
            break
    return x, k


def no_real_root(x: float, epsilon: float, most: int) -> tuple[float, int]:
    """Newton for 1 + 2 x + 3 x^2, which has no real root, with a limit against the endless loop."""
    k = 0
    while np.abs(1.0 + 2.0 * x + 3.0 * x * x) >= epsilon and k < most:
        x = x - (1.0 + 2.0 * x + 3.0 * x * x) / (2.0 + 6.0 * x)
        k += 1
    return x, k


def mean_field(dn: float, tol: float, most: int) -> tuple[float, int]:
    """A self-consistent loop that is left by ``if k == max_iter: break`` though its density still changes."""
    k = 0
    while dn > tol:
        dn = 0.97 * dn
        k += 1
        if k == most:
            break
    return dn, k


def transport(gap: float, most: int) -> tuple[float, int]:
    """The cost has its right value and goes on in a cycle: numItermax is reached before optimality."""
    k = 0
    cost = 1.0
    while gap != 0.0 and k < most:
        cost = 1.0 - cost
        gap = gap * 1.0
        k += 1
    return cost, k


def softmax_training(w: float, rate: float, epochs: int) -> tuple[float, int]:
    """Training for so many epochs, whose cost is NaN at the end: the loop itself has ended as it was written."""
    k = 0
    for _ in range(epochs):
        w = w - rate * (2.0 * w - 1.0) * np.exp(w)
        k += 1
    return w, k


def residual_stalls(r: float, tol: float, most: int) -> tuple[float, int]:
    """A residual that stagnates above its tolerance: the search has a return for success, and none for failure."""
    k = 0
    for _ in range(most):
        k += 1
        r = r * 0.5 + 1e-3
        if r < tol:
            return r, k
    return r, k


S = Standing
PUBLIC_LOOPS = (
    PublicLoop("sogno-platform/dpsim#520", power_flow, (0.9, 1e-8), S.NOT_FINITE, "is NaN"),
    PublicLoop("root-project/root#6415", minimiser, (3.0, 1e-3), S.NOT_FINITE, "edm > goal false (nan > 0.001)"),
    PublicLoop(
        "FriedmanJP/MacroEconometricModels.jl#675",
        value_iteration,
        (np.array([1.0, -1.0]), 1e-9),
        S.ENDED,
        "(0.0 > 1e-09)",
    ),
    PublicLoop("bertiniteam/b2#354", endgame, (5.0, 1e-9, 40), S.LEFT, "k >= most (40 >= 40)"),
    PublicLoop("ott-jax/ott#50", sinkhorn, (10.0, 1e-3, 100), S.NOT_FINITE, "infinity"),
    PublicLoop("SasView/sasview#3883", fit, (0.0, 1e-6, 200), S.CUT_OFF, "step > tol"),
    PublicLoop("adda-team/adda#110", exactly_at_the_limit, (1.0, 2.0**-10, 10), S.ENDED, "r > eps became false"),
    PublicLoop(
        "scikit-learn/scikit-learn#11754", coordinate_descent, (0.0, 1e-6, 100), S.CUT_OFF, "no break was taken"
    ),
    PublicLoop("JuliaStats/MultivariateStats.jl#36", fast_ica, (1.0, 1e-6, 50), S.CUT_OFF, "change > tol"),
    PublicLoop("smartlixx/WetBulb#1", wet_bulb, (0.0, 200), S.CUT_OFF, "k < most became false (200 < 200)"),
    PublicLoop("cpraveen/na newton_slow", newton_slow, (1e-10, 100), S.LEFT, "break"),
    PublicLoop("cpraveen/na newton_slow", newton_slow, (1e-10, 60), S.CUT_OFF, "no break was taken"),
    PublicLoop("MIT problem set 2, Newton", no_real_root, (0.1, 1e-4, 40), S.CUT_OFF, "still held"),
    PublicLoop("dipc-cc/hubbard#135", mean_field, (1.0, 1e-6, 30), S.LEFT, "k == most (30 == 30)"),
    PublicLoop("raphael-group/paste#19", transport, (1e-17, 60), S.CUT_OFF, "gap != 0.0"),
    PublicLoop("example-a.com/answer/62021248", softmax_training, (4.0, 5.0, 20), S.ENDED, "(20 < 20)"),
    PublicLoop("Nek5000/gslib#8", residual_stalls, (1.0, 1e-3, 64), S.CUT_OFF, "no return was taken"),
)
