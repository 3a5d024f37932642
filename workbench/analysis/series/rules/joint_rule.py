"""Rules of several variables at once: what a vector's components tell together about the next value of one of them.

One component of a flow or of a map on a torus may look like noise, where its state needs more coordinates than a record
of its length can fill; the components themselves are the state.  Local maps in them are held beside one linear map of
their last two values, as in ``local_rule``.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.rules.local_rule import AHEADS, ALIKE, ASKED, FEW, LEAST, Predictability, level
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Components that are taken together at most, values that are looked at, and within which two points are no neighbours.
MOST, LAST, EXCLUDE = 4, 1024, 4
#: Share of the closest 16, 32 and 64 pairs that go on alike, at least: of noise a tenth to a seventh do.
AGREE = (0.6, 0.45, 0.36)


def joint_rule(histories: list[History]) -> tuple[int, Finding] | None:
    """(component, CHAOTIC) where the components together foretell one whose neighbours part; None otherwise."""
    n = len(histories[0])
    chosen = [k for k, h in enumerate(histories) if h.high > h.low and len(np.unique(h.x)) > n // 2][:MOST]
    if n < FEW or len(chosen) < 2 or not all(level(histories[k].x) for k in chosen):
        return None
    columns = [np.ascontiguousarray(histories[k].x[-LAST:]) for k in chosen]
    aheads = AHEADS if n >= LEAST else AHEADS[:4]
    standard = [(c - float(c.mean())) / float(c.std()) for c in columns]
    linear = _linear(standard, aheads[:5])
    for target, k in enumerate(chosen):
        local = fits.joint_maps(columns, target, aheads, EXCLUDE, ASKED)
        if not local:
            return None
        p = Predictability(linear[target], 0.0, local)
        if p.chaotic:
            why = (
                f"The components together tell the next value within {local[0]:.2g} of the deviation, a linear map "
                f"within {p.linear[0]:.2g}; {aheads[-1]} iterations ahead only within {max(local[-2:]):.2g}: a rule "
                "that separates neighbours."
            )
            return k, Finding(Pattern.CHAOTIC, "joint_map", why, doubt=0.2)
        share = _alike(standard, target, p.linear[0])
        if share is not None:
            why = f"Of the closest points of all components {share:.0%} go on alike: a rule, and neighbours part."
            return k, Finding(Pattern.CHAOTIC, "joint_map", why, doubt=0.2)
    return None


def _alike(standard: list[np.ndarray], target: int, linear: float) -> float | None:
    """Share of the closest pairs of points whose next values agree, if it is more than chance gives."""
    x = standard[target]
    others = [c for k, c in enumerate(standard) if k != target]
    shares = fits.close_pairs(x, np.argsort(x), 1, EXCLUDE, ALIKE * linear, others)
    return max((v for v, least in zip(shares, AGREE, strict=True) if v > least), default=None)


def _linear(standard: list[np.ndarray], aheads: list[int]) -> list[list[float]]:
    """Of each target the median errors of linear maps of the components' last two values, in deviations of it."""
    z = np.stack(standard, axis=1)
    rows = np.concatenate([np.ones((len(z) - 1, 1)), z[1:], z[:-1]], axis=1)
    out = []
    for ahead in aheads:
        a, y = rows[:-ahead], z[1 + ahead :]
        gram = a.T @ a
        gram.flat[:: len(gram) + 1] += 1e-12 * float(np.trace(gram))
        solved = np.linalg.solve(gram, a.T @ y)
        out.append(np.median(np.abs(y - a @ solved), axis=0))
    return np.stack(out, axis=1).tolist()
