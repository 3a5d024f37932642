"""Least squares in integer arithmetic, for exact laws.

The last bits of a solution in floats depend on the processor and its BLAS. If they decided whether a law holds, or
where it ends, answers would differ between machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def least_squares(rows: Sequence[Sequence[Fraction]]) -> tuple[Fraction, ...] | None:
    """The coefficients that fit best; None if they are not unique. In each row, the last item approximates the sum of
    the others, each multiplied by its coefficient.
    """
    unit = max(item.denominator for row in rows for item in row)  # denominators of floats are powers of two
    whole = [[int(item * unit) for item in row] for row in rows]
    n = len(rows[0]) - 1
    m = [[Fraction(sum(row[k] * row[c] for row in whole)) for c in range(n + 1)] for k in range(n)]
    for k in range(n):  # the matrix is positive definite if the solution is unique
        if m[k][k] == 0:
            return None
        for i in range(n):
            if i != k and m[i][k]:
                part = m[i][k] / m[k][k]
                m[i] = [a - part * b for a, b in zip(m[i], m[k], strict=True)]
    return tuple(m[k][n] / m[k][k] for k in range(n))
