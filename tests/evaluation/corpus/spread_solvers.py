"""Solvers over a spread of sizes, rates and scales: relaxation, momentum, Richardson, Aitken, Markov chains."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import C, Case, D


def relaxation() -> Iterator[Case]:
    """SOR on the five-point Laplacian: the spectral radius at the best omega is omega - 1 (Young 1954)."""
    for m, lengths in ((4, (20, 60)), (6, (40, 120))):
        n = m * m
        eye, line = np.eye(m), 2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)
        a = np.kron(line, eye) + np.kron(eye, line)
        rho = math.cos(math.pi / (m + 1))
        best = 2 / (1 + math.sqrt(1 - rho * rho))
        for omega, label in ((0.6, C), (0.9, C), (best, C), (1.85, C), (2.15, D), (2.6, D)):
            x, norms = np.zeros(n), []
            for _ in range(max(lengths)):
                norms.append(float(np.linalg.norm(1.0 - a @ x)))
                for i in range(n):
                    x[i] += omega * (1.0 - a[i] @ x) / 4.0
            for length in lengths:
                kept = np.array(norms[:length])
                if kept[-1] > 1e-13 * kept[0]:
                    yield Case("sor_plane", kept, label, omega > 1.8 and label == C, quarter=label == D)


def heavy_ball() -> Iterator[Case]:
    """Momentum on a quadratic: the rate is the larger root's modulus, sqrt(beta) where the roots are complex."""
    for beta, step in ((0.81, 0.3), (0.64, 0.9), (0.36, 0.2), (0.9025, 1.9), (0.25, 1.2)):
        for scale, offset in ((1.0, 0.0), (1e-200, 0.0), (1e120, 5.0), (1e3, 1.0)):
            rate = float(np.abs(np.roots([1, -(1 + beta - step), beta])).max())
            n = min(700, max(30, int(12 / -math.log(rate))))
            x, before, out = 1.0, 1.0, []
            for _ in range(n):
                out.append(x)
                x, before = x - step * x + beta * (x - before), x
            facts = {"limit": offset * scale} | ({"rate": rate} if n >= 30 else {})
            yield Case("heavy_ball", (offset + np.array(out)) * scale, C, False, facts)
    for beta, step in ((0.5, 3.2), (0.9, 4.1)):
        x, before, out = 1.0, 1.0, []
        for _ in range(80):
            out.append(x)
            x, before = x - step * x + beta * (x - before), x
        rate = float(np.abs(np.roots([1, -(1 + beta - step), beta])).max())
        yield Case("heavy_ball_unstable", np.array(out), D, facts={"rate": rate})


def chains() -> Iterator[Case]:
    """Markov chains: the probability of a state tends to a known limit at the second eigenvalue's rate."""
    for p, q in ((0.3, 0.1), (0.05, 0.02), (0.9, 0.8), (0.5, 0.45)):
        rate, limit = 1 - p - q, q / (p + q)
        for n in (16, 60, 240):
            if abs(rate) ** n > 0.2:
                continue
            v = iterate(lambda x, p=p, q=q: x * (1 - p) + (1 - x) * q, 1.0, n)
            facts = {"limit": limit} | ({"rate": abs(rate)} if n >= 60 and abs(rate) > 0.05 else {})
            yield Case("markov", v, C, n == 16, facts)
    for a, limit in ((0.2, 0.2591711018190738), (0.36, 0.8060843159708177)):  # x = exp(a (x - 1) ...): x = a e^x
        yield Case("exponent_map", iterate(lambda x, a=a: a * math.exp(x), 0.0, 90), C, facts={"limit": limit})


def orders() -> Iterator[Case]:
    """Newton from far: a linear way, then order 2; Newton on a triple root stays linear with 2/3."""
    for power, a in ((2, 7e5), (3, 0.02), (5, 40.0)):
        f = lambda x, p=power, a=a: x - (x**p - a) / (p * x ** (p - 1))  # noqa: E731
        start = 30 * a ** (1 / power)
        yield Case("newton_far", iterate(f, start, 40), C, facts={"limit": a ** (1 / power)})
    for m in (3, 4):
        v = iterate(lambda x, m=m: x - (x - 2.0) / m, 3.0, 50)
        yield Case("newton_multiple", v, C, facts={"limit": 2.0, "rate": 1 - 1 / m})
    for r in (0.96, 0.99, -0.97):
        errors = [r]
        while abs(errors[-1]) > 1e-15:
            errors.append(errors[-1] ** 2)
        for scale in (1e-250, 3.0, 1e240):
            yield Case("squared_error", (2 + np.array(errors)) * scale, C, facts={"limit": 2 * scale, "order": 2.0})


GENERATORS = (relaxation, heavy_ball, chains, orders)
