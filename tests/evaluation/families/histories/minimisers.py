"""SciPy's minimisers and nonlinear solvers: objectives, gradients, iterates and residuals that their callbacks see.

The objectives are strongly convex with a known minimum, or Rosenbrock's function, so the truth is convergence to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize

from tests.evaluation.families.base import HISTORY, C, Rng, case, family, log_uniform
from tests.evaluation.scoring.cases import Case


class Bowl(NamedTuple):
    """sum of a_i (cosh(y_i) - 1) + bottom with y = Q (x - centre), Q orthogonal: strongly convex, not quadratic."""

    curvature: np.ndarray
    turn: np.ndarray
    centre: np.ndarray
    bottom: float

    def value(self, x: np.ndarray) -> float:
        y = np.clip(self.turn @ (x - self.centre), -50, 50)
        return float(self.curvature @ (np.cosh(y) - 1)) + self.bottom

    def gradient(self, x: np.ndarray) -> np.ndarray:
        y = np.clip(self.turn @ (x - self.centre), -50, 50)
        return self.turn.T @ (self.curvature * np.sinh(y))

    def hessian(self, x: np.ndarray) -> np.ndarray:
        y = np.clip(self.turn @ (x - self.centre), -50, 50)
        return self.turn.T @ np.diag(self.curvature * np.cosh(y)) @ self.turn


def _bowl(rng: Rng, low: int = 3, high: int = 12, condition: float = 300.0) -> tuple[Bowl, np.ndarray]:
    """A bowl and a start."""
    n = int(rng.integers(low, high + 1))
    curvature = np.geomspace(1, log_uniform(rng, 3, condition), n)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    bowl = Bowl(curvature, turn, rng.normal(size=n), float(rng.choice([0.0, 1.0, -7.5])))
    return bowl, bowl.centre + 2 * rng.normal(size=n)


def _seen(
    method: str, rng: Rng, look: Callable[[Bowl, np.ndarray], float], **options: float
) -> tuple[Bowl, np.ndarray]:
    """The bowl and what ``look`` saw of the iterates: drawn again until there are 8 of them."""
    while True:
        bowl, start = _bowl(rng, 6, 14, 1000.0)
        seen = [look(bowl, start)]
        hess = {"hess": bowl.hessian} if method in ("Newton-CG", "trust-ncg") else {}
        optimize.minimize(
            bowl.value,
            start,
            jac=bowl.gradient,
            method=method,
            callback=lambda x, seen=seen, bowl=bowl: seen.append(look(bowl, x)),
            options=options,
            **hess,
        )
        if len(seen) >= 8:
            return bowl, np.array(seen)


def _value(bowl: Bowl, x: np.ndarray) -> float:
    return bowl.value(x)


def _slope(bowl: Bowl, x: np.ndarray) -> float:
    return float(np.linalg.norm(bowl.gradient(x)))


def _first(bowl: Bowl, x: np.ndarray) -> float:
    return float(x[0])


@family(HISTORY)
def bfgs_objective(rng: Rng) -> Case:
    bowl, seen = _seen("BFGS", rng, _value, gtol=1e-7)
    return case(seen, C, quarter=False, limit=bowl.bottom)


@family(HISTORY)
def bfgs_gradient_norm(rng: Rng) -> Case:
    return case(_seen("BFGS", rng, _slope, gtol=1e-7)[1], C, quarter=False, limit=0.0)


@family(HISTORY)
def lbfgs_iterate(rng: Rng) -> Case:
    bowl, seen = _seen("L-BFGS-B", rng, _first, gtol=1e-8, ftol=1e-15)
    return case(seen, C, hard=True, quarter=False, limit=float(bowl.centre[0]))


@family(HISTORY)
def nonlinear_cg_objective(rng: Rng) -> Case:
    bowl, seen = _seen("CG", rng, _value, gtol=1e-6)
    return case(seen, C, quarter=False, limit=bowl.bottom)


@family(HISTORY)
def nonlinear_cg_gradient_norm(rng: Rng) -> Case:
    return case(_seen("CG", rng, _slope, gtol=1e-6)[1], C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def newton_cg_objective(rng: Rng) -> Case:
    bowl, seen = _seen("Newton-CG", rng, _value, xtol=1e-9)
    return case(seen, C, quarter=False, limit=bowl.bottom)


@family(HISTORY)
def nelder_mead_objective(rng: Rng) -> Case:
    bowl, start = _bowl(rng, 2, 4, 10.0)
    seen: list[float] = []
    tight = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 600}
    optimize.minimize(
        bowl.value, start, method="Nelder-Mead", callback=lambda x: seen.append(bowl.value(x)), options=tight
    )
    return case(seen, C, hard=True, quarter=False, limit=bowl.bottom)


@family(HISTORY)
def rosenbrock_bfgs_iterate(rng: Rng) -> Case:
    """Along the curved valley to (1, ..., 1)."""
    n = int(rng.integers(2, 6))
    start = np.r_[-1.2, np.ones(n - 1)] + 0.2 * rng.normal(size=n)
    seen = [float(optimize.rosen(start))]
    keep: Callable[[np.ndarray], None] = lambda x: seen.append(float(optimize.rosen(x)))  # noqa: E731
    found = optimize.minimize(optimize.rosen, start, jac=optimize.rosen_der, method="BFGS", callback=keep)
    # from n = 4 on there is a second minimum beside (-1, 1, ..., 1)
    return case(seen, C, hard=True, quarter=False, **({"limit": 0.0} if found.fun < 1e-8 else {}))


@family(HISTORY)
def trust_constr_barrier(rng: Rng) -> Case:
    """The barrier parameter of the interior-point method, kept for some iterations, then cut to a fifth."""
    c = 2 + rng.uniform(0, 2, 2)
    bounds = optimize.Bounds([0, 0], [1, 1])
    seen: list[float] = []

    def objective(x: np.ndarray) -> float:
        return float(np.sum((x - c) ** 2) + 0.1 * x[0] * x[1])

    def gradient(x: np.ndarray) -> np.ndarray:
        return 2 * (x - c) + 0.1 * x[::-1]

    optimize.minimize(
        objective,
        rng.uniform(0.2, 0.6, 2),
        jac=gradient,
        hess=lambda x: np.array([[2, 0.1], [0.1, 2]]),
        method="trust-constr",
        bounds=bounds,
        callback=lambda x, state: seen.append(float(state.barrier_parameter)),
        options={"gtol": 1e-9, "xtol": 1e-10},
    )
    return case(seen, C, hard=True, quarter=False)


@family(HISTORY)
def least_squares_cost(rng: Rng) -> Case:
    """Cost at the accepted points of a trust-region fit of an exponential to exact data."""
    t = np.linspace(0, 1, 30)
    true = np.array([rng.uniform(1, 3), rng.uniform(1, 3), rng.normal()])
    seen: list[float] = []

    def model(p: np.ndarray) -> np.ndarray:
        return p[0] * np.exp(-p[1] * t) + p[2]

    def jacobian(p: np.ndarray) -> np.ndarray:
        seen.append(0.5 * float(np.sum((model(p) - model(true)) ** 2)))
        e = np.exp(-p[1] * t)
        return np.stack([e, -p[0] * t * e, np.ones_like(t)], axis=1)

    start = true * np.array([0.5, 1.8, 1.0]) + np.array([0, 0, 0.5])
    optimize.least_squares(lambda p: model(p) - model(true), start, jacobian, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return case(seen, C, quarter=False, limit=0.0)


def _nonlinear_system(rng: Rng, solver: Callable[..., np.ndarray], **options: float) -> np.ndarray:
    """Residual norms of x + 0.3 sin(A x) = b, a contraction for |A| <= 1."""
    n = int(rng.integers(5, 30))
    a = rng.normal(size=(n, n))
    a *= 0.9 / np.linalg.norm(a, 2)
    b = rng.normal(size=n)
    seen: list[float] = []
    residual: Callable[[np.ndarray], np.ndarray] = lambda x: x + 0.3 * np.sin(a @ x) - b  # noqa: E731
    keep: Callable[[np.ndarray, np.ndarray], None] = lambda x, f: seen.append(float(np.linalg.norm(f)))  # noqa: E731
    solver(residual, np.zeros(n), f_tol=1e-11, maxiter=200, callback=keep, **options)
    return np.array(seen)


@family(HISTORY)
def broyden_residual(rng: Rng) -> Case:
    return case(_nonlinear_system(rng, optimize.broyden1, alpha=-0.7), C, quarter=False, limit=0.0)


@family(HISTORY)
def anderson_residual(rng: Rng) -> Case:
    return case(_nonlinear_system(rng, optimize.anderson, alpha=-0.4, M=3), C, quarter=False, limit=0.0)


@family(HISTORY)
def differential_evolution_best(rng: Rng) -> Case:
    """Best value of a population on a quadratic: falls by steps, with generations that gain nothing."""
    centre = rng.uniform(-2, 2, 2)
    seen: list[float] = []

    def keep(x: np.ndarray, convergence: float) -> None:
        seen.append(float(np.sum((x - centre) ** 2)))

    optimize.differential_evolution(
        lambda x: float(np.sum((x - centre) ** 2)),
        [(-5, 5)] * 2,
        callback=keep,
        popsize=6,
        maxiter=int(rng.integers(40, 80)),
        tol=0,
        polish=False,
        **_seeded(rng),
    )
    return case(seen, C, hard=True, quarter=False, limit=0.0)


def _seeded(rng: Rng) -> dict[str, Rng]:
    """SciPy renamed ``seed`` to ``rng`` in 1.15."""
    import inspect

    return {"rng" if "rng" in inspect.signature(optimize.differential_evolution).parameters else "seed": rng}
