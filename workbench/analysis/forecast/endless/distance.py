"""Decides whether the distance to the threshold ever becomes 0, from its record alone, without a model of the operand.

The answer is "never" for a record that returns to the same level, settles, moves away, or scatters far from the
threshold; it is not "never" if the observed pace leads to the threshold within a few record lengths.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.forecast.endless.dies_out import dies_out
from workbench.analysis.forecast.endless.diverges_from import outgrows
from workbench.analysis.forecast.endless.pace import closes_in, may_walk
from workbench.analysis.forecast.endless.returns import returns_clear
from workbench.analysis.forecast.endless.scatter import scattered_clear
from workbench.analysis.forecast.endless.swings import swings_clear
from workbench.analysis.series.value_series import changes

#: A record approaches fast if the mean of its last quarter is below this share of that of the quarter before.
FAST = 0.7
#: Minimum distance in the last quarter, as a share of the earlier minimum, below which it is a new minimum.
BACK = 0.98
#: Minimum number of turning points of a scattering record, as a share of its values.
SCATTERS = 0.4
#: The longest period to try.
LONGEST = 16
#: Minimum fall of a residual's logarithm, and minimum remaining fall as a multiple of it, for which a rest may be
#: temporary.
FALLING, AFTER = 1.0, 2.0
#: Minimum number of values for all tests.
FEWEST = 24


def by_distance(x: np.ndarray, keep: str, t: float, name: str, clause: str) -> tuple[str, str] | None:
    """(slug, sentence) of a "never" from the distance to the threshold alone, without a model; else None."""
    y = (x - t) * (1.0 if keep in (">", ">=") else -1.0)
    n = len(y)
    if n < FEWEST or float(y.min()) <= 0 or not math.isfinite(float(y.max())):
        return None
    residual = keep in (">", ">=") and t > 0 and bool((x > 0).all())
    z = np.log(x / t) if residual else y
    if scattered_clear(z) is not None:
        sentence = f"{name} scatters, and its lowest values stay away from {t:.6g}; clause {clause} holds."
        return "noise-floor", sentence
    # the usual case: it approaches fast, to a new minimum
    last = y[-(n // 4) :]
    fast = float(last.sum()) < FAST * float(y[-2 * (n // 4) : -(n // 4)].sum())
    turned = changes(y[1:] > y[:-1])
    scatters = residual and turned > SCATTERS * n
    if fast and not scatters and float(last.min()) < BACK * float(y[: -(n // 4)].min()):
        return None
    turns = turned > 1
    gap = swings_clear(y) if turns and not fast else None
    if gap is not None and (closes_in(y, gap) or may_walk(y, gap)):
        gap = None
    if gap is None and turns:
        gap = returns_clear(y, t if residual else 0.0)
    if gap is not None:
        sentence = f"{name} keeps swinging, {gap:.3g} away from {t:.6g}; clause {clause} never turns."
        return "swings", sentence
    if fast and not scatters:
        return None
    rest = dies_out(y, LONGEST if turns else 1) if not fast else None
    # a residual that fell by a large factor, and has farther to fall, may rest at a saddle for a while
    fell = float(z[0] - z[-1]) if residual else 0.0
    if rest is not None and (rest[1] > 1 or not FALLING < fell < float(z[-1]) / AFTER):
        gap, period = rest
        if period > 1:
            sentence = f"{name} settles into period {period}, {gap:.3g} away from {t:.6g}; clause {clause} never turns."
            return "cycle", sentence
        sentence = f"{name} moves less and less, and comes to rest {gap:.3g} away from {t:.6g}; clause {clause} holds."
        return "limit-beyond", sentence
    if not fast and outgrows(y):
        return "moves-away", f"{name} grows away from {t:.6g}; clause {clause} never turns."
    return None
