"""Sums, products and iterations slower than any geometric law; the exponent follows from the tail."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import zeta

from tests.evaluation.heldout.common import orbit, rng_of, scales
from tests.evaluation.scoring.cases import C, Case, D


def zetas() -> Iterator[Case]:
    """Hurwitz's sums: the tail of 1/(k + q)^s is like k^(1 - s)."""
    for s in (1.3, 1.4, 1.6, 1.75, 2.2, 2.5, 3.5):
        for n, q in ((60, 1.0), (500, 3.5), (6000, 1.0)):
            k = np.arange(n)
            hard = s < 1.35 or n < 100
            facts = {"limit": float(zeta(s, q))} | ({"exponent": s - 1} if n >= 500 else {})
            yield Case("hurwitz", np.cumsum((k + q) ** -s), C, hard, facts)
    for s in (0.3, 0.6, 0.9, 1.0):
        for n, q in ((50, 2.0), (700, 0.5), (9000, 7.0)):
            yield Case("hurwitz_open", np.cumsum((np.arange(n) + q) ** -s), D, s >= 0.9)
    for n in (400, 5000):
        k = np.arange(1.0, n + 1)
        yield Case("odd_harmonic", np.cumsum(1 / (2 * k + 1)), D, True)
        yield Case("prime_like", np.cumsum(1 / ((k + 1) * np.log(k + 1))), D, True)
        yield Case("telescoping", np.cumsum(1 / (k * (k + 1))), C, facts={"limit": 1.0, "exponent": 1.0})
        yield Case("basel_even", np.cumsum(1 / (2 * k) ** 2), C, facts={"limit": math.pi**2 / 24, "exponent": 1.0})
        yield Case("gregory", 4 * np.cumsum((-1) ** (k - 1) / (2 * k - 1)), C, facts={"limit": math.pi})
        yield Case("slow_alternating", np.cumsum((-1) ** k / np.sqrt(k)), C, True, {"limit": -0.6048986434216303})


def products() -> Iterator[Case]:
    for n in (60, 900, 8000):
        k = np.arange(1.0, n + 1)
        facts = {"exponent": 1.0} if n > 100 else {}
        yield Case("compound_interest", (1 + 1 / k) ** k, C, n < 100, {"limit": math.e} | facts)
        wallis = np.cumprod(4 * k * k / (4 * k * k - 1))
        yield Case("wallis", wallis, C, n < 100, {"limit": math.pi / 2} | facts)
        yield Case("open_product", np.cumprod(1 + 0.5 / k), D)
        yield Case("product_to_zero", np.cumprod(1 - 0.7 / (k + 1)), C, True, {"limit": 0.0})
        yield Case("kth_root", k ** (1 / k), C, True, {"limit": 1.0}, n > 100)


def iterations() -> Iterator[Case]:
    """x - c x^(m + 1): the error falls like k^(-1/m)."""
    for m in (1, 2, 3, 0.5):
        for c, x0, n in ((0.5, 0.9, 80), (0.2, 1.0, 1500), (0.9, 0.5, 7000)):
            v = orbit(lambda x, m=m, c=c: x - c * x ** (m + 1), x0, n)
            facts = {"limit": 0.0} | ({"exponent": 1 / m} if n > 100 else {})
            yield Case("flat_root", v, C, n < 100 or m == 3, facts)
    for n in (70, 2500):
        more = {"exponent": 1.0} if n > 100 else {}
        yield Case("mobius", orbit(lambda x: x / (1 + x), 3.0, n), C, False, {"limit": 0.0} | more)
        yield Case("log1p", orbit(math.log1p, 2.0, n), C, True, {"limit": 0.0} | more)
        half = {"exponent": 0.5} if n > 100 else {}
        yield Case("arctan", orbit(math.atan, 1.3, n), C, True, {"limit": 0.0} | half)
        yield Case("cesaro", np.cumsum(np.arange(n) % 2) / np.arange(1.0, n + 1), C, True, {"limit": 0.5})


def growing() -> Iterator[Case]:
    """Slow growth without a bound."""
    for n in (90, 1100, 10000):
        k = np.arange(1.0, n + 1)
        yield Case("fourth_root", 5 + k**0.25, D, True)
        yield Case("k_log_k", k * np.log(k + 1), D)
        yield Case("log_two", np.log2(k + 3) * 1e-8, D, True)
        yield Case("x_plus_inverse", orbit(lambda x: x + 1 / x, 0.7, n), D)
        yield Case("x_plus_exp", orbit(lambda x: x + math.exp(-x), 0.0, n), D, True)
    for i in range(8):
        rng = rng_of("power_law", i)
        n, p = int(rng.choice([40, 300, 2000])), float(rng.uniform(0.4, 3.0))
        scale, offset = scales(rng)
        k = np.arange(1.0, n + 1)
        yield Case("power_up", (offset + k**p * 1e-3) * scale, D)
        e = float(rng.uniform(0.5, 2.5))
        facts = {"limit": offset * scale} | ({"exponent": e} if n >= 300 else {})
        yield Case("power_down", (offset + k**-e) * scale, C, n < 100, facts)


GENERATORS = (zetas, products, iterations, growing)
