"""Modular arithmetic of wrapping counters: the first t at which x + c t enters a range, or a x + b equals a value.

The first is the least t with l <= c t mod m <= r, found by the Euclidean algorithm on c and m. The second is lifted
from one bit to the next, which is possible because an affine map with an odd factor permutes the residues of a power of
two (T. E. Hull and A. R. Dobell, "Random number generators", SIAM Review 4, 1962, https://doi.org/10.1137/1004061).
Both are exact, and their number of steps is proportional to the number of bits.
"""

from __future__ import annotations


def first_in_range(c: int, m: int, low: int, high: int) -> int | None:
    """Least t >= 0 with low <= (c t mod m) <= high, for 0 <= low <= high < m; None if there is none.

    >>> first_in_range(3, 10, 4, 4)
    8
    >>> first_in_range(2, 10, 5, 5) is None
    True
    """
    if not 0 <= low <= high < m:
        raise ValueError(f"wanted 0 <= {low} <= {high} < {m}")
    # at each level the least t with c t - m y in [low, high]; from level to level, m and c change places as in Euclid's
    # algorithm
    levels: list[tuple[int, int, int]] = []
    c %= m
    while True:
        if low == 0:
            t = 0
            break
        if c == 0:
            return None
        t = -(-low // c)
        if c * t <= high:
            break
        # no multiple of c is in the range: m y, after y wraps, must lie in [-high, -low] modulo c
        levels.append((c, m, low))
        c, m, low, high = m % c, c, -high % c, -low % c
    while levels:
        c, m, low = levels.pop()
        t = -(-(low + m * t) // c)  # t was the number y of wraps; now the least t with c t >= low + m y
    return t


def first_hit(x: int, c: int, m: int, low: int, high: int) -> int | None:
    """Least t >= 0 with (x + c t) mod m between low and high, a range that may wrap around 0; None if there is none."""
    low, size = (low - x) % m, high - low
    if size < 0 or size >= m:
        return 0 if size >= m else None
    if low + size >= m:  # x itself is in the range
        return 0
    return first_in_range(c % m, m, low, low + size)


def affine_power(a: int, b: int, t: int, m: int) -> tuple[int, int]:
    """(a', b') for which x -> a' x + b' modulo m equals t applications of x -> a x + b.

    >>> affine_power(2, 1, 3, 100)
    (8, 7)
    """
    out = (1, 0)
    while t:
        if t & 1:
            out = (a * out[0] % m, (a * out[1] + b) % m)
        a, b = a * a % m, (a * b + b) % m
        t >>= 1
    return out


def first_equal(x: int, a: int, b: int, bits: int, target: int) -> int | None:
    """Least t >= 0 for which t applications of x -> a x + b, for odd a, take x to ``target`` modulo 2^bits; None if
    there is none.

    >>> first_equal(1, 5, 1, 3, 7)
    3
    """
    if not a & 1:
        raise ValueError("the factor must be odd")
    t, period = 0, 1  # the solution modulo 2^0, and the period of the orbit there
    for k in range(1, bits + 1):
        m = 1 << k
        want = target % m

        def at(n: int, m: int = m) -> int:
            f, g = affine_power(a, b, n, m)
            return (f * x + g) % m

        longer = 2 * period if at(period) != x % m else period
        hits = [n for n in range(t, longer, period) if at(n) == want]
        if not hits:
            return None
        t, period = hits[0], longer
    return t
