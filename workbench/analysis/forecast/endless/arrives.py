"""Decides of a residual that fell and now scatters if the way down is over, far above the threshold.

Sampled gradients, filters and policies fall at one pace and then scatter about a floor.  Two things must say so: the
pace of late, with its error, is a small part of that of the way down, and does not lead to the threshold within
``LENGTHS`` times the record's length; and the tail of the least values, taken for exponential, does not either (B. M.
Hill, Ann. Statist. 3, 1975).  Dips, which are long in a logarithm, are cut off for the pace.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.forecast.endless.pace import LENGTHS, MEMORY, is_walk
from workbench.analysis.series.noise.line import line_in_noise
from workbench.analysis.series.value_series import changes
from workbench.kernels import laws

#: Fewest values of a record, and of its part at the floor; turns of that as a share of it, at least.
FEWEST, AT_FLOOR, TURNS = 32, 20, 0.42
#: Shares of the record that the way down may take.
STARTS = (0.3, 0.4, 0.5, 0.6)
#: Way down in deviations of the scatter, at least; pace of late, with its error, as a share of that, at most.
FELL, SLOWER = 4.0, 0.2
#: Standard errors by which the pace may be faster, and the chance that the tail leads to the threshold, at most.
ERRORS, CHANCE = 2.0, 0.02
#: How many times as wide one half may scatter as the other.
EVEN = 2.0


def arrived_clear(z: np.ndarray) -> float | None:
    """The gap that stays if z (n,) > 0, the logarithm of a residual over its threshold, is at a floor; else None."""
    n = len(z)
    if n < FEWEST or float(z[: n // 8].mean()) < float(z[n // 2 :].max()):
        return None
    for share in STARTS:
        late = z[int(share * n) :]
        if len(late) >= AT_FLOOR and _at_floor(z, late):
            return float(late.min())
    return None


def _at_floor(z: np.ndarray, late: np.ndarray) -> bool:
    m, n = len(late), len(z)
    if changes(late[1:] > late[:-1]) < TURNS * m:
        return False
    low = np.sort(late)
    level = np.maximum(late, low[m // 4])
    spread = float(level.std())
    fell = float(z[:3].mean()) - float(level.mean())
    if not fell > FELL * spread > 0:
        return False
    slope, error, *_ = line_in_noise(level, MEMORY)
    fastest = max(-slope, 0.0) + ERRORS * error
    if fastest > SLOWER * fell / (n - m) or LENGTHS * n * fastest > float(low[m // 4]) or slope > 4.0 * error:
        return False
    third = m // 3
    spacing = float((low[third] - low[:third]).sum())
    if LENGTHS * (n / m) * third * (1.0 + float(low[third]) / spacing) ** -third > CHANCE:
        return False
    first, last = float(level[: m // 2].std()), float(level[m // 2 :].std())
    return first < EVEN * last < EVEN * EVEN * first and laws.lag_one(late) < 0.1 and not is_walk(late)
