"""``DeclaredLaw``: one way in which a record may continue; it predicts, from any moment, the time to any level.

The laws of a ``Family`` differ in the part of the record that they use, and are fitted together, at many moments at
once: the present one and earlier ones whose future is known by now (``backtest``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.record import FallingRecord

#: times(record, seen, levels): seen (m,) are counts of known values, levels (m, j); returns (laws, m, j), the
#: iterations from the last known value until each law is below the level: inf for never, NaN if the law does not
#: describe the record.
Times = Callable[[FallingRecord, np.ndarray, np.ndarray], np.ndarray]


class DeclaredLaw(NamedTuple):
    """A law; ``prior`` is the logarithm of its weight before the backtest, ``what`` its name in sentences."""

    name: str
    prior: float
    what: str


class Family(NamedTuple):
    """Laws that are fitted together by ``times``."""

    laws: tuple[DeclaredLaw, ...]
    times: Times
