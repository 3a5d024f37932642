"""Selects a law for a record: each is fitted without the last quarter and scored by its prediction of that quarter.

A monotone record is tested for maps, power laws and recurrences, a record with turning points for recurrences of its
values and of their squares. The fits use the whole record, its second half and, if it is long enough, its last third.
The fits, the free runs and the search for a crossing are compiled (``workbench.kernels.laws``):

- Maps x' = f(x), the law of a scalar loop without hidden state: polynomials through the origin or not (fixed-point
  iterations near their limit, logistic growth), the ratios x / x' = b0 + b1 x (Moebius maps: 1/k decay, multiple roots)
  and x*x / x' = b0 + b1 x (Newton's residual, whose convergence is linear far from the root and then becomes
  quadratic), the product x x' = b0 + b1 x*x (Newton's square root), and x - x' = c x**q (sublinear decay), by least
  squares of relative errors.
- Power laws of the values (1/k decay), of the steps (sums) and of the distance from a limit; the offset of the
  iteration is a parameter, found on a grid and refined by the Gauss-Newton method.
- Linear recurrences of the steps, of the logarithm's steps with a drift (residuals of several modes, of which one
  determines the slope in the end) and of the square (the norm of a linear iteration: its square satisfies a linear
  recurrence, dips included).
- The magnitude of a damped oscillation above a floor, x = floor + r**k |a cos(w k) + b sin(w k)| (momentum, complex
  pairs of eigenvalues).  After subtraction of the floor, the square obeys a linear recurrence of order three. Expressed
  in the record itself, this recurrence is linear in products of the coefficients and powers of the floor, which gives
  initial values for the Gauss-Newton method (Bjoerck 1996, Numerical Methods for Least Squares Problems, section 9.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.kernels import laws
from workbench.kernels.laws import EXACT, GROUPS, Fitted, Law

__all__ = ["EXACT", "GROUPS", "Fitted", "Law", "again", "try_all"]


def try_all(
    x: np.ndarray, held: int, eps: float, groups: Sequence[int] = GROUPS, starts: Sequence[int] | None = None
) -> list[Fitted]:
    """All laws that a record of this shape can follow, best first, except those whose free run has a large error."""
    return laws.select(np.ascontiguousarray(x), held, eps, groups, starts)


def again(x: np.ndarray, tried: Fitted) -> Law | None:
    """The same law fitted again, to the hold-out as well."""
    return laws.fit(np.ascontiguousarray(x[tried.start :]), tried.group, tried.law.name, tried.monotone)
