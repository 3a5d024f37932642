"""Random histories of known truth: the same kinds of loop as the corpus, with every parameter drawn.

``histories(seed)`` is endless and deterministic.  The truth follows from how the values were made: the label, and where
they are known the rate, limit, exponent, order and period.  ``quarter`` says that the first quarter of the record has
the same truth (no event, transient or noise floor decides it later).  Parameters between two truths are not drawn:
exponents of sums in 1.0 .. 1.15, maps whose Lyapunov exponent is near 0, noise whose approach is within its spread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.evaluation.random_histories import dynamics as dynamics
from tests.evaluation.random_histories import growth as growth
from tests.evaluation.random_histories import noise as noise
from tests.evaluation.random_histories import signals as signals
from tests.evaluation.random_histories import solvers as solvers
from tests.evaluation.random_histories.base import D, Drawn, Rng

FAMILIES: tuple[Callable[[Rng], Drawn], ...] = (
    solvers.newton,
    solvers.secant,
    solvers.fixed_point,
    solvers.fixed_point,
    solvers.power_iteration,
    solvers.relaxation,
    solvers.descent,
    solvers.descent,
    signals.damped,
    noise.sgd,
    noise.sgd_decay,
    noise.still_noise,
    noise.noisy_growth,
    noise.noisy_approach,
    noise.noisy_sine,
    signals.cycle,
    signals.sine,
    signals.two_sines,
    signals.square_wave,
    signals.limit_cycle,
    signals.two_cycle,
    signals.logistic,
    signals.logistic,
    signals.maps,
    signals.maps,
    signals.lorenz,
    growth.power_sum,
    growth.power_sum,
    growth.power_sum,
    growth.counter,
    growth.counter,
    growth.growth,
    growth.collapse,
    growth.constant,
    growth.broken,
    solvers.bisection,
    solvers.residual_floor,
    solvers.series,
    solvers.stepped,
    noise.random_walk,
    noise.quantised,
    *dynamics.FAMILIES,
)


#: Families whose truth survives a large offset and fewer digits.
_SMOOTH = {
    *("newton", "secant", "fixed_point", "power_iteration", "sor", "descent", "damped", "sgd", "noise", "noisy_sine"),
    *("sine", "two_sines", "cycle", "limit_cycle", "two_cycle", "logistic", "henon", "tent", "sine_map", "lorenz"),
    *("sum_with_limit", "power_law", "alternating_sum", "sgd_decay", "running_mean", "noisy_approach"),
    *("log_series", "exp_series", "agm", "continued_fraction", "noisy_counter", "growing_oscillation", "random_walk"),
}


def _changed(rng: Rng, h: Drawn) -> Drawn:
    """One in five histories gets an offset far larger than its movement, one in five a dtype of fewer digits."""
    kind = rng.random()
    if h.family not in _SMOOTH or kind > 0.4 or h.values.dtype != np.float64:
        return h
    width = float(np.ptp(h.values))
    top = float(np.max(np.abs(h.values)))
    if kind < 0.2 and 1e-200 < width < 1e200:
        offset = width * 10.0 ** rng.uniform(0, 5)
        facts = {k: v + offset if k == "limit" else v for k, v in h.facts.items() if k in ("limit", "period")}
        return Drawn(h.family + "+offset", h.values + offset, h.label, facts, h.quarter)
    if kind >= 0.2 and 1e-3 < top < 1e4 and width > 0.1 * top and h.family not in ("noisy_counter", "random_walk"):
        dtype = np.float32 if kind < 0.32 or h.family == "logistic" or h.label == D else np.float16
        facts = {k: v for k, v in h.facts.items() if k == "period"}
        return Drawn(f"{h.family}+{np.dtype(dtype).name}", h.values.astype(dtype), h.label, facts, h.quarter)
    return h


def histories(seed: int, count: int) -> Iterator[Drawn]:
    """``count`` histories, family after family; the same for the same seed."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        yield _changed(rng, FAMILIES[i % len(FAMILIES)](rng))
