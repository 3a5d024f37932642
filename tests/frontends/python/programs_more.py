"""More programs: arrays that are shared, changed and passed on, and control flow inside conditions."""
# ruff: noqa: B007, B023, E731, F841

from __future__ import annotations

import math
from typing import Any

import numpy as np

CASES: list[tuple[Any, tuple[Any, ...]]] = []
OPERATIONS = (abs, math.sqrt)


def case(*calls: tuple[Any, ...]) -> Any:
    """Run the function with each of these tuples of arguments."""

    def note(function: Any) -> Any:
        CASES.extend((function, call) for call in calls)
        return function

    return note


@case((np.linspace(0.0, 1.0, 7), 5), (np.linspace(0.0, 1.0, 7), 0))
def jacobi(start, n):
    old = start.copy()
    new = start.copy()
    for _ in range(n):
        new[1:-1] = 0.5 * (old[:-2] + old[2:])
        old, new = new, old
    return old


@case((2.0,), (50.0,))
def call_in_condition(a):
    def done(x):
        if x > 100:
            return True
        return abs(x * x - a) < 1e-9

    x = a
    while not done(x):
        x = (x + a / x) / 2
    return x


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@case((12, 18), (7, 21))
def loop_in_condition(a, b):
    steps = 0
    while gcd(a, b) > 1 and steps < 50:
        a = a + 1
        steps += 1
    return a, steps


@case((3, 0.0), (0, 2.0), (0, 0.0))
def values_of_or(n, x):
    y = n or 7
    z = x and x * 2
    w = not n
    v = n > 1 and x > 1 or x == 0
    return y, z, w, v


@case((4.0,), (-4.0,))
def static_functions(x):
    total = 0.0
    for f in OPERATIONS:
        total += f(abs(x))
        if total > 5:
            break
    else:
        total = -1.0
    for name, scale in (("a", 1), ("b", 2)):
        if name == "b":
            total += scale * x
            continue
        total -= x
    return total


@case((3.0, 2), (3.0, 9))
def unrolled_with_returns(x, n):
    for k in (1, 2, 3, 5):
        if k * n > 9:
            return k, x
        x = x + k
    return 0, x


@case((5,), (0,))
def lists_in_loops(n):
    pair = [0, 1]
    table = {"sum": 0, "last": 0.0}
    for i in range(n):
        pair[0], pair[1] = pair[1], pair[0] + pair[1]
        table["sum"] += i
        table["last"] = i / 2
    grown = []
    grown.append(pair[0])
    grown += [n, n]
    grown.extend((1, 2))
    last = grown.pop()
    return pair, table, grown, last, len(grown)


@case((np.arange(4.0), 3), (np.arange(4.0), 0))
def passed_on(x, n):
    def put(array, position, value):
        array[position] = value
        return array

    y = x.copy()
    for i in range(n):
        z = put(y, i, i * 10.0)
        z[-1] += 1
    return y


@case((np.arange(6.0),), (np.arange(6.0) - 10,))
def write_in_branch(x):
    y = x.copy()
    z = y
    if y[1] > 0:
        y[0] = 5.0
        w = y[2:]
        w[0] = 6.0
    else:
        y[1:3] = 7.0
    return y, z


@case((5, 3), (5, 0), (0, 0))
def returns_arrays(n, m):
    x = np.zeros(4)
    for i in range(n):
        x[i % 4] += i
        if i == m:
            return x, i
    return x, -1


@case((10, 4), (3, 4))
def for_with_found(n, wanted):
    for i in range(n):
        square = i * i
        if i == wanted:
            found = square
            break
    else:
        found = -1
    return found


@case((10, 50), (10, 5), (2, 5))
def nested_found(n, wanted):
    count = 0
    for i in range(1, n):
        for j in range(1, i):
            if i * j == wanted:
                first, second = i, j
                break
            count += 1
        else:
            continue
        break
    else:
        first, second = 0, 0
    return count


@case((3,), (1,))
def rebound_to_other_kinds(n):
    t = None
    total = 0
    for i in range(n):
        t = (i, i + 1)
        total += t[0] * t[1]
        t = "text"
    return total


@case((np.arange(5),), (np.zeros(3, dtype=np.int64),))
def while_any(x):
    y = x.copy()
    steps = 0
    while (y > 0).any():
        y = np.maximum(y - 1, 0)
        steps += 1
    return y, steps


@case((np.float32(1.5), 3), (np.float64(1.5), 0))
def numpy_scalars(x, n):
    total = x * 0
    for i in range(n):
        total = total + x * i
        if total > 100:
            total = x
    return total, x > 1, -x


@case((2, 3), (3, 2))
def conditional_expressions(a, b):
    c = a if a < b else b
    d = (a, b) if a < b else (b, a)
    f = (lambda v: v + 1) if True else abs
    e = 1 if a else 2 if b else 3
    return c, d, f(a), e


@case((5,), (2,))
def deep_flags(n):
    log = 0
    for i in range(n):
        if i == 1:
            if n > 3:
                continue
            log += 1
        j = 0
        while j < i:
            j += 1
            if j == 2:
                if i == 3:
                    break
                continue
            log = log * 2 + j
        else:
            log += 100
        if log > 10**6:
            return -log
    return log


@case((4,), (0,))
def closures_in_loops(n):
    total = 0
    for i in range(n):

        def add(k, base=i):
            return base * 10 + k + i

        total += add(1)
    return total


@case((3, 4), (4, 3))
def star_arguments(a, b):
    def f(x, *rest, k=1, **more):
        return x + sum(rest) * k + more.get("z", 0)

    pair = (a, b)
    options = {"k": 2, "z": a}
    return f(*pair), f(1, *pair, **options), f(x=a, z=b)


@case((np.arange(6.0).reshape(2, 3),))
def shapes(x):
    n, m = x.shape
    total = x.sum()
    y = np.zeros((m, n))
    for i in range(n):
        for j in range(m):
            y[j, i] = x[i, j] * total
    return y.T, x.ndim, len(x), x.mean(axis=0), np.where(x > 2, x, -x)


@case((np.array([3.0, 1.0, 2.0]), 2.0))
def swaps(x, t):
    y = x.copy()
    y[0], y[-1] = y[-1], y[0]
    y[1:] = y[1:] * t
    y[:2] += y[1:]
    y[::-1][0] = 9.0
    return y


@case((7,), (8,), (0,))
def bits(n):
    count = 0
    mask = 1
    while mask <= n:
        if n & mask:
            count += 1
        mask <<= 1
    return count, n ^ 5, n | 8, ~n, n >> 1


@case((np.zeros(3), 3))
def growing_shape(x, n):
    y = x
    for i in range(n):
        y = np.concatenate([y, np.array([1.0])])
    return y, len(y)


@case((6,), (7,))
def constant_on_one_side(n):
    k = 3
    if n % 2:
        k = 4
        label = "odd"
    else:
        label = "odd"
    x = np.zeros(3)
    return k * n if label == "odd" else x


@case((5,), (50,))
def asserts(n):
    assert n > 0
    total = 0
    for i in range(n):
        assert total >= 0, "never negative"
        total += i
    if total > 100:
        assert n > 10
    return total


@case((3.0, 4))
def annotated(x: float, n: int = 3) -> float:
    """Docstring."""
    total: float = 0.0
    count: int
    for count in range(n):
        total += x
        pass
    ...
    return total


@case((10,), (3,), (1,))
def complicated_exit(n):
    i = 0
    while True:
        i += 1
        if i > n:
            result = "never" and -1
            break
        if i * i > 20:
            return i * 1000
        if i % 2:
            continue
        if i == 6:
            result = 6
            break
    return i


@case((np.arange(12.0).reshape(3, 4),))
def iterate_columns(x):
    best = -1.0
    where = 0
    for j, column in enumerate(x.T):
        value = column.sum()
        if value > best:
            best, where = value, j
    return best, where


@case((3, 2.0))
def early_in_branch(n, x):
    if n > 1:
        for i in range(n):
            if x > 2:
                return x
            x = x + i
    else:
        x = -x
    y = x * 2
    if y > 5:
        return y
    return x


@case((np.arange(6.0).reshape(3, 2),))
def row_swap(x):
    a = x.copy()
    a[0], a[1] = a[1], a[0]  # NumPy's views: both rows are the old second one
    b = x.copy()
    b[[0, 1]] = b[[1, 0]]
    return a, b


@case((np.arange(24.0).reshape(2, 3, 4), 1), (np.arange(24.0).reshape(2, 3, 4), 0))
def views_of_views(x, k):
    a = x.copy()
    b = a[k]
    c = b[1:, ::-2]
    d = c[0]
    d += 100
    c[..., 0] = -1.0
    e = a[:, None, 0]
    e[k] *= 2
    f = b[::-1]
    f[0, 0] = 0.5
    for i in range(2):
        g = a[i, :, 1:]
        g[k] -= i + 1
        for j in range(3):
            g[j, j % 3] = 7.0
    return a, b, c, d, e, f


@case((4, 2.0), (0, 2.0))
def containers_of_arrays(n, x):
    parts = [np.zeros(3), np.ones(3)]
    table = {"a": parts[0], "b": np.arange(3.0)}
    pair = (parts[1], np.arange(3.0))
    for i in range(n):
        parts[0][i % 3] += x
        pair[1][0] += i
        table["b"] = table["b"] + 1
    return parts, table, pair


@case((np.arange(4.0), 3))
def views_from_functions(x, n):
    def middle(v):
        return v[1:-1]

    y = x.copy()
    m = middle(y)
    for i in range(n):
        m[i % 2] += i
    z = middle(middle(np.zeros(8)))
    z[:] = 1.0
    return y, m, z


@case((5, 2), (5, 9))
def arrays_in_branches(n, k):
    a = np.zeros(4)
    b = np.ones(4)
    for i in range(n):
        if i == k:
            a = b * 2
            continue
        if i % 2:
            a[i % 4] = i
        else:
            b = b + a
    return a, b


@case((3,), (5,))
def alternating(n):
    a = np.zeros(3)
    b = np.ones(3)
    c = np.full(3, 2.0)
    for i in range(n):
        a, b, c = b, c, a
        a[0] += i
        b[1] -= i
    return a, b, c


@case((np.array([0.5, -0.5, 2.0]),))
def masks(x):
    y = x.copy()
    y[y < 0] = 0.0
    y[y > 1] *= 2
    return y, x[x > 0].sum(), len(x[x > 1])


@case((1, 2.0), (5, 2.0))
def lists_from_branches(n, x):
    if n > 3:
        xs = [x, 1.0]
        d = {"a": n}
    else:
        xs = [0.0, x]
        d = {"a": 7}
    xs[0] += 10
    d["a"] += 1
    y = np.zeros(2)
    pair = (y, 1) if n > 3 else (y, 2)
    pair[0][1] = x
    for i in range(n):
        xs = [xs[1], xs[0] + i]
        pair = (y, i)
    return xs, d, y, pair
