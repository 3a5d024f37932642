"""Sums and sequences near the line between convergence and divergence, over lengths, starts and signs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import C, Case, D


def shifted() -> Iterator[Case]:
    """Sums of (a + b k)^-s from other starts and with other signs than the plain ones."""
    for n in (64, 512, 4096):
        k = np.arange(n)
        for a, b in ((2.0, 3.0), (10.0, 1.0)):
            for s in (0.4, 0.7, 0.95):
                yield Case("sum_open", -5.0 + np.cumsum((a + b * k) ** -s), D, s > 0.9 or n == 64)
            for s in (1.35, 1.5, 1.9, 2.7):
                facts = {"exponent": s - 1} if n > 64 else {}
                yield Case("sum_closed", 8.0 - np.cumsum((a + b * k) ** -s), C, n == 64, facts)
        yield Case("sum_over_log", np.cumsum(1 / np.sqrt((k + 2) * np.log(k + 2))), D, True)
        yield Case("sum_geometric", np.cumsum(0.8**k), C, facts={"limit": 5.0, "rate": 0.8})
        if n > 64:
            yield Case("sum_geometric_slow", np.cumsum(0.995**k), C, n == 512, {"limit": 200.0}, n > 512)
        facts = {"limit": 0.5, "exponent": 1.0}
        yield Case("sum_of_pairs", np.cumsum(1 / ((2 * k + 1.0) * (2 * k + 3))), C, False, facts)
        yield Case("log_minus", np.cumsum(1 / (k + 1.0)) - np.log(k + 1.0), C, True, {"limit": 0.5772156649015329})


def slow_maps() -> Iterator[Case]:
    """Iterations at a neutral fixed point, and powers of the index."""
    for n in (100, 1000, 10000):
        more = n > 100
        v = iterate(lambda x: x - 0.3 * x * x, 1.0, n)
        yield Case("neutral", v, C, not more, {"limit": 0.0} | ({"exponent": 1.0} if more else {}))
        v = iterate(lambda x: x - 0.1 * x**3, 1.0, n)
        yield Case("neutral_flat", v, C, not more, {"limit": 0.0} | ({"exponent": 0.5} if more else {}))
        v = iterate(lambda x: math.sqrt(x * x + 1), 1.0, n)
        yield Case("grows_like_root", v, D)
        k = np.arange(2.0, n + 2)
        yield Case("inverse_log", 1 / np.log(k), C, True)
        yield Case("third_root", 7 - k ** (1 / 3), D)
        for e in (0.6, 1.4, 2.2):
            facts = {"limit": -4.0} | ({"exponent": e} if more else {})
            yield Case("inverse_power", -4.0 + 3 * (k + 5) ** -e, C, e < 1, facts)


def scaled() -> Iterator[Case]:
    """The same laws at the ends of the range of float64."""
    k = np.arange(1.0, 801)
    for scale in (1e-295, 1e-60, 1e80, 1e295):
        yield Case("scaled_open", scale * np.cumsum(k**-0.8), D)
        yield Case("scaled_closed", scale * np.cumsum(k**-1.7), C, facts={"exponent": 0.7})
        yield Case("scaled_power", scale * (1 + k**-1.5), C, facts={"limit": scale, "exponent": 1.5})
        yield Case("scaled_wave", scale * (2 + np.sin(0.7 * k)), "OSCILLATING", facts={"period": 2 * math.pi / 0.7})


GENERATORS = (shifted, slow_maps, scaled)
