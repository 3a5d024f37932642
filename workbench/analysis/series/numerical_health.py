"""Step 1 and numerical health: NaN and Inf first, then overflow, stagnation, vanishing and cancellation."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.result import Evolution, Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits


def first_bad(h: History) -> dict[str, int]:
    """Iterations of the first NaN and the first Inf."""
    places = (("nan", h.first_nan), ("inf", h.first_inf))
    return {slug: at + h.start for slug, at in places if at >= 0}


def nonfinite(h: History) -> Finding | History | None:
    """A finding if the record ends with NaN or Inf; the finite tail if it is finite again; None if all values are
    finite.

    A record that returned to finite numbers for a quarter of its length (and 8 values) is judged by that tail.
    """
    if not h.bad:
        return None
    after = len(h) - 1 - h.last_bad
    if after >= max(8, len(h) // 4):
        return h.tail(after)
    first = min(at for at in (h.first_nan, h.first_inf) if at >= 0)
    kind = "NaN" if np.isnan(h.raw[first]) else "infinite"
    if first == 0:
        return Finding(Pattern.DIVERGING, "nonfinite", f"The first value of the record is {kind} already.", doubt=0.5)
    before = h.raw[:first]
    grew = first >= 2 and abs(before[-1]) >= abs(before[0])
    cause = "after growing" if grew else "without having grown before"
    why = (
        f"The value is {kind} from iteration {first + h.start} on, {cause}; the last finite value is {before[-1]:.6g}."
    )
    return Finding(Pattern.DIVERGING, "nonfinite", why, doubt=0.0 if grew or kind == "infinite" else 0.2)


def overflow_eta(h: History, rate: float | None) -> int | None:
    """Iteration at which a geometric growth leaves the dtype, or None if it does not within 10 records."""
    if rate is None or rate <= 1.0 or h.integral or h.raw[-1] == 0:
        return None
    left = (math.log(h.largest) - math.log(abs(float(h.raw[-1])))) / math.log(rate)
    return h.total - 1 + math.ceil(left) if 0 < left < 10 * h.total + 1000 else None


def trouble(h: History, found: Evolution) -> tuple[dict[str, int], list[str]]:
    """Threats to a finite record: ``exploding``, ``vanishing`` and ``cancellation``, each with a sentence."""
    if h.integral or len(h) < 8:
        return {}, []
    if found.label is Pattern.DIVERGING:
        return _exploding(h, found.rate)
    if found.label in (Pattern.CONVERGING, Pattern.STABLE) and abs(float(h.x[-1])) < 2.0**-8:
        issues, why = _cancellation(h)
        still = found.method in ("constant_tail", "settled", "floor", "level", "noise_ball")
        elsewhere = found.limit is not None and abs(found.limit) > 0.1 * float(np.max(np.abs(h.raw[-8:])))
        return (issues, why) if issues or still or elsewhere else _vanishing(h, found.rate)
    return {}, []


def _steady_log(h: History) -> float | None:
    """Mean logarithmic growth of |x| over the last half, if both halves of it grow equally; None if not geometric."""
    n = len(h)
    quarter = max(3, min(n // 4, 64))
    if n < 2 * quarter + 1:
        return None
    ends = [abs(float(h.x[n - 1 - i * quarter])) for i in range(3)]
    tops = [float(np.max(np.abs(h.x[n - quarter - i * quarter : n - i * quarter]))) for i in range(2)]
    if 0.0 in ends or 0.0 in tops:
        return None
    late, early = math.log(ends[0] / ends[1]) / quarter, math.log(ends[1] / ends[2]) / quarter
    if abs(late - early) < 0.1 * abs(late):
        return late
    # for an oscillation, only the envelope
    return None if abs(late) > 3 * abs(early) else math.log(tops[0] / tops[1]) / quarter


def _exploding(h: History, rate: float | None) -> tuple[dict[str, int], list[str]]:
    if rate is None or rate < 1.001 or h.raw[-1] == 0:
        return {}, []  # a counter grows too, but not by a factor
    growth = math.log(rate)
    left = (math.log(h.largest) - math.log(abs(float(h.raw[-1])))) / growth
    if not 0 < left < 10 * h.total + 1000:
        return {}, []
    at = h.total - 1 + math.ceil(left)
    text = f"Exploding: |x| grows by {math.exp(growth):.4g} each iteration and leaves {h.dtype.name} at iteration {at}."
    return {"exploding": at}, [text]


def _vanishing(h: History, rate: float | None) -> tuple[dict[str, int], list[str]]:
    """The issue and its sentence if |x| shrinks geometrically to below the smallest normal number of the dtype, or is
    already below it; else nothing.
    """
    normal = h.smallest_normal
    size = np.abs(h.raw)
    if 0 < size[-1] < normal <= size[0]:
        first = len(h) - fits.close_run((size < normal).astype(np.float64), 0.0) + h.start
        text = f"Vanishing: |x| is below the smallest normal {h.dtype.name} ({normal:.2g}) from iteration {first} on."
        return {"vanishing": first}, [text]
    growth = math.log(rate) if rate is not None and 0 < rate < 1 else _steady_log(h)
    if growth is None or growth > -1e-3 or size[-1] == 0:
        return {}, []
    left = (math.log(float(size[-1])) - math.log(normal)) / -growth
    if not 0 < left < 10 * h.total + 1000:
        return {}, []
    at = h.total - 1 + math.ceil(left)
    text = (
        f"Vanishing: |x| shrinks by {math.exp(growth):.4g} each iteration and falls below the smallest normal "
        f"{h.dtype.name} ({normal:.2g}) at iteration {at}."
    )
    return {"vanishing": at}, [text]


def _cancellation(h: History) -> tuple[dict[str, int], list[str]]:
    """The issue and its sentence if values shrank but kept the spacing of larger numbers, or ended in noise of the size
    of the first values' rounding.

    The first case is certain: the last values are multiples of one power of two, which stays fixed while they shrink,
    as for differences of rounded numbers. The second is typical of norms of such differences: at least ten values at
    the end are noise of a quarter to a thousand eps of the largest, which neither shrinks nor can be predicted.
    """
    n = len(h)
    count = max(8, min(n // 4, 64))
    first = max(0, n - count)
    lowest, values, close = fits.lattice(h.x, first, n)
    if values < 2:
        return {}, []
    last = abs(float(h.x[-1])) or math.ldexp(1.0, lowest)
    kept = max(1, int(math.log2(last)) - lowest + 1)
    window = np.abs(h.x[first:])
    if values >= 8 and close >= 0.6 * values and lowest < -20 and kept <= h.digits - 10 and _shrinks(window):
        limit = 2.0 ** (lowest + h.digits // 2)
        over = np.flatnonzero(np.abs(h.x) > limit)
        at = h.start + (int(over[-1]) + 1 if over.size else 0)
        unit = h.unscale(2.0**lowest)
        text = (
            f"Cancellation: the values are multiples of {unit:.3g}, the spacing of the numbers subtracted for them; "
            f"{kept} of {h.digits} binary digits are left."
        )
        return {"cancellation": at}, [text]
    sizes = np.abs(h.x)
    level = float(np.median(sizes[-6:]))
    run = fits.close_run((sizes > 6 * level).astype(np.float64), 0.0)
    tail = sizes[n - run :]
    if not 10 <= run < n or not h.eps / 4 < level < 1000 * h.eps or not np.all(tail > 0):
        return {}, []
    # noise keeps its level and follows no rule: values that still shrink, or can be predicted, have valid digits
    logs, k = np.log(tail), np.arange(run) - (run - 1) / 2
    slope = float(k @ logs) / float(k @ k)
    rest = logs - logs.mean() - slope * k
    deviation = math.sqrt(float(rest @ rest) / (run - 2) / float(k @ k))
    if slope < -1.5 * deviation or fits.linear_orders(h.d, n - run, n - 1, 0.2)[0]:
        return {}, []
    size = level
    text = (
        f"Cancellation: the last {run} values are noise of {h.unscale(size):.2g}, {size / h.eps:.2g} roundings of the "
        "largest value: what was subtracted to get them had no digits left."
    )
    return {"cancellation": n - run + h.start}, [text]


def _shrinks(window: np.ndarray) -> bool:
    """True if the magnitudes span a factor of 8 or more, by falling or by scattering."""
    moving = window[window > 0]
    return len(moving) > 0 and float(moving.max()) >= 8.0 * float(moving.min())


def stagnation(h: History) -> int | None:
    """Iteration from which steps of nearly one size were lost to rounding (8 ulp or less, then exactly none); or None.

    This happens to a counter too large for its dtype: float32 absorbs + 1 at 2**24.
    """
    if h.integral or len(h) < 6:
        return None
    if h.d[-1] != 0 or h.d[-2] != 0:
        return None
    last = fits.last_moved(h.d) - 1
    if last < 0:
        return None
    steps = np.abs(h.d[max(0, last - 7) : last + 1])
    if len(steps) < 3 or np.any(steps == 0) or np.ptp(np.sign(h.d[max(0, last - 7) : last + 1])) != 0:
        return None
    nearly_constant = steps.max() <= 2.5 * steps.min()
    # a geometric sequence with a rate above 0.4 passes this test too, so the earlier steps are checked as well
    further = np.abs(h.d[max(0, last - 63) : last + 1])
    nearly_constant = nearly_constant and further.max() <= 4.0 * steps.min()
    # slowly shrinking steps look equal here; those of a counter add up to the whole distance
    way = h.x[: last + 2]
    nearly_constant = nearly_constant and float(np.ptp(way)) <= 4.0 * float(steps.min()) * (last + 1)
    return last + 1 + h.start if nearly_constant and steps[-1] <= 8 * h.ulp(float(h.x[last + 1])) else None
