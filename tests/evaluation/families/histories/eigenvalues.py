"""Eigenvalue iterations: power, inverse and Rayleigh iterations, QR steps, Arnoldi-like normalised spirals."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, O, Rng, case, family, placed, scale, size
from tests.evaluation.scoring.cases import Case


def _symmetric(rng: Rng, eigenvalues: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q = np.linalg.qr(rng.normal(size=(len(eigenvalues),) * 2))[0]
    return (q * eigenvalues) @ q.T, q


def _powers(a: np.ndarray, start: np.ndarray, count: int) -> np.ndarray:
    """Normalised iterates."""
    x, out = start / np.linalg.norm(start), []
    for _ in range(count):
        out.append(x)
        x = a @ x
        x = x / np.linalg.norm(x)
    return np.array(out)


def _gap(rng: Rng) -> tuple[float, np.ndarray]:
    """Ratio of the two largest eigenvalues, and a spectrum with it."""
    rate = rng.uniform(0.4, 0.97)
    return rate, np.r_[1.0, rate, rate * rng.uniform(0.05, 0.7, int(rng.integers(1, 5)))]


@family(HISTORY)
def power_iteration_rayleigh(rng: Rng) -> Case:
    """The Rayleigh quotient of a symmetric matrix: the rate is the squared ratio."""
    rate, e = _gap(rng)
    factor = abs(scale(rng))
    a, q = _symmetric(rng, e)
    count = min(int(rng.uniform(6, 13) / -math.log(rate)) + 12, 600)
    x = _powers(a, q @ (1 + rng.uniform(0, 1, len(e))), count)
    v = np.einsum("ki,ij,kj->k", x, a, x) * factor
    return case(v, C, quarter=False, rate=rate**2, limit=factor)


@family(HISTORY)
def power_iteration_vector(rng: Rng) -> Case:
    rate, e = _gap(rng)
    a, q = _symmetric(rng, e)
    count = min(int(rng.uniform(8, 20) / -math.log(rate)) + 12, 800)
    return case(_powers(a, q @ (1 + rng.uniform(0, 1, len(e))), count), C, quarter=False, rate=rate)


@family(HISTORY)
def power_iteration_close_eigenvalues(rng: Rng) -> Case:
    """A ratio near 1: the norm of the error against the eigenvector, far from settled at the end."""
    rate = 1 - 10 ** rng.uniform(-3.3, -2)
    count = int(rng.uniform(1.5, 6) / (1 - rate))
    k = np.arange(min(count, 9000))
    tangent = rng.uniform(0.5, 3) * rate**k
    return case(np.sin(np.arctan(tangent)), C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def power_iteration_negative(rng: Rng) -> Case:
    """Largest eigenvalue negative: every component changes its sign for ever."""
    rate, e = _gap(rng)
    a, q = _symmetric(rng, -e)
    count = int(rng.uniform(12, 40) / -math.log(rate)) + 40
    x = _powers(a, q @ (1 + rng.uniform(0, 1, len(e))), min(count, 3000))
    i = int(np.argmax(np.abs(x[-1])))
    return case(x[:, i] * scale(rng), O, quarter=False, period=2.0)


@family(HISTORY)
def power_iteration_complex_pair(rng: Rng) -> Case:
    """Largest eigenvalues r exp(+-it): the normalised iterate turns for ever."""
    t = rng.uniform(0.25, 2.6)
    c, s = math.cos(t), math.sin(t)
    a = np.array([[c, -s, 0.3], [s, c, -0.2], [0, 0, rng.uniform(0.2, 0.7)]])
    count = size(rng, 150, 1500)
    v = _powers(a, rng.normal(size=3), count)[:, 0]
    return case(v * scale(rng), O, quarter=False, period=2 * math.pi / t)


@family(HISTORY)
def inverse_iteration_error(rng: Rng) -> Case:
    """Shifted inverse iteration: |l1 - s| / |l2 - s|."""
    near, far = rng.uniform(0.05, 0.3), rng.uniform(0.5, 1.5)
    rate = near / far
    a, q = _symmetric(rng, 1 / np.array([near, far, -4 * far]))
    x = _powers(a, q @ (1 + rng.uniform(0, 1, 3)), int(rng.uniform(18, 28) / -math.log(rate)) + 3)
    v = np.abs(x @ q[:, 1])
    return case(v, C, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def rayleigh_quotient_iteration(rng: Rng) -> Case:
    """Cubic: a handful of values to all digits; the quotient stays at the eigenvalue afterwards."""
    e = np.sort(rng.uniform(1, 10, 8)) + np.arange(8)
    a, q = _symmetric(rng, e)
    x = q[:, 3] + 0.6 * q[:, 5] + 0.3 * q[:, 1]
    out = []
    for _ in range(int(rng.integers(7, 10))):
        x = x / np.linalg.norm(x)
        out.append(x @ a @ x)
        try:
            x = np.linalg.solve(a - out[-1] * np.eye(8), x)
        except np.linalg.LinAlgError:
            break
    return case(out, C, quarter=False)


@family(HISTORY)
def qr_algorithm_subdiagonal(rng: Rng) -> Case:
    """The entry below the diagonal falls by l2 / l1 each step, without shifts."""
    rate = rng.uniform(0.3, 0.9)
    a, _ = _symmetric(rng, np.array([1.0, rate, 0.05 * rate]))
    out = []
    for _ in range(min(int(rng.uniform(10, 24) / -math.log(rate)) + 6, 300)):
        out.append(abs(a[1, 0]))
        q, r = np.linalg.qr(a)
        a = r @ q
    return case(np.array(out) * abs(scale(rng)), C, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def krylov_subspace_ritz_value(rng: Rng) -> Case:
    """Largest Ritz value of Lanczos with full orthogonalisation, rising to the largest eigenvalue."""
    n = 60
    e = np.r_[np.linspace(0, 1, n - 1), rng.uniform(1.02, 1.2)]
    x = rng.uniform(0.5, 1.5, n)
    basis, out = np.empty((0, n)), []
    for _ in range(int(rng.integers(16, 30))):
        x = x - basis.T @ (basis @ x)
        x = x - basis.T @ (basis @ x)
        basis = np.vstack([basis, x / np.linalg.norm(x)])
        out.append(np.linalg.eigvalsh((basis * e) @ basis.T)[-1])
        x = e * basis[-1]
    return case(out, C, quarter=False, limit=float(e[-1]))


@family(HISTORY)
def deflated_norm_of_turning_vector(rng: Rng) -> Case:
    """max(|x|, |y|) of a turning vector that shrinks: bumps on a geometric decay."""
    rate, t = 1 - 10 ** rng.uniform(-2.3, -1), rng.uniform(0.15, 1.4)
    k = np.arange(min(int(rng.uniform(4, 30) / (1 - rate)) + 20, 5000))
    v = rate**k * np.maximum(np.abs(np.cos(t * k + 1)), np.abs(np.sin(t * k + 1)))
    return case(v * abs(scale(rng)), C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def subspace_angle_to_eigenspace(rng: Rng) -> Case:
    """Orthogonal iteration with two vectors: l3 / l2 decides."""
    rate = rng.uniform(0.4, 0.92)
    a, q = _symmetric(rng, np.array([1.0, 0.8, 0.8 * rate, 0.1]))
    x = np.linalg.qr(q @ rng.normal(size=(4, 2)))[0]
    out = []
    for _ in range(min(int(rng.uniform(12, 26) / -math.log(rate)) + 8, 300)):
        out.append(float(np.linalg.norm(q[:, 2:].T @ x)))
        x = np.linalg.qr(a @ x)[0]
    return placed(rng, np.array(out), C, quarter=False, rate=rate, limit=0.0)
