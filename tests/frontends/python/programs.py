"""Plain Python and NumPy programs, each with arguments to run it with."""
# ruff: noqa: E731, F841

from __future__ import annotations

import math
from typing import Any

import numpy as np

CASES: list[tuple[Any, tuple[Any, ...]]] = []


def case(*calls: tuple[Any, ...]) -> Any:
    """Run the function with each of these tuples of arguments."""

    def note(function: Any) -> Any:
        CASES.extend((function, call) for call in calls)
        return function

    return note


@case((27,), (1,), (2,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case((48, 18), (17, 5), (5, 0), (0, 5))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@case((2.0,), (1e-3,), (1.0,))
def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = (x + a / x) * 0.5
    return x


@case((2.0, 50), (9.0, 2), (0.0, 5))
def newton_early(a, limit):
    x = a if a > 1 else 1.0
    for k in range(limit):
        new = (x + a / x) * 0.5
        if abs(new - x) < 1e-12:
            return new, k
        x = new
    return x, limit


@case((0.0, 2.0), (-1.0, 1.0))
def bisection(low, high):
    def f(x):
        return x**3 - x - 0.5

    for _ in range(60):
        middle = (low + high) / 2
        value = f(middle)
        if value == 0:
            return middle
        if value > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@case((50,), (2,))
def sieve(n):
    flags = np.ones(60, dtype=bool)
    flags[:2] = False
    i = 2
    while i * i < n:
        if flags[i]:
            for j in range(i * i, n, i):
                flags[j] = False
        i += 1
    return flags


@case((np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 1.0])))
def power_iteration(matrix, start):
    v = start
    for _ in range(30):
        w = matrix @ v
        v = w / np.sqrt(np.sum(w * w))
    return v, np.sum(v * (matrix @ v))


@case((2,), (9,), (97,), (91,), (1,))
def is_prime(n):
    if n < 2:
        return False
    k = 2
    while k * k <= n:
        if n % k == 0:
            break
        k += 1
    else:
        return True
    return False


@case((29,), (49,), (4,))
def prime_for_else(n):
    for k in range(2, n):
        if n % k == 0:
            result = 0
            break
    else:
        result = 1
    return result


@case((10, 3), (5, 100), (0, 1))
def skipping(n, bound):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        for j in range(i):
            if j == 4:
                continue
            if total > bound:
                break
            total += i * j + 1
        else:
            total += 1000
    return total


@case((10,), (0,), (1,), (50,))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case((np.array([5.0, 2.0, 9.0, -1.0, 3.0]),), (np.array([3, 1, 2], dtype=np.int32),))
def bubble_sort(values):
    x = values.copy()
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break
    return x


@case((np.array([5.0, 2.0, 9.0, -1.0]),))
def sort_by_slices(values):
    x = values.copy()
    for i in range(1, len(x)):
        j = i
        while j > 0 and x[j - 1] > x[j]:
            x[j - 1 : j + 1] = x[j - 1 : j + 1][::-1].copy()
            j -= 1
    return x


@case((-0.5, 0.5), (1.0, 1.0), (-2.0, 0.0))
def mandelbrot(re, im):
    zr = zi = 0.0
    for k in range(100):
        zr, zi = zr * zr - zi * zi + re, 2 * zr * zi + im
        if zr * zr + zi * zi > 4.0:
            return k
    return -1


@case((0.5, np.array([1.0, -2.0, 3.0])), (2.0, np.array([4.0])))
def horner(x, coefficients):
    result = 0.0
    for c in coefficients[::-1]:
        result = result * x + c
    return result


@case((complex(0.3, 0.4),), (complex(2, 0),))
def complex_orbit(c):
    z = 0j
    n = 0
    while abs(z) <= 2 and n < 20:
        z = z * z + c
        n += 1
    return z, n


@case((np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)))
def matmul_by_hand(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


@case((3, 10, 2), (10, 3, -2), (1, 1, 1))
def any_range(a, b, s):
    total = 0
    last = -1
    for i in range(a, b, s):
        total = total * 10 + i
        last = i
    return total, last


@case((np.array([[1.0, 2.0], [3.0, 4.0]]),))
def rows(matrix):
    total = 0
    for row in matrix:
        total = total + row
    return total


@case((np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])))
def zipped(x, y):
    total = 0.0
    for k, (a, b) in enumerate(zip(x, y, strict=False)):
        total += k * a * b
    for v in reversed(x):
        total = total / 2 + v
    for k in reversed(range(5)):
        total -= k
    for k, v in enumerate(reversed(y), 3):
        total += k * v
    return total


@case((3,), (0,), (7,), (20,))
def chained(n):
    count = 0
    for i in range(n):
        if 1 < i < 5 or i == 7 and not i == 9:
            count += 1
        elif 10 <= i <= 12 != n:
            count += 100
    return count


@case((np.array([1.0, -1.0, 2.0]), 3), (np.array([1.0, 1.0]), 2))
def short_circuit(x, n):
    i = 0
    while i < n and x[i] > 0:
        i += 1
    return i


@case((0.0,), (4.0,))
def guarded(x):
    if x != 0 and 1 / x > 0.1:
        return 1 / x
    return 0.0 if x == 0 or 1 / x > 1 else -1.0


@case((5,), (-5,), (0,))
def nested_returns(n):
    if n > 0:
        for i in range(n):
            if i == 3:
                return i
            j = 0
            while True:
                j += 1
                if j > i:
                    break
                if j == 7:
                    return 100
        return n * 10
    elif n < 0:
        return -1
    return 0


@case((3.0, 4.0))
def helpers(x, y):
    def square(v, power=2):
        return v**power

    total = square(x) + square(y, power=3)
    add = lambda a, *rest, scale=1: a + sum(rest) * scale
    return add(total, x, y, scale=2), hypotenuse(x, y), math.sqrt(total)


def hypotenuse(x, y):
    if x > y:
        return math.sqrt(x * x + y * y)
    return math.sqrt(y * y + x * x)


@case((2.0, 5), (2.0, 0))
def later_binding(x, n):
    factor = 1.0

    def scaled(v):
        return v * factor

    total = 0.0
    for _ in range(n):
        factor = factor + 1
        total += scaled(x)
    return total


@case((2.0,), (3,))
def static_recursion(x):
    def power(v, n):
        if n == 0:
            return 1
        half = power(v, n // 2)
        if n % 2:
            return half * half * v
        return half * half

    return power(x, 10)


@case((np.zeros(4),))
def aliasing(x):
    y = x.copy()
    z = y
    z[1] = 5.0
    part = y[2:]
    part[0] = 7.0
    part += 1
    row = y.reshape(2, 2).copy()
    row[0] = 3.0
    w = y
    w = w + 1
    w[0] = -1.0
    return y, z, part, row, w


@case((np.array([[1, 2], [3, 4]]),))
def views_in_loops(a):
    x = a.copy()
    for row in x:
        row[0] = row[1] * 10
        row += 1
    t = x[:, 0]
    for i in range(2):
        t[i] += 100
    return x, t


@case((1.0, True), (1.0, False))
def merged_kinds(x, flag):
    a = 1 if flag else 2.5
    b = (x, 1) if flag else (2.0, 3)
    c = None
    if flag:
        c = x
    else:
        c = x + 1
    return a * x, b, c


@case(({"a": 1.0, "b": np.arange(3.0)}, [1.0, 2.0], (3, 4)))
def structures(d, xs, pair):
    p, q = pair
    total = d["a"] * p + q
    for v in xs:
        total = total + v
    for k, v in d.items():
        if k == "b":
            total = total + v.sum()
    first, *rest = [p, q, 7]
    return {"total": total, "rest": rest, "pair": (q, p), "none": None, "text": "x"}


@case((4,), (0,))
def walrus(n):
    total = 0
    while (n := n - 1) > 0:
        total += n
    return total, n


@case((6,), (1,))
def while_else(n):
    k = 0
    while k < n:
        k += 1
        if k == 4:
            break
    else:
        k = -k
    return k


@case((3.0,))
def comprehensions(x):
    powers = [x**k for k in range(5) if k != 2]
    total = sum([p for p in powers])
    table = {k: x * k for k in (1, 2)}
    pairs = tuple(a * b for a in (1, 2) for b in (x, 2 * x))
    return powers, total, table, pairs


@case((np.arange(5.0), 2), (np.arange(5.0), -1))
def augmented(x, k):
    y = x * 1
    y[1:] += 10
    y[k] *= 3
    y[::2] -= y[1]
    i = k
    i //= 2
    i **= 2
    return y, i


@case((5, 2.0), (0, 2.0))
def promoted(n, x):
    s = 0
    flag = False
    for i in range(n):
        s += x / (i + 1)
        flag = i > 2
    return s + 0.0, flag or s > 1


@case((4,), (1,))
def sure_after_loop(n):
    for i in range(3):
        last = i * n
    while True:
        found = n + last
        n += 1
        if n > 5:
            break
    return last, found, i


@case((7, 3), (2, 3))
def swapped(a, b):
    (a, b), c = (b, a), a
    if a > b:
        a, b = b, a
    return a, b, c


@case((np.arange(10),))
def find_pair(x):
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] == 42:
                return i, j
    return -1, -1


@case((12,), (2,))
def triple_loop(n):
    count = 0
    for a in range(1, n):
        for b in range(a, n):
            for c in range(b, n):
                if a * a + b * b == c * c:
                    count += 1
    return count
