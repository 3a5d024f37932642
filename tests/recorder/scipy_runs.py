"""Runs of SciPy's solvers on the problems of ``scipy_problems``, each with the comparison that ended it.

Runs are split by problem into two halves: the analysis and its calibrations may use only the runs of the first half;
the second is held out for judging.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse.linalg
from scipy.integrate import solve_ivp

import workbench as wb
from tests.evaluation.families.base import digest
from tests.recorder import scipy_problems as problems
from workbench.recorder.adapters import residual_callback, watched_method

#: shorter runs have too few iterations in their first third
SHORTEST = 20
Rng = np.random.Generator


class Run(NamedTuple):
    """The record of one variable, and the comparison that ended the run."""

    family: str
    name: str
    problem: str
    values: np.ndarray
    op: str
    bound: float

    @property
    def count(self) -> int | None:
        """Iterations until the comparison held; None if it never did."""
        met = np.flatnonzero(self.values < self.bound if self.op == "<" else self.values >= self.bound)
        return int(met[0]) + 1 if met.size else None

    @property
    def ends(self) -> int:
        """Index of the first value that ends the run, as ``Watched.n``."""
        assert self.count is not None
        return self.count - 1

    @property
    def half(self) -> int:
        """0: usable for tuning; 1: held out. It depends only on the problem."""
        return digest(f"{self.family} {self.problem}") % 2


def linear(rng: Rng) -> Run:
    """A Krylov solver on a matrix."""
    solver = str(rng.choice(["cg", "minres", "bicgstab", "gmres", "tfqmr", "cgs", "restarted"]))
    name, matrix = problems.matrix(rng, definite=solver in ("cg", "minres"))
    right = rng.normal(size=matrix.shape[0])
    tolerance = 10.0 ** rng.integers(-10, -4)
    watch = wb.watch(solver)
    if solver in ("gmres", "restarted"):
        restart, most = (400, 3) if solver == "gmres" else (int(rng.integers(5, 30)), 100)
        scipy.sparse.linalg.gmres(
            matrix, right, rtol=tolerance / 10, restart=restart, maxiter=most, callback=watch, callback_type="pr_norm"
        )
        return Run("linear", solver, name, np.asarray(watch["value"], float), "<", tolerance)
    solve = getattr(scipy.sparse.linalg, solver)
    solve(matrix, right, rtol=tolerance / 10, maxiter=2000, callback=residual_callback(watch, matrix, right))
    return Run("linear", solver, name, np.asarray(watch["residual"], float), "<", tolerance)


def nonlinear(rng: Rng) -> Run:
    """A solver of root on a system; for the older ones, which have no callback, each evaluation."""
    method = str(
        rng.choice(["broyden1", "broyden2", "anderson", "diagbroyden", "linearmixing", "krylov", "df-sane", "best"])
    )
    name, f, start = problems.system(rng)
    tolerance = 10.0 ** rng.integers(-10, -4)
    watch = wb.watch(method)
    if method == "best":
        seen: list[float] = []

        def noted(x: np.ndarray) -> np.ndarray:
            value = f(x)
            seen.append(min(float(np.linalg.norm(value)), seen[-1] if seen else np.inf))
            return value

        scipy.optimize.root(noted, start, method=str(rng.choice(["hybr", "lm"])))
        return Run("root", method, name, np.array(seen), "<", 10.0 ** rng.integers(-8, -2))
    options: dict[str, Any] = {"maxiter": 1000} if method != "df-sane" else {"maxfev": 3000}
    options |= {"fatol": tolerance / 100} if method != "df-sane" else {"fatol": tolerance / 100, "ftol": 0.0}
    scipy.optimize.root(f, start, method=method, callback=watch, options=options)
    return Run("root", method, name, np.asarray(watch["residual"], float), "<", tolerance)


def minimisation(rng: Rng) -> Run:
    """A solver of minimize: the gradient's norm (by differences), or the distance to the minimum."""
    method = str(rng.choice(["BFGS", "CG", "L-BFGS-B", "Nelder-Mead", "Powell", "TNC"]))
    name, f, start, least = problems.minimum(rng)
    watch = wb.watch(method)

    def note(x: np.ndarray) -> None:
        watch(slope=float(np.linalg.norm(scipy.optimize.approx_fprime(x, f, 1e-7))), fun=float(f(x)))

    scipy.optimize.minimize(f, start, method=method, callback=lambda xk: note(xk), options={"maxiter": 2000})
    if not watch.calls:
        raise ValueError(f"{method} called nothing back")
    if least is not None and rng.random() < 0.5:
        return Run(
            "minimize", f"{method} fun", name, np.asarray(watch["fun"]) - least, "<", 10.0 ** rng.integers(-8, -2)
        )
    return Run(
        "minimize", f"{method} slope", name, np.asarray(watch["slope"], float), "<", 10.0 ** rng.integers(-4, -1)
    )


def evolution(rng: Rng) -> Run:
    """The best value of differential evolution."""
    name, f, start, least = problems.minimum(rng)
    if least is None:
        raise ValueError("the least value is not known")
    watch = wb.watch("de")
    bounds = [(min(-2.0, 2 * x), max(2.0, 2 * x)) for x in start]
    seed = int(rng.integers(2**31))
    scipy.optimize.differential_evolution(
        f, bounds, rng=seed, popsize=6, polish=False, maxiter=150, tol=0.0, callback=watch
    )
    values = np.asarray(watch["fun"], float) - least
    return Run("evolution", "differential_evolution", name, values, "<", 10.0 ** rng.integers(-8, -1))


def integration(rng: Rng) -> Run:
    """Steps of solve_ivp towards the end of its interval."""
    method = str(rng.choice(["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]))
    name, f, start, end = problems.equation(rng)
    if name == "robertson" and method in ("RK23", "RK45", "DOP853"):
        raise ValueError("too stiff")
    watch = wb.watch(method)
    solve_ivp(f, (0, end), start, method=watched_method(watch, method), rtol=10.0 ** rng.integers(-7, -2))
    return Run("solve_ivp", method, name, np.asarray(watch["t"], float), ">=", end)


FAMILIES = (linear, linear, nonlinear, minimisation, minimisation, integration, evolution)


def runs(count: int, seed: int) -> Iterator[Run]:
    """Runs that met their comparison after at least SHORTEST iterations."""
    rng, made = np.random.default_rng(seed), 0
    while made < count:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                run = FAMILIES[int(rng.integers(len(FAMILIES)))](rng)
            except (scipy.optimize.NoConvergence, ValueError, ArithmeticError, np.linalg.LinAlgError):
                continue
        if run.count is not None and run.count >= SHORTEST:
            made += 1
            yield run
