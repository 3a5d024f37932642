"""Minimisers of SciPy with a callback: the norm of the gradient, the violation, or the best value found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import optimize

from tests.evaluation.solver_records.record import SolverRecord, maker, record

Function = Callable[[np.ndarray], float]


def logistic(seed: int, n: int, d: int) -> tuple[Function, Callable[[np.ndarray], np.ndarray], np.ndarray]:
    """Regularised logistic regression on correlated columns."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, d)) * np.geomspace(1, 30, d)
    y = np.sign(a @ rng.normal(size=d) + rng.normal(size=n))

    def f(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -y * (a @ w)).mean() + 0.5e-3 * w @ w)

    def g(w: np.ndarray) -> np.ndarray:
        return np.asarray(-(a.T @ (y / (1 + np.exp(y * (a @ w))))) / n + 1e-3 * w)

    return f, g, np.zeros(d)


def powell(x: np.ndarray) -> float:
    """Powell's singular function, whose Hessian is singular at its minimum."""
    a, b, c, d = x
    return float((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


SMOOTH: dict[str, tuple[Function, Any, np.ndarray]] = {
    "rosen 12": (optimize.rosen, optimize.rosen_der, np.linspace(-1.2, 1.0, 12)),
    "logistic 24": logistic(1, 200, 24),
    "powell": (powell, lambda x: optimize.approx_fprime(x, powell, 1e-8), np.array([3.0, -1.0, 0.0, 1.0])),
}
HESSIAN = {"Newton-CG", "trust-ncg", "trust-exact"}


def hessian(g: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """By differences of the gradient."""
    step = 1e-6
    rows = np.array([(g(x + step * e) - g(x - step * e)) / (2 * step) for e in np.eye(len(x))])
    return 0.5 * (rows + rows.T)


@maker
def gradients() -> Iterator[SolverRecord]:
    """The largest component of the gradient, the criterion of most of them."""
    for name, (f, g, x0) in SMOOTH.items():
        for method in ("BFGS", "L-BFGS-B", "CG", "Newton-CG", "trust-ncg", "trust-exact", "SLSQP", "TNC"):
            seen: list[float] = []
            options: dict[str, Any] = {"maxiter": 600}
            options |= {"gtol": 1e-9} if method not in ("Newton-CG", "SLSQP") else {}
            options |= {"ftol": 1e-30} if method in ("SLSQP", "L-BFGS-B", "TNC") else {}
            hess = {"hess": lambda x, g=g: hessian(g, x)} if method in HESSIAN else {}
            optimize.minimize(
                f,
                x0,
                jac=g,
                method=method,
                options=options,
                callback=lambda x, s=seen, g=g: s.append(float(np.abs(g(x)).max())),
                **hess,
            )
            yield record(f"scipy minimize {method}, gradient", name, seen, 1e-5)


@maker
def constrained() -> Iterator[SolverRecord]:
    """The optimality that ``trust-constr`` tells of each iteration."""
    for name, (f, g, x0) in SMOOTH.items():
        seen: list[float] = []
        optimize.minimize(
            f,
            x0,
            jac=g,
            method="trust-constr",
            hess=optimize.BFGS(),
            constraints=[optimize.LinearConstraint(np.ones((1, len(x0))), -5.0, 2.0)],
            options={"maxiter": 500, "gtol": 1e-9, "xtol": 1e-14},
            callback=lambda x, state, s=seen: s.append(float(state.optimality)),
        )
        yield record("scipy trust-constr, optimality", name, seen, 1e-6)


@maker
def searches() -> Iterator[SolverRecord]:
    """The best value so far of searches without gradients, below that of the known minimum and a little."""
    from scipy.optimize import rosen

    def rastrigin(x: np.ndarray) -> float:
        return float(10 * len(x) + (x * x - 10 * np.cos(2 * np.pi * x)).sum())

    def ackley(x: np.ndarray) -> float:
        wave = np.exp(np.cos(2 * np.pi * x).mean())
        return float(20 + np.e - 20 * np.exp(-0.2 * np.sqrt((x * x).mean())) - wave)

    bound = 1e-4
    for name, f, d in (("rosen", rosen, 5), ("rastrigin", rastrigin, 4), ("ackley", ackley, 6)):
        box = [(-4.0, 4.5)] * d
        seen: list[float] = []
        look = lambda x, convergence, s=seen, f=f: s.append(f(x))  # noqa: E731
        optimize.differential_evolution(f, box, seed=3, maxiter=400, tol=0, polish=False, callback=look)
        yield record("scipy differential evolution, value", name, seen, bound)
        values: list[float] = []
        optimize.dual_annealing(
            lambda x, v=values, f=f: v.append(f(x)) or v[-1], box, seed=3, maxiter=60, no_local_search=True
        )
        yield record("scipy dual annealing, best value", name, np.minimum.accumulate(values)[:: 2 * d], bound)
        hops: list[float] = []
        optimize.basinhopping(
            f, np.full(d, 3.3), niter=200, rng=4, stepsize=1.0, callback=lambda x, v, a, s=hops: s.append(float(v))
        )
        yield record("scipy basin hopping, best minimum", name, np.minimum.accumulate(hops), bound)
        tried: list[float] = []
        optimize.minimize(f, np.full(d, 1.7), method="Powell", options={"ftol": 1e-12, "maxiter": 200},
                          callback=lambda x, s=tried, f=f: s.append(f(x)))  # fmt: skip
        yield record("scipy minimize Powell, value", name, tried, bound)
        near: list[float] = []
        optimize.minimize(
            lambda x, v=near, f=f: v.append(f(x)) or v[-1], np.full(d, 0.7), method="COBYLA", options={"maxiter": 900}
        )
        yield record("scipy minimize COBYLA, best value", name, np.minimum.accumulate(near), bound)
