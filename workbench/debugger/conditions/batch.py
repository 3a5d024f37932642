"""A batch of firings of one value for which a condition is evaluated: the latest firing, or a recorded series.

The first axis of every array is the firings. A value that a firing does not have (that of the iteration before the
first one, or one that is dead or has not fired yet) is *missing*, and every comparison with it is False.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: (name of another value, 1 for the previous iteration) -> (its values, mask of those that exist); length 1 applies to
#: all firings
Lookup = Callable[[str, int], tuple[np.ndarray, np.ndarray]]
#: -> (op of the node that computed the values, its operands in the form of a lookup); None if no op computed them
Made = Callable[[], tuple[str, list[tuple[np.ndarray, np.ndarray]]] | None]


def _alone(name: str, back: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full(1, np.nan), np.zeros(1, bool)


def _by_no_op() -> None:
    return None


@dataclass
class Batch:
    """Firings of a value: ``values`` is (n, ...), ``iterations`` (n, depth) in order.

    ``label`` returns the name of the series' pattern up to an iteration, as shown on all screens; None if rows are
    missing.
    """

    values: np.ndarray
    iterations: np.ndarray
    lookup: Lookup = _alone
    label: Callable[[tuple[int, ...]], str | None] | None = None
    made: Made = _by_no_op
    _previous: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)

    @classmethod
    def of_one(cls, value: Any, iteration: tuple[int, ...] = (), lookup: Lookup = _alone) -> Batch:
        """A batch of a single firing."""
        return cls(np.asarray(value)[None], np.array([iteration], np.int64).reshape(1, -1), lookup)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def iteration(self) -> np.ndarray:
        """(n,) indices of the iteration of the innermost frame; 0 at the outermost level."""
        return self.iterations[:, -1] if self.iterations.shape[1] else np.zeros(len(self), np.int64)

    @property
    def follows(self) -> np.ndarray:
        """(n,) True if the preceding firing belongs to the previous iteration of the same activation."""
        found = np.zeros(len(self), bool)
        if self.iterations.shape[1] and len(self) > 1:
            step = np.diff(self.iterations, axis=0)
            found[1:] = (step[:, -1] == 1) & (step[:, :-1] == 0).all(1)
        return found

    @property
    def previous(self) -> tuple[np.ndarray, np.ndarray]:
        """(values of the previous iteration, mask of those that exist)."""
        if self._previous is None:
            there = self.follows
            self._previous = self.values[np.maximum(np.arange(len(self)) - 1, 0)], there
        return self._previous
