"""The first crossing of a threshold by an operand without an exact law: fit, hold out, extrapolate, estimate doubt.

The best law of ``law_selection`` is fitted again to all values and followed to the threshold; noise has a first passage
instead (``first_passage``).  How far its answer moved from the one before the last quarter, and where its nearest
rivals cross, give the width of the interval before calibration (``calibrated_intervals``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.analysis.forecast.calibrated_intervals import ahead_doubt, interval, law_class
from workbench.analysis.forecast.first_passage import changed_at_last, passage
from workbench.analysis.forecast.laws.law_selection import EXACT, GROUPS, Fitted, Law, again, try_all
from workbench.analysis.laws.posterior import LEAST
from workbench.kernels.laws import is_noisy, settled, slope

#: A law with a larger error is refused.
WORST = 0.2
#: The same for records of fewer than 16 values, which fit by chance.
SHORT = 0.02
#: From here on the record is asked whether it is noise.
ROUGH = 1e-3
#: The same of few values, where a law holds roughly until it is settled.
FAIR = 5e-3
#: An end farther than this many times the record's length is far.
FAR = 20
#: An end farther than this many times the record's length is not told from a zero that lies within the record's error.
PASSES = 8
#: Of fewer values the last steps are continued where no law holds.
FEW = 12
#: Noise of fewer values has one first passage only.
FEWEST_TWICE = 20


@dataclass
class Crossing:
    """``k`` iterations from now (inf: the law never crosses), ``low`` to ``high`` 90 %; error of the free run."""

    k: float
    low: float
    high: float
    law: str
    error: float
    spread: float
    #: where the law ends up, and where the one fitted without the last quarter did: the limit and its error
    limit: float = math.nan
    earlier: float = math.nan
    #: class and half widths before calibration
    kind: str = ""
    below: float = 0.0
    above: float = 0.0
    #: the law's next values, as far as it may be trusted without a new fit
    ahead: np.ndarray | None = None
    #: for how many further values an answer about noise is good enough
    lasts: int = 0


def forecast_crossing(x: np.ndarray, op: str, t: float, eps: float = 2.2e-16) -> Crossing | None:
    """The iteration at which ``x op t`` first fails, None if no law holds; x: 3 or more finite float64 values."""
    n = len(x)
    # of a record that has come to rest within its rounding, or repeats itself, no law's crossing is real
    if n < 3 or not math.isfinite(t) or settled(x, eps) is not False:
        return None
    held = max(1, n // 4)
    with np.errstate(all="ignore"):
        shown = _residual(x, op, t) if n >= 16 else None
        noisy = shown is not None and is_noisy(shown[0])
        # the dips of a norm look like noise, and only its square shows the rule
        tried = try_all(x, held, eps, GROUPS[-2:] if noisy else GROUPS)
        good = tried[0].error if tried else math.inf
        if noisy and good > ROUGH and shown is not None:
            found = _noisy(*shown, eps == 0.0 and shown[0] is not x)
            if found is not None:
                return found
            tried = try_all(x, held, eps)
            good = tried[0].error if tried else math.inf
        if good < (WORST if n >= 16 else SHORT if n >= 4 else 1e-9):
            return _follow(x, held, tried, eps, op, t)
        return _last_steps(x, op, t) if n < FEW else None


def _follow(x: np.ndarray, held: int, tried: list[Fitted], eps: float, op: str, t: float) -> Crossing | None:
    for best in tried[:3]:
        law = again(x, best)
        k = law.first(op, t) if law is not None else None
        if law is None or k is None:
            continue
        # a flexible law follows any curve a while, and its far end is its own; of few values it follows any at all
        far = len(x) * 10 < k < math.inf and law.parameters >= 6
        few = len(x) < 3 * law.parameters
        if best.error < (1e-10 if far or few else WORST):
            break
    else:
        return None
    if k > PASSES * len(x) and _passes_zero(law, k, x, op, t, eps):
        return None
    if math.isfinite(k) and best.error > (ROUGH if len(x) >= FEW else FAIR) and len(x) >= LEAST:
        return None  # all declared laws together know better than one that holds roughly
    before = best.law.first(op, t)
    others = [] if before is None else [before - held]
    for rival in [r for r in tried[:4] if r is not best and r.score < 4 * best.score and best.error > EXACT]:
        other = rival.law.first(op, t)
        if other is not None:
            others.append(other - held)
    if math.isinf(k):
        # one rival that crosses is enough to doubt
        near = [v for v in others if math.isfinite(v)]
        limit, earlier = _end(law, float(x[-1])), _end(best.law, float(x[-1]))
        low = min(near, default=math.inf)
        return Crossing(math.inf, low, math.inf, best.law.name, best.error, math.inf, limit, earlier)
    spread = max((abs(k - v) for v in others if math.isfinite(v)), default=0.0)
    half = max(spread, best.error * k)
    doubt = max(half, ahead_doubt(k, len(x), best.error, best.law.parameters))
    kind = law_class(len(x), best.error, best.law.parameters, doubt)
    if kind == "exact":
        kind += _beyond(x, k, best.start, eps, op, t)
    found = _banded(k, half, len(x), kind, best.law.name, best.error, spread)
    if len(x) >= 16:
        found.ahead = law.values(int(min(k, len(x) // 8)))
    if k > len(x) and _by_newton(x, op, t):
        # where the rate ends, half a dozen steps double the digits
        found.low, found.high, found.kind = 1.0, found.high + 6.0, "newton-rate"
    return found


def _beyond(x: np.ndarray, k: float, start: int, eps: float, op: str, t: float) -> str:
    """Class of a law that holds to the last digits where more than its digits is needed: "" or a suffix.

    A residual below the rounding of its largest values may rest there; an end many times as far as the record is long
    may be that of another law; and a law that holds on the last part of the record only was another one before.
    """
    if _below_digits(x, op, t, eps):
        return "-deep"
    if k > FAR * len(x):
        return "-far"
    return "-late" if start else ""


def _below_digits(x: np.ndarray, op: str, t: float, eps: float) -> bool:
    """True if a residual is asked about a threshold below the last digits of its largest value."""
    return op in (">", ">=") and 0.0 < t < eps * float(np.abs(x).max())


def _passes_zero(law: Law, k: float, x: np.ndarray, op: str, t: float, eps: float) -> bool:
    """True if a law of a residual meets a threshold below the record's last digits because it passes zero there.

    Such a law tends to a number below zero, or bends to it, by less than the record can tell; one that falls to zero by
    factors fits as well, and gets there much later.
    """
    if not math.isfinite(k) or not _below_digits(x, op, t, eps):
        return False
    at_zero = law.first(">", 0.0)
    return at_zero is not None and at_zero <= k + 1


def _by_newton(x: np.ndarray, op: str, t: float) -> bool:
    """True if a residual falls as Newton's method makes it fall far from its root: the end comes sooner then.

    Far away only the leading power m counts: steps shrink by 1 - 1/m, and the function by the m-th power of that. At a
    root of multiplicity m it goes on so; at a simple one it does not, and nothing in the record says when.  A short
    decimal is somebody's factor.
    """
    if op not in (">", ">=") or t < 0 or len(x) < 4 or not (x[-6:] > 0).all():
        return False
    ratios = x[-5:] / x[-6:-1] if len(x) > 5 else x[1:] / x[:-1]
    rate = float(ratios[-1])
    if not 0.2 < rate < 0.985 or float(np.ptp(ratios)) > (1e-9 if len(x) > 5 else 1e-4) * rate:
        return False
    m = 1.0 / (1.0 - rate)
    if rate > 0.6 and len(x) > 5 and abs(m - round(m)) < 1e-6 * m and abs(1e3 * rate - round(1e3 * rate)) > 1e-6:
        return True
    return any(abs(rate - (1.0 - 1.0 / m) ** m) < 1e-4 * rate for m in (2, 3, 4, 5, 6)) and float(np.ptp(ratios)) > 0.0


def _end(law: Law, last: float) -> float:
    """Limit of the law; NaN if it has none within the iterations that can be followed, like a sum of 1/k."""
    if law.is_map:
        values = law.values(4096)
        before, end = float(values[-1024]), float(values[-1])
    else:
        before, end = (float(v) for v in law.at(np.array([10**9, 10**12])))
    return end if abs(end - before) <= 1e-3 * abs(end - last) + 1e-15 * abs(end) else math.nan


def _banded(k: float, half: float, n: int, kind: str, law: str, error: float, spread: float) -> Crossing:
    low, high = interval(k, half, half, n, kind)
    return Crossing(k, low, high, law, error, spread, kind=kind, below=half, above=half)


def _residual(x: np.ndarray, op: str, t: float) -> tuple[np.ndarray, float] | None:
    """(y, mark): the record as something that falls to a mark, in the logarithm if it is a residual; None for !=."""
    if op not in (">", ">=", "<", "<="):
        return None
    if op in ("<", "<="):
        return -x, -t
    if t > 0 and (low := float(x.min())) > 0 and (float(x.max()) > 2.0 * low or t < 0.5 * low):
        return np.log(x), math.log(t)
    return x, t


def _noisy(y: np.ndarray, mark: float, counts: bool) -> Crossing | None:
    """First passage of noise; how far it moved with the last quarter of the record shows if it is of the kind thought.

    A residual that swings, or of several modes, is noise to every test here, and its passage comes sooner or later.
    ``counts``: y is the logarithm of whole numbers that fall, whose noise grows to the root of one over their number.
    """
    late = changed_at_last(y)
    found = passage(late, mark)
    if found is None or not math.isfinite(found.median):
        return None
    held = len(late) // 4
    before = passage(late[: len(late) - held], mark) if len(late) >= FEWEST_TWICE else None
    moved = before.median - held - found.median if before is not None and math.isfinite(before.median) else 0.0
    if found.kind == "noise-power":
        moved = min(moved, _steady(late, mark) - found.median)
    few = 1.645 * math.exp(-0.5 * max(mark, 0.0)) * found.median / max(float(y[-1]) - mark, 1e-9) if counts else 0.0
    below = math.hypot(max(found.median - found.low, -moved, 0.0), few)
    above = math.hypot(max(found.high - found.median, moved), few)
    low, high = interval(found.median, below, above, len(y), found.kind)
    return Crossing(
        found.median, low, high, found.what, 1.0, 0.0, kind=found.kind, below=below, above=above, lasts=len(y) // 16
    )


def _steady(y: np.ndarray, mark: float) -> float:
    """Iterations to the mark by the straight trend of the last third; inf where it does not lead there."""
    b, error = slope(y[-max(len(y) // 3, 6) :])
    return (float(y[-1]) - mark) / -b if b < -3.0 * error else math.inf


def _last_steps(x: np.ndarray, op: str, t: float) -> Crossing | None:
    """No law holds of few values of a residual: its last steps are continued, a guess with an interval to match."""
    if op not in (">", ">=") or t <= 0 or not (x > 0).all():
        return None
    y, mark = np.log(x), math.log(t)
    d = y[1:] - y[:-1]
    if not (d[-3:] < 0).all():
        return None
    ks = [(float(y[-1]) - mark) / -float(d[-m:].mean()) for m in (1, 2, len(d))]
    half = max(abs(v - ks[0]) for v in ks)
    return _banded(float(math.ceil(ks[0])), half, len(y), "guess", "the last steps", 0.5, 0.0)
