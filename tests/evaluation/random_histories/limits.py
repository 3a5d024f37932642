"""Random histories that converge, with the iteration from which they stay within a tolerance of their limit.

``python -m tests.evaluation.random_histories.limits [EACH]`` prints how often ``iterations_to_tolerance`` is within
10 % of it, asked at 10, 30 and 50 % of that iteration (five values at least), and how often its interval holds it.
"""

from __future__ import annotations

import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from tests.evaluation.random_loops.families import log_uniform
from workbench.analysis import iterations_to_tolerance

LENGTH = 6000
Maker = Callable[[np.random.Generator], tuple[np.ndarray, float]]


def _geometric(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    limit, rate = float(rng.normal()), 1 - log_uniform(rng, 3e-3, 0.3)
    return limit + rng.normal() * rate ** np.arange(LENGTH), limit


def _two_modes(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    limit, rate, k = float(rng.normal()), 1 - log_uniform(rng, 5e-3, 0.3), np.arange(LENGTH)
    return limit + rate**k + rng.uniform(-0.9, 2) * (rate * rng.uniform(0.3, 0.95)) ** k, limit


def _alternating(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    limit, rate = float(rng.normal()), log_uniform(rng, 3e-3, 0.3) - 1
    return limit + rng.normal() * rate ** np.arange(LENGTH), limit


def _damped(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    limit, rate, k = float(rng.normal()), 1 - log_uniform(rng, 5e-3, 0.2), np.arange(LENGTH)
    return limit + rate**k * np.cos(rng.uniform(0.1, 2.8) * k + rng.uniform(0, 6)), limit


def _iterate(f: Callable[[float], float], x: float) -> np.ndarray:
    out = [x]
    for _ in range(LENGTH - 1):
        out.append(float(f(out[-1])))
    return np.array(out)


def _fixed_point(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    a, b = float(rng.uniform(0.7, 0.98)), float(rng.uniform(-2, 2))
    x = _iterate(lambda v: a * np.cos(v) + b, 1.0)
    return x, float(x[-1])


def _newton(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    a = log_uniform(rng, 0.01, 1e8)
    x = _iterate(lambda v: 0.5 * (v + a / v), log_uniform(rng, 0.1, 1e8))
    return x, float(np.sqrt(a))


def _power(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    limit, p, k0 = float(rng.normal()), float(rng.uniform(0.5, 2.5)), float(rng.uniform(1, 10))
    return limit + rng.choice([-1, 1]) * (np.arange(LENGTH) + k0) ** -p, limit


def _sums(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    p = float(rng.choice([2.0, 3.0, 4.0]))
    limit = {2.0: np.pi**2 / 6, 3.0: 1.2020569031595942, 4.0: np.pi**4 / 90}[p]
    return np.cumsum(np.arange(1.0, LENGTH + 1) ** -p), float(limit)


def _sublinear_map(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    q, c = float(rng.choice([2.0, 3.0, rng.uniform(1.6, 3)])), float(rng.uniform(0.1, 0.9))
    return _iterate(lambda v: v - c * v**q, 1.0), 0.0


def _momentum(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    h, lr, beta, target = log_uniform(rng, 0.02, 1), float(rng.uniform(0.1, 1)), float(rng.uniform(0.5, 0.97)), 2.0
    x, v, out = 0.0, 0.0, []
    for _ in range(LENGTH):
        out.append(x)
        v = beta * v - lr * h * (x - target)
        x += v
    return np.array(out), target


def _noisy_decay(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    rate = 1 - log_uniform(rng, 3e-3, 0.05)
    return rate ** np.arange(LENGTH) * np.exp(rng.normal(size=LENGTH) * float(rng.uniform(0.02, 0.3))), 0.0


FAMILIES: dict[str, Maker] = {
    f.__name__.lstrip("_"): f
    for f in (
        _geometric,
        _two_modes,
        _alternating,
        _damped,
        _fixed_point,
        _newton,
        _power,
        _sums,
        _sublinear_map,
        _momentum,
        _noisy_decay,
    )
}


def draw(name: str, seed: int) -> tuple[np.ndarray, float, int]:
    """(values, tolerance, first iteration from which they stay within it); that lies between 8 and 5000."""
    for attempt in range(500):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed, attempt])
        with np.errstate(all="ignore"):
            x, limit = FAMILIES[name](rng)
        tol = 10.0 ** float(rng.uniform(-9, -2)) * max(1.0, abs(limit))
        outside = np.flatnonzero(~(np.abs(x - limit) <= tol))
        if outside.size and (8 if name == "newton" else 20) <= outside[-1] + 1 <= 5000 and np.all(np.isfinite(x)):
            return x, tol, int(outside[-1]) + 1
    raise AssertionError(f"family {name} draws no history of a fitting length")


def answers(each: int, seed: int = 0) -> Iterator[tuple[str, int, bool, bool | None]]:
    """(family, per cent, within 10 %, interval holds) for each question; None without an answer."""
    for name in FAMILIES:
        for i in range(each):
            x, tol, truth = draw(name, seed + i)
            for percent in (10, 30, 50):
                f = iterations_to_tolerance(x[: max(5, truth * percent // 100)], tol)
                close = f is not None and abs(f.iteration - truth) <= 0.1 * truth
                yield name, percent, close, None if f is None else f.low <= truth <= f.high


def main() -> None:
    close: defaultdict[tuple[str, int], list[bool]] = defaultdict(list)
    holds: defaultdict[str, list[bool]] = defaultdict(list)
    for name, percent, good, held in answers(int(sys.argv[1]) if len(sys.argv) > 1 else 40):
        for key in (name, "= all"):
            close[key, percent].append(good)
            if held is not None:
                holds[key].append(held)
    print("family            within 10 %: at 10 %  30 %  50 %   interval holds")
    for name in (*FAMILIES, "= all"):
        cells = "  ".join(f"{100 * np.mean(close[name, p]):5.1f}" for p in (10, 30, 50))
        print(f"{name:28s}{cells}   {100 * np.mean(holds[name]) if holds[name] else 0:5.1f} of {len(holds[name])}")


if __name__ == "__main__":
    main()
