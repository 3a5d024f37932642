"""``classify``: health first, then the decision order (``decision``), then confidence; of tensors the worst record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis import health
from workbench.analysis.confidence import confidence
from workbench.analysis.decision import decide
from workbench.analysis.evolution import Evolution, Finding, Pattern
from workbench.analysis.history import History, as_typed_values, as_values
from workbench.analysis.models import Scaled
from workbench.analysis.states import evolution_of_scalar, evolutions_of_vector
from workbench.kernels import fits
from workbench.kernels.streaming import ScalarState, VectorState

#: Components of a tensor that are classified besides its norm.
COMPONENTS = 8
_WORST = (Pattern.DIVERGING, Pattern.CHAOTIC, Pattern.OSCILLATING, Pattern.UNKNOWN, Pattern.CONVERGING, Pattern.STABLE)


def classify(values: Any) -> Evolution:
    """How a variable evolves.

    Parameters
    ----------
    values:
        (n,) or (n, d), oldest first, any real numeric dtype or bool; a list; a pandas Series (its index is ignored);
        or a streaming ``ScalarState`` or ``VectorState`` (see ``states``; iterations keep their true numbers).  Of
        (n, d) the eight most active components are classified, and the norm if there are more; the worst decides.

    Returns
    -------
    Evolution
        ``label`` with ``confidence``, numbers, ``issues`` and ``why``.  UNKNOWN with a reason for fewer than 5 values.
        A counter is DIVERGING; sums like 1/k diverge, like 1/k**1.25 converge; a damped oscillation is CONVERGING;
        noise of constant spread is CONVERGING if the record shows the way to it and STABLE if not (see ``noise``).

    Raises
    ------
    HistoryError
        Empty, complex, non-numeric, masked or three-dimensional values; tables with named columns.
    """
    if isinstance(values, ScalarState | VectorState):
        if values.count == 0:
            as_values(np.empty(0))
        if isinstance(values, VectorState):
            return _worst_of(evolutions_of_vector(values, classify_history))
        return evolution_of_scalar(values, classify_history)
    a, dtype = as_typed_values(values)
    if a.ndim == 1:
        return classify_history(History(a, 0, dtype))
    if a.shape[1] == 1:
        return classify_history(History(a[:, 0], 0, dtype))
    return _classify_vector(a, dtype)


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
        if not issues:
            more, why = health.trouble(h, result)
            result.issues.update(more)
            result.why += why
        eta = health.overflow_eta(h, result.rate) if result.label is Pattern.DIVERGING and not issues else None
        if eta is not None:
            result.issues["overflow_eta"] = eta
    return result


def _evolution(h: History, found: Finding) -> Evolution:
    up = lambda v: None if v is None or not math.isfinite(v) else h.unscale(v)  # noqa: E731
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
    results = []
    for i in sorted(top.tolist(), key=lambda i: (-moved[i], i)):
        result = classify_history(History(np.ascontiguousarray(a[:, i]), 0, dtype))
        result.component = i
        results.append(result)
    if d > COMPONENTS:
        results.append(classify_history(History(norms)))
    return _worst_of(results)


def _worst_of(results: list[Evolution]) -> Evolution:
    worst = min(results, key=lambda r: (_WORST.index(r.label), r.component is None, -r.confidence))
    name = "The norm" if worst.component is None else f"Component {worst.component}"
    worst.why = [f"{name} decides, of {len(results)} records: " + worst.why[0], *worst.why[1:]]
    for other in results:
        for slug, at in other.issues.items():
            worst.issues[slug] = min(at, worst.issues.get(slug, at))
    return worst
