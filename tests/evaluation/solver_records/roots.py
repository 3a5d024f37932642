"""Systems of equations by SciPy, and single equations by mpmath's iterations: residuals and errors of each step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
from mpmath.calculus import optimization
from scipy import optimize

from tests.evaluation.solver_records.record import SolverRecord, maker, record


def bratu(n: int, lam: float) -> Callable[[np.ndarray], np.ndarray]:
    """Bratu's equation u'' + lam exp(u) = 0 on n points."""
    h = 1.0 / (n + 1)

    def residual(u: np.ndarray) -> np.ndarray:
        whole = np.concatenate(((0.0,), u, (0.0,)))
        return np.asarray((whole[2:] - 2 * u + whole[:-2]) / h + h * lam * np.exp(u))

    return residual


def chandrasekhar(n: int, c: float) -> Callable[[np.ndarray], np.ndarray]:
    """Chandrasekhar's H-equation of radiative transfer."""
    mu = (np.arange(n) + 0.5) / n
    kernel = 0.5 * c / n * mu[:, None] / (mu[:, None] + mu)
    return lambda h: np.asarray(h - 1.0 / (1.0 - kernel @ h))


SYSTEMS = {"bratu 16": (bratu(16, 1.0), np.zeros(16)), "H 50": (chandrasekhar(50, 0.99), np.ones(50)),
           "H 50 critical": (chandrasekhar(50, 0.999999), np.ones(50))}  # fmt: skip


@maker
def systems() -> Iterator[SolverRecord]:
    """Largest residual of a system, of the methods that the callback of ``scipy.optimize.root`` sees."""
    for name, (f, x0) in SYSTEMS.items():
        for method in ("broyden1", "anderson", "linearmixing", "excitingmixing", "krylov"):
            seen: list[float] = []
            with contextlib.suppress(OverflowError):
                optimize.root(
                    f,
                    x0,
                    method=method,
                    options={"maxiter": 400, "fatol": 1e-9, "disp": False},
                    callback=lambda x, r, s=seen: s.append(float(np.abs(r).max())),
                )
            yield record(f"scipy root {method}", name, seen, 1e-6)


EQUATIONS: dict[str, tuple[Callable[[mpmath.mpf], mpmath.mpf], float, float]] = {
    "cos x = x": (lambda x: mpmath.cos(x) - x, 0.1, 1.4),
    "x**3 at 0": (lambda x: (x - 0.3) ** 3, -0.9, 1.2),
    "zeta": (lambda x: mpmath.zeta(x) - 1.2, 2.0, 9.0),
    "x**9 = 2": (lambda x: x**9 - 2, 0.2, 5.0),
}


@maker
def equations() -> Iterator[SolverRecord]:
    """The error that each of mpmath's solvers tells of its step, at 60 digits."""
    with mpmath.workdps(60):
        for name, (f, a, b) in EQUATIONS.items():
            for solver, start in (
                (optimization.Bisection, (a, b)),
                (optimization.Illinois, (a, b)),
                (optimization.Pegasus, (a, b)),
                (optimization.Anderson, (a, b)),
                (optimization.Ridder, (a, b)),
                (optimization.Secant, (a, b)),
                (optimization.Newton, (b,)),
                (optimization.Halley, (b,)),
            ):
                told: list[float] = []
                try:
                    steps = solver(mpmath.mp, f, [mpmath.mpf(v) for v in start], verbose=False, tol=1e-40)
                    for step, (_, error) in enumerate(steps):
                        told.append(float(abs(error)))
                        if step >= 250 or error == 0:
                            break
                except (ValueError, ZeroDivisionError):
                    pass
                kind = "bracketing" if solver in (optimization.Illinois, optimization.Pegasus) else solver.__name__
                yield record(f"mpmath {kind}", f"{name} {solver.__name__}", told, 1e-14)
