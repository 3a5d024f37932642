"""``DeclaredLaw``: one way in which a record may go on, asked at any moment of it for the time to any level.

The laws of a ``Family`` differ in the part of the record that they look at, and are fitted together: at many moments
at once, the present one and earlier ones whose future is known by now (``backtest``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.record import FallingRecord

#: times(record, seen, levels): seen (m,) numbers of values that are known, levels (m, j); returns (laws, m, j), the
#: iterations from the last value known until each law is below the level: inf never, NaN where it has nothing to say.
Times = Callable[[FallingRecord, np.ndarray, np.ndarray], np.ndarray]


class DeclaredLaw(NamedTuple):
    """``prior`` is the logarithm of its weight before the backtest; ``what`` is how a sentence names it."""

    name: str
    prior: float
    what: str


class Family(NamedTuple):
    """Laws that are fitted together, by ``times``."""

    laws: tuple[DeclaredLaw, ...]
    times: Times
