"""``classify``: numerical health, the decision list and the confidence; for a tensor, the worst component decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis.series import numerical_health
from workbench.analysis.series.calibration import of_label
from workbench.analysis.series.decision_list import decide
from workbench.analysis.series.linear_prediction import common_period
from workbench.analysis.series.models import Scaled
from workbench.analysis.series.result import Evolution, Finding, Pattern
from workbench.analysis.series.value_series import History, as_typed_values
from workbench.kernels import fits

#: Components of a tensor that are classified besides its norm.
COMPONENTS = 8
_WORST = (Pattern.DIVERGING, Pattern.CHAOTIC, Pattern.OSCILLATING, Pattern.UNKNOWN, Pattern.CONVERGING, Pattern.STABLE)


def classify(values: Any) -> Evolution:
    """Classify how a variable evolves: whether it converges, diverges, oscillates, stays, or is chaotic.

    The steps are, in this order: NaN and infinities; a level within rounding errors; exactly periodic and exactly
    constant tails; staircases; smooth tails (geometric, power law, superlinear) and linear prediction, whichever
    predicts the last 40 % of the record better; a rule and its largest Lyapunov exponent; noise. A counter is
    DIVERGING; sums like 1/k diverge, sums like 1/k**1.25 converge; a damped oscillation is CONVERGING; noise of
    constant spread is CONVERGING if the record shows the way to its level, and STABLE if not.

    Parameters
    ----------
    values : array_like or pandas.Series
        Shape (n,) or (n, d), oldest first, of any real numeric dtype or bool. For (n, d) the eight most active
        components are classified, and the 2-norm if there are more; the worst label decides.

    Returns
    -------
    Evolution
        UNKNOWN, with a reason, for fewer than 5 values.

    Raises
    ------
    HistoryError
        If the values are empty (``empty-history``), complex or not numeric (``bad-history-dtype``), masked
        (``bad-history-masked``), ragged (``bad-history``), of more than two axes (``bad-history-shape``) or tables with
        named columns (``bad-history-table``).

    References
    ----------
    Limits: A. C. Aitken (1926), and the epsilon algorithm of P. Wynn (1956); see ``series/acceleration.py``.
    Confidence: isotonic regression, M. Ayer et al., Ann. Math. Statist. 26, 1955; see ``series/calibration.py``. The
    module of each step in ``workbench/analysis/series`` describes its method, where it applies and where it fails.

    Examples
    --------
    >>> wb.classify(session.trace["x"].values).label.name
    'CONVERGING'
    >>> wb.classify(np.sin(np.arange(100) * 0.7)).label.name
    'OSCILLATING'
    """
    a, dtype = as_typed_values(values)
    if a.ndim == 1:
        return classify_history(History(a, 0, dtype))
    if a.shape[1] == 1:
        return classify_history(History(a[:, 0], 0, dtype))
    return _classify_vector(a, dtype)


def classify_history(h: History) -> Evolution:
    """Classify one scalar history by the decision list."""
    with np.errstate(all="ignore"):
        issues = numerical_health.first_bad(h)
        found = numerical_health.nonfinite(h)
        if isinstance(found, History):
            tail = found
            found = decide(tail)
            found.why = f"Finite again from iteration {tail.start} on. " + found.why
            result = _evolution(tail, found)
        else:
            result = _evolution(h, found if found is not None else decide(h))
        result.issues = {**issues, **result.issues}
        result.count = h.total
        if not issues:
            more, why = numerical_health.trouble(h, result)
            result.issues.update(more)
            result.why += why
        eta = (
            numerical_health.overflow_eta(h, result.rate) if result.label is Pattern.DIVERGING and not issues else None
        )
        if eta is not None:
            result.issues["overflow_eta"] = eta
    return result


def _evolution(h: History, found: Finding) -> Evolution:
    up = lambda v: None if v is None or not math.isfinite(v) else h.unscale(v)  # noqa: E731
    limit = up(found.limit)
    error = up(found.limit_error) if limit is not None else None
    if limit is not None and limit < 0.0 <= h.low:
        # sizes, losses and distances do not cross zero, and none of these values has crossed it
        limit, error = 0.0, max(-limit, error or 0.0)
    model = Scaled(found.model, h.exponent) if found.model is not None else None
    return Evolution(
        found.label,
        of_label(found, len(h)),
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
        distance=0.0 if limit is None else _distance(h, limit),
        why_not=[refused for law, refused in h.refused.items() if law != found.method],
    )


def _distance(h: History, limit: float) -> float:
    """The distance |limit - newest value|, at least a hundredth of the largest such distance."""
    far = [abs(h.unscale(v) - limit) for v in (float(h.x[0]), h.low, h.high, float(h.x[-1]))]
    return max(far[-1], 0.01 * max(far))


def _classify_vector(a: np.ndarray, dtype: np.dtype) -> Evolution:
    """The worst of the norm and of the most active components, found in one pass over the rows."""
    n, d = a.shape
    moved, norms = np.zeros(d), np.zeros(n)
    if a.dtype in (np.float64, np.float32):
        fits.activity(a, moved, norms, 0, False)
    else:
        rows = max(2, 2**18 // d)
        for first in range(0, n, rows):
            low = max(first - 1, 0)
            fits.activity(a[low : first + rows].astype(np.float64), moved, norms, low, first > 0)
    k = min(COMPONENTS, d)
    top = np.argpartition(-moved, k - 1)[:k] if k < d else np.arange(d)
    results: list[Evolution] = []
    for i in sorted(top.tolist(), key=lambda i: (-moved[i], i)):
        results.append(classify_history(History(np.ascontiguousarray(a[:, i]), 0, dtype)))
        results[-1].component = i
    if d > COMPONENTS:
        results.append(classify_history(History(norms)))
    worst = worst_of(results)
    name = "The norm" if worst.component is None else f"Component {worst.component}"
    worst.why = [f"{name} decides, of {len(results)} records: " + worst.why[0], *worst.why[1:]]
    return worst


def _common_period(worst: Evolution, results: list[Evolution]) -> None:
    """Give the answer the common period of all components, up to rounding, if each component has a period."""
    if worst.label is not Pattern.OSCILLATING or worst.method != "linear_prediction":
        return
    periods = [r.period for r in results if r.component is not None and r.label is Pattern.OSCILLATING and r.period]
    if all(abs(p / periods[0] - 1.0) < 1e-3 for p in periods):
        return
    common = common_period([2.0 * math.pi / p for p in periods], worst.count)
    if common is not None:
        worst.period = common


def worst_of(results: list[Evolution]) -> Evolution:
    """The answer that represents the components of an array and its norm, with the issues of all."""
    results = [r for r in results if r.component is not None or r.of_norm().method != "norm"] or results
    # if components converge, the slowest decides
    slow = lambda r: -(r.rate or 0.0) if r.label is Pattern.CONVERGING else 0.0  # noqa: E731
    worst = min(results, key=lambda r: (_WORST.index(r.label), r.component is None, slow(r), -r.confidence))
    _common_period(worst, results)
    for other in results:
        for slug, at in other.issues.items():
            worst.issues[slug] = min(at, worst.issues.get(slug, at))
    return worst
