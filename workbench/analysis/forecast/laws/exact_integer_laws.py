"""Exact laws of integer operands beyond the counter: polynomials, linear recurrences, products, maps by residue.

The coefficients of each law are solved for in rational arithmetic from a few observations. It is kept only if it
reproduces all given observations (at most 32) exactly, and then iterated in unbounded integers or in those of the
dtype.  Because it is inferred from observations, the answer is a forecast, never a proof.  Residue maps x' = (a x + b)
/ c, one for each residue of x modulo m, are the generalized Collatz maps (Conway 1972).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps
from workbench.analysis.forecast.laws.integer_division import division
from workbench.analysis.forecast.laws.rounded_share import rounded_share

#: Maximum number of values computed ahead one by one, and maximum number of bits of a value.
MOST, BITS = 4096, 8192
#: The prime modulus of the first test of a recurrence.
PRIME = (1 << 61) - 1
#: Numerators and their common denominator.
Rational = tuple[list[int], int]
Next = Callable[[list[int]], "int | None"]


def integer_law(xs: list[int], op: str, t: float, bits: int | None, signed: bool = True) -> Steps | None:
    """First k at which the law's value fails ``op t``; None if there is no law, or none of the values computed ahead
    fails.
    """
    if len(xs) < 5 or max(abs(xs[0]), abs(xs[-1])).bit_length() > BITS:
        return None
    found = _polynomial(xs, op, t) if bits is None else None
    if found is not None:
        return found
    for name, law in _laws(xs):
        k = _run(xs, law, op, t, bits, signed)
        if k is not None:
            return Steps(k, name, step=float(xs[-1] - xs[-2]) if abs(xs[-1]).bit_length() < 900 else 0.0)
    return None


def _laws(xs: list[int]) -> Iterator[tuple[str, Next]]:
    share = division(xs)
    if share is not None:
        yield "division", lambda recent: share(recent[-1])
    rounded = rounded_share(xs)
    if rounded is not None:
        yield "rounded-share", lambda recent: rounded(recent[-1])
    d = [b - a for a, b in zip(xs, xs[1:], strict=False)]
    for p in (1, 2, 3, 4):
        for values, of_steps in ((xs, False), (d, True)):
            a = _recurrence(values, p)
            if a is not None:
                yield "recurrence", _linear(a, of_steps)
    ratio = _product(xs)
    if ratio is not None:
        yield "product", ratio
    for m in (2, 3, 4, 5, 6):
        law = _residues(xs, m)
        if law is not None:
            yield "residue-map", law


def _polynomial(xs: list[int], op: str, t: float) -> Steps | None:
    """A record with constant differences of order 2 to 4, all of one sign: the crossing is found by bisection, at any
    distance.
    """
    rows = [xs]
    while len(rows) <= 4 and len(rows[-1]) > 3:
        row = rows[-1]
        rows.append([b - a for a, b in zip(row, row[1:], strict=False)])
        if all(v == rows[-1][0] for v in rows[-1]):
            break
    else:
        return None
    last = [row[-1] for row in rows]
    if op == "!=" or len({v > 0 for v in last[1:] if v}) != 1:
        return None

    def value(k: int) -> int:
        # backward differences: x(k) = sum last[i] C(k + i - 1, i)
        total, binomial = 0, 1
        for i, v in enumerate(last):
            if i:
                binomial = binomial * (k + i - 1) // i
            total += v * binomial
        return total

    high = 1
    while OPS[op](value(high), t):
        high *= 2
        if high > 1 << 62:
            return Steps(None, "moves-away", step=float(last[1]))
    low = high // 2
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (mid, high) if OPS[op](value(mid), t) else (low, mid)
    return Steps(high, "polynomial", step=float(last[1]))


def _recurrence(v: list[int], p: int) -> Rational | None:
    """Coefficients of v[n] = sum a[i] v[n - 1 - i] if it holds for all values, with p + 2 equations to check it.

    It is tested modulo a prime first: if the equations have a solution there and the recurrence fails, it fails in
    general.
    """
    n = len(v)
    if n < 3 * p + 2 or _breaks(v, p):
        return None
    rows = [[v[k - 1 - i] for i in range(p)] + [v[k]] for k in range(n - p, n)]
    near = _solved_modulo(rows, p)
    if near is not None:
        w = [x % PRIME for x in v]
        if any((sum(c * w[k - 1 - i] for i, c in enumerate(near)) - w[k]) % PRIME for k in range(p, n)):
            return None
    elif not _independent(rows, p):
        return None
    a = _solved(rows, p)
    if a is None or any(abs(c.numerator) > 10_000 or c.denominator > 10_000 for c in a):
        return None
    below = math.lcm(*(c.denominator for c in a))
    whole = [int(c * below) for c in a]
    good = all(sum(c * v[k - 1 - i] for i, c in enumerate(whole)) == below * v[k] for k in range(p, n))
    return (whole, below) if good else None


def _breaks(v: list[int], p: int) -> bool:
    """True if the last values exclude a recurrence of order 1 or 2, the usual case: a determinant that is not 0."""
    if p == 1:
        return v[-2] != 0 and v[-1] * v[-3] != v[-2] * v[-2]
    if p != 2:
        return False
    a, b, c, d, e = v[-5:]
    return a * (c * e - d * d) - b * (b * e - c * d) + c * (b * d - c * c) != 0


def _solved_modulo(rows: list[list[int]], p: int) -> list[int] | None:
    """The solution of p equations modulo PRIME; None if the equations are dependent modulo PRIME."""
    m = [[x % PRIME for x in row] for row in rows]
    for i in range(p):
        pivot = next((r for r in range(i, p) if m[r][i]), None)
        if pivot is None:
            return None
        m[i], m[pivot] = m[pivot], m[i]
        inverse = pow(m[i][i], -1, PRIME)
        m[i] = [x * inverse % PRIME for x in m[i]]
        for r in range(p):
            f = m[r][i]
            if r != i and f:
                m[r] = [(x - y * f) % PRIME for x, y in zip(m[r], m[i], strict=True)]
    return [row[-1] for row in m]


def _independent(rows: list[list[int]], p: int) -> bool:
    """True if the determinant is not 0, by elimination without fractions (Bareiss 1968)."""
    m, before = [row[:p] for row in rows], 1
    for i in range(p - 1):
        pivot = next((r for r in range(i, p) if m[r][i]), None)
        if pivot is None:
            return False
        m[i], m[pivot] = m[pivot], m[i]
        for r in range(i + 1, p):
            m[r] = [(m[i][i] * m[r][j] - m[r][i] * m[i][j]) // before if j > i else 0 for j in range(p)]
        before = m[i][i]
    return m[-1][-1] != 0


def _solved(equations: list[list[int]], p: int) -> list[Fraction] | None:
    """The exact solution of p equations; None if they are dependent."""
    rows = [[Fraction(x) for x in row] for row in equations]
    for i in range(p):
        pivot = next((r for r in range(i, p) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [e / rows[i][i] for e in rows[i]]
        for r in range(p):
            if r != i and rows[r][i] != 0:
                rows[r] = [e - rows[r][i] * f for e, f in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def _linear(a: Rational, of_steps: bool) -> Next:
    whole, below = a
    if of_steps:  # sum c (x[i] - x[i + 1]), and the last value: coefficients of the values
        whole = [c - b for b, c in zip([0, *whole], [*whole, 0], strict=True)]
        whole[0] += below
    places = [(-1 - i, c) for i, c in enumerate(whole) if c]
    if below == 1:
        return lambda recent: sum([c * recent[i] for i, c in places])

    def step(recent: list[int]) -> int | None:
        value, rest = divmod(sum([c * recent[i] for i, c in places]), below)
        return None if rest else value

    return step


def _product(xs: list[int]) -> Next | None:
    """The product law x' = x r with r in arithmetic progression: factorials and powers."""
    if any(v == 0 for v in xs) or len(xs) < 6:
        return None
    a, b, c, d = xs[-4:]
    if d * a * b - 2 * c * c * a + b * b * c != 0:  # (d/c - c/b) - (c/b - b/a), the usual case
        return None
    r = [Fraction(b, a) for a, b in zip(xs, xs[1:], strict=False)]
    grow = r[-1] - r[-2]
    if any(b - a != grow for a, b in zip(r, r[1:], strict=False)):
        return None
    up, below = grow.numerator, grow.denominator

    def step(recent: list[int]) -> int | None:
        x, before = recent[-1], recent[-2]
        value, rest = divmod(x * (x * below + up * before), before * below)
        return None if rest else value

    return step


def _residues(xs: list[int], m: int) -> Next | None:
    """One affine map for each residue modulo m, from at least three observations per observed residue, one more than
    needed.
    """
    mine: dict[int, dict[tuple[int, int], None]] = {}
    for pair in zip(xs, xs[1:], strict=False):
        mine.setdefault(pair[0] % m, {})[pair] = None
    maps: dict[int, tuple[int, int, int]] = {}
    for r, seen in mine.items():
        if len(seen) < 3:
            return None
        (a0, b0), (a1, b1), *_ = seen
        # x' = b0 + (x - a0) up / below
        up, below = b1 - b0, a1 - a0
        if below == 0 or any(up * (a - a0) != below * (b - b0) for a, b in seen):
            return None
        maps[r] = up, below, below * b0 - up * a0

    def step(recent: list[int]) -> int | None:
        law = maps.get(recent[-1] % m)
        if law is None:
            return None
        value, rest = divmod(law[0] * recent[-1] + law[2], law[1])
        return None if rest else value

    return step


def _run(xs: list[int], law: Next, op: str, t: float, bits: int | None, signed: bool) -> int | None:
    recent, test = list(xs[-6:]), OPS[op]
    # a value this much larger than the threshold will not return to it
    most = min(BITS, max(2 * max(abs(x) for x in recent).bit_length(), _bits(t)) + 1024)
    modulus = 1 << bits if bits is not None else 0
    low = -(modulus >> 1) if signed else 0
    kept, look = list(recent), 8
    for k in range(1, MOST + 1):
        try:
            value = law(recent)
        except ZeroDivisionError:
            return None
        if value is None or value.bit_length() > most:
            return None
        if modulus:
            value = (value - low) % modulus + low
        if not test(value, t):
            return k
        recent.append(value)
        if value == kept[-1] and recent[-6:] == kept[-6:]:
            return None  # the values repeat (Brent's search)
        if k == look:
            kept, look = recent[-6:], 2 * look
    return None


def _bits(t: float) -> int:
    return int(t).bit_length() if isinstance(t, int) or math.isfinite(t) else 0
