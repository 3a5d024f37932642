"""Linear systems: SciPy's Krylov solvers, stationary iterations with their spectral radii, multigrid, refinement."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import linalg

from tests.evaluation.families.base import HISTORY, C, D, Rng, case, family, log_uniform, placed, scale, sign, size
from tests.evaluation.scoring.cases import Case


def _with_spectrum(rng: Rng, eigenvalues: np.ndarray) -> np.ndarray:
    q = np.linalg.qr(rng.normal(size=(len(eigenvalues),) * 2))[0]
    return (q * eigenvalues) @ q.T


def _krylov(rng: Rng, solver: Callable[..., Any], a: np.ndarray, **options: Any) -> np.ndarray:
    """Norms of the true residual, one for each callback with an iterate."""
    b = rng.normal(size=len(a))
    seen = [float(np.linalg.norm(b))]
    solver(a, b, callback=lambda x: seen.append(float(np.linalg.norm(b - a @ x))), maxiter=400, **options)
    return np.array(seen) * abs(scale(rng))


def _positive(rng: Rng, low: int = 30, high: int = 120) -> np.ndarray:
    n = int(rng.integers(low, high))
    return _with_spectrum(rng, np.geomspace(1, log_uniform(rng, 10, 200), n))


@family(HISTORY)
def conjugate_gradients_residual(rng: Rng) -> Case:
    return case(_krylov(rng, linalg.cg, _positive(rng), rtol=1e-10), C, quarter=False, limit=0.0)


@family(HISTORY)
def conjugate_gradients_laplacian(rng: Rng) -> Case:
    """Five-point Laplacian of a square: superlinear after a slow start."""
    m = int(rng.integers(8, 17))
    t = 2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)
    a = np.kron(t, np.eye(m)) + np.kron(np.eye(m), t)
    return case(_krylov(rng, linalg.cg, a, rtol=1e-9), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def gmres_residual(rng: Rng) -> Case:
    n = int(rng.integers(40, 100))
    a = np.eye(n) + rng.uniform(0.3, 0.6) * rng.normal(size=(n, n)) / math.sqrt(n)
    b = rng.normal(size=n)
    seen: list[float] = []
    linalg.gmres(a, b, rtol=1e-11, restart=n, callback=seen.append, callback_type="pr_norm")
    return case(seen, C, quarter=False, limit=0.0)


@family(HISTORY)
def gmres_restarted(rng: Rng) -> Case:
    """Restarted after a few steps, on a positive definite matrix, where it converges for every restart."""
    a, seen = _positive(rng, 40, 90), []
    b = rng.normal(size=len(a))
    m = int(rng.integers(4, 9))
    linalg.gmres(a, b, rtol=1e-9, restart=m, maxiter=80, callback=seen.append, callback_type="pr_norm")
    return case(seen, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def bicgstab_residual(rng: Rng) -> Case:
    n = int(rng.integers(60, 150))
    a = np.diag(np.linspace(1, rng.uniform(5, 20), n)) + 0.3 * np.diag(np.ones(n - 1), 1)
    return case(_krylov(rng, linalg.bicgstab, a, rtol=1e-10), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def minres_residual(rng: Rng) -> Case:
    """Symmetric and indefinite: the residual falls every second step."""
    n = int(rng.integers(15, 40))
    e = np.geomspace(1, rng.uniform(3, 8), n)
    a = _with_spectrum(rng, np.r_[e, -e])
    return case(_krylov(rng, linalg.minres, a, rtol=1e-9), C, hard=True, quarter=False, limit=0.0)


def _poisson(n: int) -> np.ndarray:
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def _stationary(b: np.ndarray, c: np.ndarray, x: np.ndarray, count: int) -> np.ndarray:
    """Iterates of x <- B x + c."""
    out = [x]
    while len(out) < count:
        out.append(b @ out[-1] + c)
    return np.array(out)


@family(HISTORY)
def jacobi_error_norm(rng: Rng) -> Case:
    """Spectral radius cos(pi / (n + 1)) on the one-dimensional Laplacian."""
    n = int(rng.integers(3, 9))
    rate = math.cos(math.pi / (n + 1))
    count = int(rng.uniform(6, 14) / -math.log(rate)) + 10
    errors = _stationary(np.eye(n) - _poisson(n) / 2, np.zeros(n), rng.uniform(0.5, 2, n), count)
    return case(np.linalg.norm(errors, axis=1) * abs(scale(rng)), C, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def gauss_seidel_component(rng: Rng) -> Case:
    """Spectral radius cos(pi / (n + 1)) squared; one component of the iterate."""
    n = int(rng.integers(3, 9))
    a, x = _poisson(n), rng.normal(size=n)
    lower = np.linalg.inv(np.tril(a))
    rate = math.cos(math.pi / (n + 1)) ** 2
    count = int(rng.uniform(6, 14) / -math.log(rate)) + 10
    start = x + rng.uniform(0.5, 2, n)
    v = _stationary(np.eye(n) - lower @ a, lower @ a @ x, start, count)[:, n // 2]
    return placed(rng, v, C, quarter=False, rate=rate, limit=float(x[n // 2]))


@family(HISTORY)
def sor_over_relaxed(rng: Rng) -> Case:
    """Omega above the best: all eigenvalues are complex, of modulus omega - 1 (Young)."""
    n = int(rng.integers(4, 10))
    best = 2 / (1 + math.sin(math.pi / (n + 1)))
    omega = best + (1.97 - best) * rng.uniform(0.3, 0.9)
    a = _poisson(n)
    split = np.linalg.inv(np.diag(np.diag(a)) / omega + np.tril(a, -1))
    count = int(rng.uniform(8, 20) / -math.log(omega - 1)) + 20
    v = _stationary(np.eye(n) - split @ a, np.zeros(n), rng.normal(size=n), count)[:, 0]
    return placed(rng, v, C, hard=True, quarter=False, rate=omega - 1, limit=0.0)


@family(HISTORY)
def jacobi_not_dominant(rng: Rng) -> Case:
    """Off-diagonal part too large: the error grows by the spectral radius."""
    n, rate = int(rng.integers(3, 8)), rng.uniform(1.02, 1.6)
    b = _with_spectrum(rng, rate * np.r_[sign(rng), rng.uniform(-0.8, 0.8, n - 1)])
    count = min(int(rng.uniform(4, 60) / math.log(rate)) + 30, 3000)
    v = _stationary(b, np.zeros(n), rng.normal(size=n), count)[:, 0]
    return case(v * abs(scale(rng)), D, quarter=False, rate=rate)


@family(HISTORY)
def multigrid_residual(rng: Rng) -> Case:
    """V-cycles on the one-dimensional Laplacian."""
    n = 2 ** int(rng.integers(5, 9)) - 1
    b, x = rng.normal(size=n), np.zeros(n)
    seen = [float(np.linalg.norm(b))]
    for _ in range(int(rng.integers(9, 13))):
        x = _cycle(x, b)
        seen.append(float(np.linalg.norm(b - _laplace(x))))
    return case(np.array(seen) * abs(scale(rng)), C, quarter=False, limit=0.0)


def _laplace(x: np.ndarray) -> np.ndarray:
    return 2 * x - np.r_[x[1:], 0] - np.r_[0, x[:-1]]


def _cycle(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    if len(x) == 1:
        return b / 2
    x = x + (b - _laplace(x)) / 3
    r = b - _laplace(x)
    coarse = r[0:-2:2] + 2 * r[1::2] + r[2::2]
    e = np.zeros(len(x))
    e[1::2] = _cycle(np.zeros(len(coarse)), coarse)
    padded = np.r_[0, e, 0]
    e[0::2] = (padded[0:-2:2] + padded[2::2]) / 2
    x = x + e
    return x + (b - _laplace(x)) / 3


@family(HISTORY)
def steepest_descent_zigzag(rng: Rng) -> Case:
    """Kantorovich's worst start: x falls by (k - 1) / (k + 1) each step, k the condition number."""
    k = log_uniform(rng, 3, 200)
    rate = (k - 1) / (k + 1)
    x, out = np.array([k, 1.0]), []
    for _ in range(min(int(rng.uniform(3, 12) / -math.log(rate)) + 12, 2000)):
        out.append(x[0])
        g = np.array([x[0], k * x[1]])
        x = x - g * (g @ g) / (g[0] ** 2 + k * g[1] ** 2)
    return placed(rng, np.array(out), C, rate=rate, limit=0.0)


@family(HISTORY)
def kaczmarz_component(rng: Rng) -> Case:
    """Cyclic projections onto two lines of angle t: the error falls by cos(t) squared each sweep."""
    t = rng.uniform(0.2, 1.2)
    rate = math.cos(t) ** 2
    k = np.arange(max(14, int(rng.uniform(5, 25) / -math.log(rate))))
    return placed(rng, rng.uniform(0.5, 2) * rate**k, C, rate=rate, limit=0.0)


@family(HISTORY)
def richardson_vector(rng: Rng) -> Case:
    """All components of x <- x + w (b - A x): the smallest eigenvalue decides."""
    n = int(rng.integers(2, 7))
    e = np.r_[1.0, rng.uniform(2, 9, n - 1)]
    rate = 1 - 1 / 10
    x = _stationary(_with_spectrum(rng, 1 - e / 10), rng.normal(size=n), 5 * rng.normal(size=n), size(rng, 80, 250))
    return case(x * scale(rng), C, quarter=False, rate=rate)


@family(HISTORY)
def refinement_residual(rng: Rng) -> Case:
    """Iterative refinement with a float32 inverse: some steps down to rounding, then it stays there."""
    n = int(rng.integers(20, 60))
    a = _with_spectrum(rng, np.geomspace(1, log_uniform(rng, 1e3, 1e5), n))
    inverse = np.linalg.inv(a).astype(np.float32).astype(float) * (1 + rng.uniform(0.2, 0.35))
    x, b, seen = np.zeros(n), rng.normal(size=n), []
    for _ in range(int(rng.integers(36, 60))):
        r = b - a @ x
        seen.append(float(np.linalg.norm(r)))
        x = x + inverse @ r
    return case(seen, C, quarter=False)
