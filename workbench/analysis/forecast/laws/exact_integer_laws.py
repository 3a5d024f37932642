"""Exact laws of integer operands beyond the counter: polynomials, linear recurrences, products, maps by residue.

Each law is solved in rational arithmetic from a few observations and kept only if it reproduces all that are asked (32
at most) exactly; then it is run ahead in unbounded integers, or modulo the dtype's width.  As an inference from
observations this makes a forecast, never a proof.  Residue maps x' = (a x + b) / c, one for each residue of x
modulo m, are the generalized Collatz maps (Conway 1972).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from workbench.analysis.forecast.laws.exact_continuation import OPS, Steps
from workbench.analysis.series.integer_division import division

#: Values run ahead one by one, and the bits a value may grow to.
MOST, BITS = 4096, 8192
Next = Callable[[list[int]], "int | None"]


def integer_law(xs: list[int], op: str, t: float, bits: int | None, signed: bool = True) -> Steps | None:
    """First k at which the law's value fails ``op t``; None without a law or where the run ahead does not get there."""
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
    """Constant differences of order 2 to 4 that all push one way: the crossing by bisection, at any distance."""
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


def _recurrence(v: list[int], p: int) -> list[Fraction] | None:
    """Coefficients of v[n] = sum a[i] v[n - 1 - i] if it holds for all, with p + 2 equations to check it."""
    n = len(v)
    if n < 3 * p + 2:
        return None
    rows = [[Fraction(v[k - 1 - i]) for i in range(p)] + [Fraction(v[k])] for k in range(n - p, n)]
    for i in range(p):
        pivot = next((r for r in range(i, p) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [e / rows[i][i] for e in rows[i]]
        for r in range(p):
            if r != i and rows[r][i] != 0:
                rows[r] = [e - rows[r][i] * f for e, f in zip(rows[r], rows[i], strict=True)]
    a = [row[-1] for row in rows]
    if any(abs(c.numerator) > 10_000 or c.denominator > 10_000 for c in a):
        return None
    good = all(sum(c * v[k - 1 - i] for i, c in enumerate(a)) == v[k] for k in range(p, n))
    return a if good else None


def _linear(a: list[Fraction], of_steps: bool) -> Next:
    def step(recent: list[int]) -> int | None:
        if of_steps:
            d = [recent[-1 - i] - recent[-2 - i] for i in range(len(a))]
            value = recent[-1] + sum(c * e for c, e in zip(a, d, strict=True))
        else:
            value = sum((c * recent[-1 - i] for i, c in enumerate(a)), Fraction(0))
        return int(value) if value == int(value) else None

    return step


def _product(xs: list[int]) -> Next | None:
    """x' = x r with r in arithmetic progression: factorials and powers."""
    if any(v == 0 for v in xs) or len(xs) < 6:
        return None
    r = [Fraction(b, a) for a, b in zip(xs, xs[1:], strict=False)]
    grow = r[-1] - r[-2]
    if any(b - a != grow for a, b in zip(r, r[1:], strict=False)):
        return None

    def step(recent: list[int]) -> int | None:
        value = recent[-1] * (Fraction(recent[-1], recent[-2]) + grow)
        return int(value) if value == int(value) else None

    return step


def _residues(xs: list[int], m: int) -> Next | None:
    """One affine map for each residue modulo m; three observations of each residue seen, one more than it needs."""
    pairs = list(zip(xs, xs[1:], strict=False))
    maps: dict[int, tuple[Fraction, Fraction]] = {}
    for r in {a % m for a, _ in pairs}:
        mine = list(dict.fromkeys((a, b) for a, b in pairs if a % m == r))
        if len(mine) < 3 or mine[0][0] == mine[1][0]:
            return None
        (a0, b0), (a1, b1) = mine[0], mine[1]
        c = Fraction(b1 - b0, a1 - a0)
        maps[r] = (c, b0 - c * a0)
        if any(c * a + maps[r][1] != b for a, b in mine):
            return None

    def step(recent: list[int]) -> int | None:
        law = maps.get(recent[-1] % m)
        value = law[0] * recent[-1] + law[1] if law is not None else None
        return None if value is None or value != int(value) else int(value)

    return step


def _run(xs: list[int], law: Next, op: str, t: float, bits: int | None, signed: bool) -> int | None:
    recent, test = list(xs[-6:]), OPS[op]
    modulus = 1 << bits if bits is not None else 0
    low = -(modulus >> 1) if signed else 0
    for k in range(1, MOST + 1):
        try:
            value = law(recent)
        except ZeroDivisionError:
            return None
        if value is None or value.bit_length() > BITS:
            return None
        if modulus:
            value = (value - low) % modulus + low
        if not test(value, t):
            return k
        recent = [*recent[-5:], value]
    return None
