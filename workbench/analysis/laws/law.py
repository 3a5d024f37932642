"""``DeclaredLaw``: one way in which a record may go on, asked at any moment of it for the time to any level.

A law is fitted at many moments at once: at the present one, and at earlier ones whose future is known by now
(``backtest``).  That is why it takes arrays of moments and levels, and answers with an array of times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.record import FallingRecord

#: times(record, seen, levels): seen (m,) numbers of values that are known, levels (m, j); returns (m, j) iterations
#: from the last value known until the law is below the level: inf never, NaN where the law has nothing to say.
Times = Callable[[FallingRecord, np.ndarray, np.ndarray], np.ndarray]


class DeclaredLaw(NamedTuple):
    """``prior`` is the logarithm of its weight before the backtest; ``what`` is how a sentence names it."""

    name: str
    prior: float
    what: str
    times: Times
