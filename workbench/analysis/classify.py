"""``classify``: the decision order of the loop analysis, one step a module.

1 health (NaN, Inf); 2 level within rounding, stagnation; 3 exact periodic tail; 4 exact constant tail; 5 smooth tails;
6 linear prediction; 7 noise; 8 chaos.  Steps 5 and 6 are both asked, and the better prediction of the last 40 % wins;
step 8's test for a rule comes before the noise verdicts, which take what follows no rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis import chaos, health, noise, recurrence, tails
from workbench.analysis.confidence import confidence
from workbench.analysis.evolution import Evolution, Finding, Pattern
from workbench.analysis.history import History, as_values
from workbench.analysis.linear_prediction import linear_prediction, slow_root
from workbench.analysis.models import Scaled

#: Fewer values than this are UNKNOWN.
LEAST = 5
#: Components of a tensor that are classified besides its norm.
COMPONENTS = 8
_WORST = (Pattern.DIVERGING, Pattern.CHAOTIC, Pattern.OSCILLATING, Pattern.UNKNOWN, Pattern.CONVERGING, Pattern.STABLE)


def classify(values: Any) -> Evolution:
    """How a variable evolves.

    Parameters
    ----------
    values:
        (n,) or (n, d), oldest first, any real numeric dtype or bool; a pandas Series; or a streaming
        ``ScalarState`` (its ring of the last 512 values is judged, iterations keep their true numbers).  Of (n, d)
        the eight most active components are classified, and the norm if there are more; the worst decides.

    Returns
    -------
    Evolution
        ``label`` with ``confidence``, numbers, ``issues`` and ``why``.  UNKNOWN with a reason for fewer than 5 values.
        A counter is DIVERGING; sums like 1/k diverge, like 1/k**1.25 converge; a damped oscillation is CONVERGING;
        noise of constant spread is CONVERGING if the record shows the way to it and STABLE if not (see ``noise``).

    Raises
    ------
    HistoryError
        Empty, non-numeric or three-dimensional values.
    """
    if hasattr(values, "values") and callable(values.values) and hasattr(values, "count"):
        exact = values.values()
        if len(exact) == 0:
            as_values(exact)
        return classify_history(History(exact, values.count - len(exact), values.dtype))
    a = as_values(values)
    if a.ndim == 1:
        return classify_history(History(a))
    if a.shape[1] == 1:
        return classify_history(History(a[:, 0]))
    return _classify_vector(a)


def classify_history(h: History) -> Evolution:
    """The decision order for one scalar history."""
    with np.errstate(all="ignore"):
        issues = health.first_bad(h)
        found = health.nonfinite(h)
        if isinstance(found, History):
            tail = found
            found = decide(tail)
            found.why = f"Finite again from iteration {tail.start} on. " + found.why
            result = _evolution(tail, found)
        else:
            result = _evolution(h, found if found is not None else decide(h))
        result.issues = {**issues, **result.issues}
        result.count = h.total
        eta = health.overflow_eta(h, result.rate) if result.label is Pattern.DIVERGING and not issues else None
        if eta is not None:
            result.issues["overflow_eta"] = eta
    return result


def decide(h: History) -> Finding:
    """Steps 2 to 8 for finite values."""
    if len(h) < LEAST:
        return Finding(Pattern.UNKNOWN, "few", f"Only {len(h)} values: at least {LEAST} are needed.")
    for step in (recurrence.level, recurrence.periodic, recurrence.constant_tail, recurrence.settled):
        found = step(h)
        if found is not None:
            return _with_order(h, found)
    return _smooth(h) or _irregular(h)


def _with_order(h: History, found: Finding) -> Finding:
    """Add rate or order to a record that has arrived, from the part of it that still moved."""
    if found.label is Pattern.CONVERGING:
        end = tails.usable(h)
        how = tails.superlinear(h, end)
        if how is None and end >= 6:
            how = _smooth(h)
        if how is not None and how.label is Pattern.CONVERGING:
            found.rate, found.order, found.sublinear_exponent = how.rate, how.order, how.sublinear_exponent
            found.why += " " + how.why
    return found


def _smooth(h: History) -> Finding | None:
    """Steps 5 and 6."""
    end = tails.usable(h)
    tail = tails.smooth_tail(h, end)
    fit, candidates = None, []
    found = tails.superlinear(h, end)
    if found is not None:
        return found
    if tail is not None:
        candidates = tails.fits(tail, h.start)
        fit = tails.best_fit(candidates)
    linear = linear_prediction(h, end)
    error = linear.model.spread if linear is not None else float("inf")
    rough = min(fit.error if fit is not None else 1.0, error) > 1e-3
    if rough and chaos.irregular(h):
        found = chaos.polynomial_map(h, 1e-6)
        if found is not None:
            return found
    power = next((f for f in candidates if f.kind == "power"), None)
    if tail is not None and linear is not None and power is not None and _crowds(tail, linear, power):
        return tails.finding(h, tail, power)
    # a strict fit wins if the linear recurrence does not predict much better
    if tail is not None and fit is not None and fit.error < 0.1 and fit.error <= 3 * error + 1e-7:
        return tails.finding(h, tail, fit)
    return linear


def _crowds(tail: tails.Tail, linear: Finding, power: tails.Fit) -> bool:
    """Whether the roots crowd towards 1 as the record grows, as they do on a power law and on nothing else."""
    z = abs(linear.model.dominant)
    if not 0.5 < z < 1.0 - 1e-7 or power.error > 0.02 or len(tail.d) < 24:
        return False
    early = tail.d[: int(0.6 * len(tail.d))]
    try:
        z_early = slow_root(early, min(linear.model.order, len(early) // 4))
    except np.linalg.LinAlgError:
        return False
    return 0 < z_early < 1 and np.log(z_early) < (1.03 if power.error < 1e-3 else 1.25) * np.log(z)


def _rough(h: History) -> Finding | None:
    """A smooth tail that fits only roughly: noise or lower-order terms."""
    end = tails.usable(h)
    tail = tails.smooth_tail(h, end)
    candidates = tails.fits(tail, h.start) if tail is not None else []
    fit = tails.best_fit(candidates, 1.2)
    if tail is None or fit is None or fit.error >= 0.5 or len(tail.d) < max(8, 0.6 * end):
        return None
    size, third = np.abs(tail.d), len(tail.d) // 3
    if fit.kind == "counter" and np.median(size[-third:]) < 0.75 * np.median(size[:third]):
        fit = next(f for f in candidates if f.kind == "geometric")
    found = tails.finding(h, tail, fit)
    found.doubt = max(found.doubt, 0.3)
    return found


def _irregular(h: History) -> Finding:
    """Steps 7 and 8."""
    if chaos.irregular(h):
        found = chaos.polynomial_map(h)
        if found is not None:
            return found
    found = recurrence.at_floor(h) or _rough(h)
    if found is not None:
        return found
    found = noise.periodic_signal(h, 0.8) or noise.random_walk(h) or noise.envelope(h)
    if found is None:
        found = chaos.neighbours(h)
    found = found or noise.moving_mean(h) or noise.periodic_signal(h, 0.55)
    if found is None and (len(h) >= 24 or chaos.irregular(h)):
        found = noise.noise_ball(h)
    if found is not None:
        return found
    return _short(h)


def _short(h: History) -> Finding:
    """What is left: short records without a model."""
    end = tails.usable(h)
    tail = tails.smooth_tail(h, end)
    changes = np.flatnonzero(h.d)
    if (
        2 <= len(changes) < len(h.d)
        and abs(np.sum(np.sign(h.d))) == len(changes)
        and len(h.d) - changes[-1] <= np.diff(changes).max() + 1
    ):
        return Finding(Pattern.DIVERGING, "short", "The values step one way at intervals.", doubt=0.4)
    if tail is not None and len(tail.d) >= 4:
        size = np.abs(tail.d)
        falling, rising = bool(np.all(np.diff(size) < 0)), bool(np.all(np.diff(size) >= 0))
        if falling and size[-1] < 0.5 * size[0]:
            return Finding(Pattern.CONVERGING, "short", "The steps shrink each time; too few for a model.", doubt=0.4)
        if rising or not tail.alternating:
            return Finding(
                Pattern.DIVERGING, "short", "The values keep moving one way; too few for a model.", doubt=0.5
            )
    return Finding(Pattern.UNKNOWN, "mixed", f"No model holds for these {len(h)} values; more are needed.")


def _evolution(h: History, found: Finding) -> Evolution:
    up = lambda v: None if v is None or not np.isfinite(v) else h.unscale(v)  # noqa: E731
    limit = up(found.limit)
    error = up(found.limit_error) if limit is not None else None
    model = Scaled(found.model, h.exponent) if found.model is not None else None
    return Evolution(
        found.label,
        confidence(found, len(h)),
        limit,
        error,
        found.rate,
        found.order,
        found.sublinear_exponent,
        found.period,
        dict(found.issues),
        [found.why],
        found.method,
        h.total,
        doubt=found.doubt,
        model=model,
    )


def _classify_vector(a: np.ndarray) -> Evolution:
    """The worst of the norm and of the most active components."""
    wide = a.astype(np.float64)
    with np.errstate(all="ignore"):
        moved = np.abs(np.diff(wide, axis=0)).sum(axis=0)
        top = np.max(np.abs(wide), initial=0.0)
        # as with the scalar values: a power of two keeps squares in range
        scale = 2.0 ** float(np.frexp(top)[1]) if 0 < top < np.inf else 1.0
        norm = np.sqrt(np.sum((wide / scale) ** 2, axis=1)) * scale
    moved[~np.isfinite(moved)] = np.inf
    results = []
    for i in np.argsort(-moved, kind="stable")[:COMPONENTS].tolist():
        result = classify_history(History(np.ascontiguousarray(a[:, i])))
        result.component = i
        result.why = [f"Component {i}: " + sentence for sentence in result.why]
        results.append(result)
    if a.shape[1] > COMPONENTS:
        results.append(classify_history(History(norm)))
    worst = min(results, key=lambda r: (_WORST.index(r.label), -r.confidence))
    for other in results:
        for slug, at in other.issues.items():
            worst.issues[slug] = min(at, worst.issues.get(slug, at))
    return worst
