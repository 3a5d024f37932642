"""Cycles that are seen once and again, and records that only look like them."""

import numpy as np

from workbench.analysis import TerminationMonitor
from workbench.analysis.forecast.endless.returns import returns_clear


def _ask(values, op, threshold):
    monitor = TerminationMonitor()
    for v in values:
        monitor.observe({"x": float(v)}, True, [(float(v), op, threshold)])
    return monitor.prediction()


def _hunted(h, n):
    """The prey of Rosenzweig and MacArthur's saturated hunters, sampled every ``h``."""
    x, y, out = 0.6, 0.3, []
    for _ in range(n):
        out.append(x)
        for _ in range(20):
            eaten = x * y / (0.3 + x)
            x, y = x + h / 20 * (2.0 * x * (1 - x) - 1.8 * eaten), y + h / 20 * (1.2 * eaten - 0.5 * y)
    return np.array(out)


def test_sharp_returns_are_read_from_the_logarithm():
    """The least prey of a cycle that has nearly settled: its returns grow alike, and are far above the bound."""
    prey = _hunted(0.9, 50)
    assert returns_clear(prey - 0.008, 0.008) is not None
    answer = _ask(prey, ">", 0.008)
    assert answer.outcome == "never"


def test_what_fell_and_grows_may_fall_again():
    """A residual of a matrix far from normal grows for a while: 17 values of it are no reason for a never."""
    m, r, out = 0.9 * np.eye(6) + 0.35 * np.eye(6, k=1), np.r_[np.zeros(5), 1.0], []
    for _ in range(17):
        out.append(float(np.linalg.norm(r)))
        r = m @ r
    assert out[-1] > out[4] and _ask(out, ">", 1e-3).outcome != "never"


def test_no_limit_that_was_passed():
    """Momentum's size, at its first turn: it falls from what a law takes for its limit."""
    x, v, out = 1.5, 0.0, []
    for _ in range(21):
        out.append(abs(x) + abs(v))
        v = 0.9 * v - 0.1 * x
        x += v
    k = np.arange(21.0)
    hill = 7.5 - 0.015 * (k - 18.5) ** 2
    assert _ask(hill, ">", 5e-4).outcome != "never" and _ask(out, ">", 5e-4).outcome != "never"
