"""Linear systems by Krylov methods of SciPy whose residual is seen in a callback: restarted, augmented, and others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as la

from tests.evaluation.solver_records.record import SolverRecord, maker, record

TOLERANCE = 1e-8


def convection(n: int, speed: float) -> sp.csr_matrix:
    """Convection and diffusion on a line of n points, upwind."""
    h = 1.0 / (n + 1)
    return sp.diags([-1 - speed * h, 2 + speed * h, -1], [-1, 0, 1], (n, n), dtype=float).tocsr()


def plane(n: int) -> sp.csr_matrix:
    """The five-point Laplacian of an n by n grid, a little shifted towards indefinite."""
    line = sp.diags([-1, 2, -1], [-1, 0, 1], (n, n), dtype=float)
    return (sp.kron(line, sp.eye(n)) + sp.kron(sp.eye(n), line) - 0.002 * sp.eye(n * n)).tocsr()


PROBLEMS = {"convection 120": convection(120, 40.0), "convection 300": convection(300, 5.0), "plane 24": plane(24)}


@maker
def krylov() -> Iterator[SolverRecord]:
    """Relative residuals, one an inner iteration or an outer one as the method tells them."""
    for name, a in PROBLEMS.items():
        b = np.sin(np.arange(a.shape[0]) * 0.37) + 0.2
        size = float(np.linalg.norm(b))

        def residual(x: Any, a: Any = a, b: np.ndarray = b, size: float = size) -> float:
            return float(np.linalg.norm(b - a @ x)) / size

        seen: list[float] = []
        la.gmres(a, b, rtol=TOLERANCE, restart=12, maxiter=60, callback=seen.append, callback_type="pr_norm")
        yield record("scipy gmres restarted", name, seen, TOLERANCE)
        for kind, method, options in (
            ("scipy lgmres", la.lgmres, {"inner_m": 6, "outer_k": 2, "maxiter": 400}),
            ("scipy gcrotmk", la.gcrotmk, {"m": 6, "k": 3, "maxiter": 400}),
            ("scipy tfqmr", la.tfqmr, {"maxiter": 600}),
        ):
            told: list[float] = []
            method(a, b, rtol=TOLERANCE, callback=lambda x, t=told, r=residual: t.append(r(x)), **options)
            yield record(kind, name, told, TOLERANCE)


@maker
def spectral() -> Iterator[SolverRecord]:
    """Residuals of eigenvectors by inverse iteration with SciPy's ``splu``."""
    for name, a in PROBLEMS.items():
        for shift in (0.11, 0.43):
            solve = la.splu((a - shift * sp.eye(a.shape[0])).tocsc()).solve
            x, told = np.ones(a.shape[0]), []
            for _ in range(300):
                x = solve(x)
                x /= np.linalg.norm(x)
                told.append(np.linalg.norm(a @ x - (x @ (a @ x)) * x))
            yield record("scipy splu inverse iteration", f"{name} at {shift}", told, 1e-9)
