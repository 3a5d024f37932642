"""Selection of a law for a record: each is fitted without the last quarter and scored by its prediction of it.

A monotone record is tested for maps, power laws and recurrences, one with turns for recurrences and recurrences of its
square; over its whole length, its second half and, if it is long enough, its last third.  The fits, the free runs and
the search for a crossing are compiled (``workbench.kernels.laws``):

- Maps x' = f(x), the law of a scalar loop without hidden state: polynomials through the origin or not (fixed-point
  iterations near their limit, logistic growth), the ratios x / x' = b0 + b1 x (Moebius maps: 1/k decay, multiple roots)
  and x*x / x' = b0 + b1 x (Newton's residual, which goes from linear far off to quadratic), the product
  x x' = b0 + b1 x*x (Newton's square root), and x - x' = c x**q (sublinear decay), by least squares of relative errors.
- Power laws, of the values (1/k decay), of the steps (sums) and of the distance from a limit; the offset of the
  iteration is a parameter, found on a grid that Gauss and Newton's method refines.
- Linear recurrences of the steps, of the logarithm's steps with a drift (residuals of several modes: the slower ones
  die out of the slope) and of the square (the norm of a linear iteration: its square is a linear recurrence itself,
  its dips included).
- The magnitude of a damped oscillation above a floor, x = floor + r**k |a cos(w k) + b sin(w k)| (momentum, complex
  pairs of eigenvalues).  With its floor taken off, the square obeys a linear recurrence of order three; that of the
  record itself is linear in the recurrence's coefficients times powers of the floor, which gives a start, and Gauss
  and Newton's method the rest (Bjoerck 1996, Numerical Methods for Least Squares Problems, section 9.2).
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
    """All laws that a record of this shape can follow, best first, without those whose free run fails badly."""
    return laws.select(np.ascontiguousarray(x), held, eps, groups, starts)


def again(x: np.ndarray, tried: Fitted) -> Law | None:
    """The same law fitted to the whole window."""
    return laws.fit(np.ascontiguousarray(x[tried.start :]), tried.group, tried.law.name, tried.monotone)
