"""Step 6: linear prediction, AR(1) to AR(8) on the differences.

One model covers geometric, alternating, momentum (two complex modes), sine and drift.  It is accepted only if a free
run over the last 40 % of the window, started from the values before it, stays within 2 %.  The dominant root decides.
Fails on power laws (roots crowd at 1; step 5 is asked as well and the better prediction wins), on noise and on maps.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.evolution import Finding, Pattern
from workbench.analysis.history import WINDOW, History
from workbench.analysis.models import LinearRecurrence

TOLERANCE = 0.02


def _rows(d: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Regression rows (d[t-1] .. d[t-p]) and targets d[t], each weighted by the local size of the differences."""
    n = len(d)
    X = np.column_stack([d[p - 1 - i : n - 1 - i] for i in range(p)])
    y = d[p:]
    size = np.maximum(np.abs(X).max(axis=1), np.abs(y))
    w = 1.0 / np.maximum(size, 1e-300)
    return X * w[:, None], y * w


def _solve(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(X, y, rcond=1e-13)[0]


def _free_run(a: list[float], start: list[float], n: int) -> np.ndarray:
    """n differences continued from the last len(a) of ``start`` (newest last)."""
    recent = start[::-1][: len(a)]
    out: list[float] = []
    for _ in range(n):
        value = math.fsum(c * v for c, v in zip(a, recent, strict=True))
        if abs(value) > 1e12:
            value = math.inf
            return np.array(out + [value] * (n - len(out)))
        out.append(value)
        recent = [value] + recent[:-1]
    return np.array(out)


def hold_out_error(d: np.ndarray, p: int) -> float:
    """Relative rms error of the free run over the last 40 %, worst of its two halves; inf where it cannot be asked."""
    n = len(d)
    cut = int(0.6 * n)
    if cut < (2 * p + 1 if p < 3 else 3 * p) or n - cut < 2:
        return math.inf
    a = _solve(*_rows(d[:cut], p))
    run = _free_run(a.tolist(), d[:cut].tolist(), n - cut)
    if not np.all(np.isfinite(run)):
        return math.inf
    e, half = run - d[cut:], (n - cut) // 2
    worst = 0.0
    for part in (slice(0, half), slice(half, None)):
        size = float(np.sqrt(np.mean(d[cut:][part] ** 2)))
        worst = max(worst, float(np.sqrt(np.mean(e[part] ** 2))) / max(size, 1e-300))
    return worst


def modes(d: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """(z, c): roots of the model refitted to all differences, and each mode's share of the last difference."""
    a = _solve(*_rows(d, p))
    z = np.roots(np.concatenate([[1.0], -a]))
    z = z[np.abs(z) > 1e-8] if np.any(np.abs(z) > 1e-8) else np.array([0.0])
    m = min(len(d), max(2 * len(z), 4))
    # d[n-1-i] = sum c z**-i; rows are scaled so that early values, where fast modes are large, do not drown the rest
    inverse = np.where(np.abs(z) > 0, 1.0 / np.where(z == 0, 1, z), 0)
    V = inverse[None, :] ** np.arange(m)[:, None]
    w = 1.0 / np.maximum(np.abs(V).max(axis=1), np.abs(d[::-1][:m]) / max(np.abs(d[-1]), 1e-300))
    c = np.linalg.lstsq(V * w[:, None], d[::-1][:m] * w, rcond=1e-14)[0]
    return z, c


def linear_prediction(h: History, end: int) -> Finding | None:
    """The verdict of the smallest accepted model of the first ``end`` differences, or of their last half or quarter."""
    d = h.d[:end]
    for window in (WINDOW, min(WINDOW, len(d)) // 2, min(WINDOW, len(d)) // 4):
        part = d[-window:] if window else d[:0]
        if len(part) < (6 if window == WINDOW else 12):
            return None
        accepted, best = 0, math.inf
        for p in range(1, 9):
            error = hold_out_error(part, p)
            if error < TOLERANCE and (not accepted or error < 0.05 * best):
                accepted, best = p, error
            if accepted and (best < 1e-6 or p >= accepted + 2):
                break
        if accepted:
            found = _verdict(h, part, accepted, best, end)
            if found is not None and len(part) < min(WINDOW, len(d)):
                # what holds only at the end may be an episode
                found.doubt = max(found.doubt, 0.2 if len(part) >= 32 else 0.3)
            return found
    return None


def slow_root(d: np.ndarray, p: int) -> float:
    """Modulus of the loudest slow root of the last window of ``d``."""
    z, c = modes(d[-WINDOW:], p)
    loud = np.abs(c) > 1e-3 * np.abs(c).max()
    return float(np.abs(z[loud]).max())


def _verdict(h: History, d: np.ndarray, p: int, error: float, end: int) -> Finding | None:
    z, c = modes(d, p)
    weight = np.abs(c)
    if not np.all(np.isfinite(weight)) or weight.max() == 0:
        return None
    # a growing mode of little weight may be an artefact of the fit; a decaying one is only slow or fast
    loud = weight > np.where(np.abs(z) > 1.0, max(1e-3, min(0.3, 100 * error)), 1e-4) * weight.max()
    dominant = complex(z[loud][np.argmax(np.abs(z[loud]))])
    size = abs(dominant)
    last = float(h.x[end])
    free = max(2.0, 0.4 * len(d))
    slack = max(1e-9, 10.0 * p * error / free)
    drift = loud & (np.abs(z - 1.0) <= max(slack, 1e-6)) & (weight > 0.01 * weight.max())
    if np.any(drift) and size <= 1.0 + slack:
        dominant, size = 1.0 + 0j, 1.0
    model = LinearRecurrence(last, z, c, dominant, error, p)
    size_d = np.abs(d)
    quarter = len(d) // 4
    falling = quarter >= 2 and float(size_d[-quarter:].max()) < 0.7 * float(size_d[:-quarter].max()) and error > 1e-6
    if falling and size > 1.0 - slack:
        return None  # the fit contradicts what the differences do
    real = abs(dominant.imag) < 1e-9 * max(size, 1e-9)
    period = None if real else 2 * math.pi / abs(math.atan2(dominant.imag, dominant.real))
    text = (
        f"A linear recurrence of order {p} predicts the last 40 % within {error:.1g}; "
        f"its dominant root has modulus {size:.6g}"
    )
    if size < 1.0 - slack:
        limit = model.limit if model.limit is not None else last
        earlier = max(1, len(d) // 5)
        try:
            z2, c2 = modes(d[:-earlier], p)
            other = LinearRecurrence(
                float(h.x[end - earlier]), z2, c2, complex(z2[np.argmax(np.abs(z2))]), error, p
            ).limit
        except np.linalg.LinAlgError:
            other = None
        spread = abs(limit - other) if other is not None else abs(limit - last)
        noise = 2 * float(h.ulp(last)) / (1.0 - size)
        return Finding(
            Pattern.CONVERGING,
            "linear_prediction",
            text + ", below 1.",
            model,
            rate=size,
            limit=limit,
            limit_error=spread * size ** min(earlier, 1000) + noise,
        )
    if size > 1.0 + slack:
        return Finding(Pattern.DIVERGING, "linear_prediction", text + ", above 1.", model, rate=size)
    if real and dominant.real > 0:
        return Finding(Pattern.DIVERGING, "linear_prediction", text + ": a steady drift.", model, rate=1.0)
    period = 2.0 if real or period is None else period
    if period > 4.0 * len(d):
        return None
    return Finding(
        Pattern.OSCILLATING,
        "linear_prediction",
        text + f": an undamped oscillation of period {period:.6g}.",
        model,
        period=period,
        doubt=0.3 if period > len(d) else 0.0,
    )
