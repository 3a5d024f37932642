"""Cycle detection (Brent 1980) on the variables that a monitor sees; also finds the variables behind an operand."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.forecast.comparison import ComparisonMonitor
from workbench.analysis.forecast.laws.exact_continuation import holds
from workbench.kernels import fits

#: Values of more bytes are remembered by a 128-bit hash; any statement about them is a forecast anyway.
WHOLE = 4096
#: Number of evaluations whose states are remembered, as one number each.
MEMORY = 512
#: Number of evaluations after a return that must repeat those after the first visit, for a period longer than the
#: memory.
CONFIRMATIONS = 8


def word(value: Any) -> Any:
    """A key that is equal exactly for values with equal bits: cheap for scalars, bounded for tensors."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        # -0.0 == 0.0 and NaN != NaN, but the bits say otherwise; and hash(-1) == hash(-2)
        return value if value == value and value != 0 and value != -1 else repr(value)
    array = _numbers(value)
    if array is None:
        return object()  # a list or string counts as new each time
    data = array.tobytes()
    return data if len(data) <= WHOLE else hashlib.blake2b(data, digest_size=16).digest()


class StateWatch:
    """Brent's search (1980) for a recurrence of all variables shown, and the names of the operands."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.count = 0
        self.period: int | None = None
        self.returns = 0
        self.rest = 0  # number of consecutive evaluations without a change
        self.longest = 0  # the same for the longest earlier rest
        self.flags = True  # whether every variable is a truth value
        self._states: deque[int] = deque(maxlen=MEMORY)
        self._slot: tuple[Any, ...] | None = None
        self._power, self._lam = 1, 0
        self._last: tuple[Any, ...] = ()
        self._still: list[int] = []  # indices of the variables that never changed
        self._equal: list[set[str]] = []  # per clause: variables that always equal an operand
        self._values: Mapping[str, Any] = {}

    def observe(self, state: Mapping[str, Any], clauses: Sequence[ComparisonMonitor]) -> None:
        """Record the variables at one evaluation; ``clauses`` have already recorded their operands."""
        key = tuple([word(v) for v in state.values()])
        if not self.count:
            self.names = list(state)
            self._still = list(range(len(key)))
            self._equal = [set(state) for _ in clauses]
        elif self._still:
            self._still = [i for i in self._still if i >= len(key) or key[i] == self._last[i]]
        if self.count:
            if key == self._last:
                self.rest += 1
            else:
                self.rest, self.longest = 0, max(self.longest, self.rest)
        self.flags = self.flags and all(isinstance(v, (bool, np.bool_)) for v in state.values())
        # a few evaluations show which variables equal an operand; later this is only checked now and then
        if self.count < 32 or not self.count % 16:
            with np.errstate(over="ignore"):  # a threshold beyond the range of the variable's dtype
                for names, clause in zip(self._equal, clauses, strict=True):
                    if names:
                        a, b = clause.lhs[-1], clause.rhs[-1]
                        names.difference_update([n for n in names if n not in state or not _equals(state[n], a, b)])
        self._last, self._values = key, state
        self._states.append(hash(key))
        self._search(key)
        self.count += 1

    def _search(self, key: tuple[Any, ...]) -> None:
        if self._slot is None:
            self._slot = key
            return
        self._lam += 1
        if key == self._slot:
            self.returns = self.returns + 1 if self.period == self._lam else 1
            self.period, self._lam = self._lam, 0
            # keep this slot: a second return confirms the first
            self._power = max(self._power, 2 * self.period)
        elif self._lam >= self._power:
            self._slot, self._power, self._lam, self.period, self.returns = key, 2 * self._power, 0, None, 0

    @property
    def complete(self) -> bool:
        """False if a state had different successors at two visits: then the variables shown are not the whole state.

        A walk on a few integers returns to a state by chance, as does a loop with a hidden counter or random draw.
        """
        after: dict[int, int] = {}
        states = list(self._states)
        return all(after.setdefault(s, nxt) == nxt for s, nxt in zip(states, states[1:], strict=False))

    @property
    def repeats(self) -> bool:
        """True if the last states repeat with the detected period, and not by chance (``fits.repeats``)."""
        p = self.period
        if p is None:
            return False
        if p == 1:
            return True
        if 3 * p <= 2 * len(self._states):
            return fits.repeats(np.array(self._states, dtype=np.int64))[0] > 0
        return self._lam >= CONFIRMATIONS or self.returns > 1

    def turns(self, least: int) -> int | None:
        """The shortest period, 2 or more, of the remembered states after the first three, which must repeat for three
        periods and ``least`` states.
        """
        states = list(self._states)
        for p in range(2, (len(states) - 3) // 4 + 1):
            again = len(states) - 3 - p
            if again >= max(least, 3 * p) and states[-again:] == states[-again - p : -p]:
                return p if len(set(states[-p:])) > 1 else None
        return None

    @property
    def whole(self) -> bool:
        """True if every variable is a single integer or truth value."""
        return all(isinstance(v, (int, np.integer, np.bool_)) for v in self._values.values())

    @property
    def ever_moved(self) -> bool:
        """True if any variable ever changed."""
        return self.rest < self.count - 1

    def moving(self, name: str) -> bool:
        """True if the variable ever changed."""
        return name in self.names and self.names.index(name) not in self._still

    def responsible(self, clause: int, operands: tuple[Any, Any], spelled: tuple[str, str]) -> list[str]:
        """Variables behind a clause, most responsible first.

        These are the variables equal to an operand at every evaluation, moving ones first; else those named in the
        clause. Otherwise the operand is derived: then all moving variables that are not an operand of another clause,
        those of the operand's magnitude first.
        """
        if clause >= len(self._equal):
            return []
        mine = [n for n in self.names if n in self._equal[clause]] or [n for n in spelled if n in self.names]
        if not mine:
            others = set().union(*(names for i, names in enumerate(self._equal) if i != clause))
            mine = [n for n in self.names if n not in others and self.moving(n)]
            mine.sort(key=lambda n: _distance(self._values.get(n), operands))
        return sorted(mine, key=lambda n: not self.moving(n)) if len(mine) > 1 else mine


def _numbers(value: Any) -> np.ndarray | None:
    """Convert a value to an array of numbers; None for lists of arrays, strings and similar values."""
    try:
        array = np.asarray(value)
    except ValueError:  # arrays of different shapes
        return None
    return None if array.dtype.kind in "OUS" else array


def _equals(value: Any, a: Any, b: Any) -> bool:
    kind = type(value)
    if kind is not float and kind is not int and not isinstance(value, np.generic):
        array = _numbers(value)
        if array is None or array.size != 1:
            return False
        value = array.reshape(-1)[0]
    return holds("==", value, a) or holds("==", value, b) or bool(value != value) and (a != a or b != b)


def _distance(value: Any, operands: tuple[Any, Any]) -> int:
    """0 for a scalar whose magnitude or square equals an operand, 1 for other scalars, 2 for a tensor whose norm does,
    else 3.
    """
    try:
        v = np.abs(np.asarray(value)).astype(float)
        sizes = [abs(float(o)) for o in operands if o is not None]
    except (TypeError, ValueError):
        return 3
    norm = float(np.sqrt(np.sum(v * v)))
    close = any(_close(o, norm) or _close(o, norm * norm) for o in sizes)
    return (0 if close else 1) if v.size == 1 else (2 if close else 3)


def _close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * abs(b) < math.inf
