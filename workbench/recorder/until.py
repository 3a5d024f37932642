"""The end that a watched loop waits for: comparisons of its variables, all of which must hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import WatchError
from workbench.text import harmless

#: comparison -> (the op of the loop's own condition, its ufunc): the loop continues while this holds
OPPOSITE = {
    "<": ("greater_equal", np.greater_equal),
    "<=": ("greater", np.greater),
    ">": ("less_equal", np.less_equal),
    ">=": ("less", np.less),
}


class UntilClause(NamedTuple):
    """``variable op bound``; the bound is a number or the name of another variable."""

    variable: str
    op: str
    bound: float | str

    @harmless
    def __str__(self) -> str:
        return f"{self.variable} {self.op} {self.bound if isinstance(self.bound, str) else f'{self.bound:g}'}"

    @property
    def going(self) -> tuple[str, np.ufunc]:
        """Op and ufunc of the comparison that holds while the loop continues."""
        return OPPOSITE[self.op]


def parse_until(until: Any) -> tuple[UntilClause, ...]:
    """The clauses of ``until=``; WatchError (``bad-until``) for anything else.

    Examples
    --------
    >>> from workbench.recorder.until import parse_until
    >>> [str(clause) for clause in parse_until({"residual": ("<", 1e-8)})]
    ['residual < 1e-08']
    """
    if until is None:
        return ()
    if not isinstance(until, Mapping):
        raise _bad(f"until must be a mapping of variables to (comparison, bound), got {until!r}")
    return tuple(_clause(name, value) for name, value in until.items())


def reached(clauses: tuple[UntilClause, ...], values: Mapping[str, Any]) -> bool:
    """True if there are clauses and an iteration with these values meets all of them.

    Examples
    --------
    >>> from workbench.recorder.until import parse_until, reached
    >>> clauses = parse_until({"eval_loss": ("<", 0.5)})
    >>> [reached(clauses, values) for values in ({"loss": 0.1}, {"eval_loss": 0.7}, {"eval_loss": 0.2})]
    [False, False, True]
    """
    for clause in clauses:
        both = values.get(clause.variable), values.get(clause.bound) if isinstance(clause.bound, str) else clause.bound
        if None in both or bool(clause.going[1](*both)) or any(x != x for x in both):
            return False
    return bool(clauses)


def _clause(name: Any, value: Any) -> UntilClause:
    if not isinstance(name, str):
        raise _bad(f"until must have names of variables as keys, got {name!r}")
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise _bad(f"until[{name!r}] must be a pair of a comparison and a bound, got {value!r}")
    op, bound = value
    if op not in OPPOSITE:
        raise _bad(f"until[{name!r}] must compare with one of {', '.join(OPPOSITE)}, got {op!r}")
    if isinstance(bound, str):
        return UntilClause(name, op, bound)
    if isinstance(bound, bool) or not isinstance(bound, Real | np.number) or math.isnan(float(bound)):
        raise _bad(f"the bound of until[{name!r}] must be a number or the name of a variable, got {bound!r}")
    return UntilClause(name, op, float(bound))


def _bad(what: str) -> WatchError:
    return WatchError(f"watch: {what}.", slug="bad-until", fix='write until={"residual": ("<", 1e-8)}.')
