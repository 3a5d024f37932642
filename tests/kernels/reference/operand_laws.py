"""Plain NumPy of what ``laws`` computes, for tests: the same definitions, none of the speed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

#: No law is followed further than this many iterations.
HORIZON = 10_000_000
#: Values looked at one by one; beyond, a law is taken to be monotone between the points of a geometric grid.
DENSE = 32_768

Ends = Callable[[np.ndarray], np.ndarray]
#: What a map raises where it is not defined, or leaves the range of floats.
UNDEFINED = (OverflowError, ZeroDivisionError, ValueError)


class Closed:
    """A law with a closed form: ``at(j)`` for an array of j >= 1."""

    is_map = False

    def __init__(self, name: str, parameters: int, at: Callable[[np.ndarray], np.ndarray]) -> None:
        self.name, self.parameters, self.at = name, parameters, at

    def values(self, n: int) -> np.ndarray:
        return self.at(np.arange(1, n + 1))

    def first(self, op: str, t: float) -> float | None:
        ends = comparison(op, t)
        low, size = 0, 64
        while low < DENSE:
            j = np.arange(low + 1, low + size + 1)
            values = self.at(j)
            hit = np.flatnonzero(ends(values))
            if hit.size:
                good = np.isfinite(values[: int(hit[0])])
                return int(j[hit[0]]) if good.all() else None
            if not np.isfinite(values[-1]):
                return None
            if values[-1] == values[0] and low:
                return math.inf
            low, size = low + size, 7 * (low + size)
        grid = np.unique(np.geomspace(low, HORIZON, 200).astype(np.int64))
        hit = np.flatnonzero(ends(self.at(grid)))
        if not hit.size:
            return math.inf
        a, b = (int(grid[hit[0] - 1]) if hit[0] else low), int(grid[hit[0]])
        while b - a > 1:
            mid = (a + b) // 2
            a, b = (a, mid) if bool(ends(self.at(np.array([mid])))[0]) else (mid, b)
        return b


class Map:
    """x' = f(x), iterated from x."""

    MOST, is_map = 20_000, True

    def __init__(self, name: str, parameters: int, f: Callable[[float], float], x: float) -> None:
        self.name, self.parameters, self.f, self.x = name, parameters, f, x

    def _run(self, n: int) -> list[float]:
        x, f, out = self.x, self.f, []
        try:
            for _ in range(n):
                x = f(x)
                out.append(x)
        except UNDEFINED:
            out += [math.nan] * (n - len(out))
        return [v if isinstance(v, float) else math.nan for v in out]

    def after(self, x: np.ndarray) -> np.ndarray:
        """The value after each of x; NaN where the map is not defined."""
        out = np.full(len(x), math.nan)
        for i, v in enumerate(x.tolist()):
            try:
                out[i] = self.f(v)
            except UNDEFINED:
                continue
        return out

    def values(self, n: int) -> np.ndarray:
        return np.array(self._run(n))

    def first(self, op: str, t: float) -> float | None:
        ends = comparison(op, t)
        done, size, start = 0, 64, self.x
        before = start
        try:
            while done < self.MOST:
                values = self.values(size)
                hit = np.flatnonzero(ends(values))
                finite = np.isfinite(values)
                if hit.size:
                    return done + int(hit[0]) + 1 if finite[: int(hit[0]) + 1].all() else None
                if not finite.all():
                    return None
                if values[-1] == values[-2] or abs(values[-1] - before) <= 1e-15 * abs(before):
                    return math.inf
                before = float(values[-1])
                done, size, self.x = done + size, min(4 * size, 8192), before
        finally:
            self.x = start
        return None


def comparison(op: str, t: float) -> Ends:
    """The test "not (value op t)" for arrays; a NaN value never ends."""
    test = {
        ">": lambda v: v <= t,
        ">=": lambda v: v < t,
        "<": lambda v: v >= t,
        "<=": lambda v: v > t,
        "==": lambda v: (v < t) | (v > t),
        "!=": lambda v: v == t,
    }[op]
    return test


#: name, target as a function of (x, x'), powers of x on the other side
_FORMS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("linear", "next", (1,)),
    ("affine", "next", (0, 1)),
    ("origin-2", "next", (1, 2)),
    ("ratio-1", "ratio", (0, 1)),
    ("newton-1", "newton", (0, 1)),
    ("square-root", "product", (0, 2)),
    ("quadratic", "next", (0, 1, 2)),
    ("origin-3", "next", (1, 2, 3)),
    ("ratio-2", "ratio", (0, 1, 2)),
    ("newton-2", "newton", (0, 1, 2)),
    ("cubic", "next", (0, 1, 2, 3)),
)


def solve(columns: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """Least squares with columns brought to one size; None where they are not independent.

    By the normal equations, refined twice, where they are well enough conditioned for that; else by QR.
    """
    size = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    if not (0.0 < float(size.min()) and math.isfinite(float(size.sum())) and math.isfinite(float(target.sum()))):
        return None
    a = columns / size
    gram = a.T @ a
    try:
        low = np.linalg.cholesky(gram)
        if float(low.diagonal().min()) > 1e-4:
            inverse = np.linalg.inv(gram)
            answer = inverse @ (a.T @ target)
            for _ in range(2):
                answer = answer + inverse @ (a.T @ (target - a @ answer))
            return np.asarray(answer / size)
    except np.linalg.LinAlgError:
        pass
    q, r = np.linalg.qr(a)
    d = np.abs(np.diagonal(r))
    if d.min() < 1e-13 * d.max():
        return None
    return np.asarray(np.linalg.solve(r, q.T @ target) / size)


def map_laws(x: np.ndarray, most: int = 4) -> Iterator[Map]:
    """Every form of up to ``most`` parameters that can be fitted to the values; needs more values than parameters."""
    a, b = x[:-1], x[1:]
    if np.any(b == 0) or np.any(a == 0):
        keep = (a != 0) & (b != 0)
        a, b = a[keep], b[keep]
    n, last = len(a), float(x[-1])
    if n < 2:
        return
    targets = {"next": b, "ratio": a / b, "newton": a * a / b, "product": a * b}
    for name, target, powers in _FORMS:
        if len(powers) > most or n < len(powers) + (1 if len(powers) < 3 else 2):
            continue
        y = targets[target]
        w = 1.0 / np.abs(y)
        columns = np.stack([w if p == 0 else a * w if p == 1 else a**p * w for p in powers], axis=1)
        c = solve(columns, np.sign(y))
        if c is not None:
            yield Map(name, len(powers), _step(target, powers, c.tolist()), last)
    law = _decrement(a, b, last) if most > 1 else None
    if law is not None:
        yield law


def _step(target: str, powers: tuple[int, ...], c: list[float]) -> Callable[[float], float]:
    full = [0.0] * 4
    for p, v in zip(powers, c, strict=True):
        full[p] = v
    c0, c1, c2, c3 = full
    if target == "next":
        return lambda x: c0 + x * (c1 + x * (c2 + x * c3))
    if target == "ratio":
        return lambda x: x / (c0 + x * (c1 + x * c2))
    if target == "product":
        return lambda x: (c0 + c2 * x * x) / x
    return lambda x: x * x / (c0 + x * (c1 + x * c2))


def _decrement(a: np.ndarray, b: np.ndarray, last: float) -> Map | None:
    """x - x' = c x**q with c and q from the logarithms."""
    d = a - b
    if len(a) < 4 or np.any(d * a <= 0) or np.any(a * last <= 0):
        return None
    lx, ld = np.log(np.abs(a)), np.log(np.abs(d))
    c = solve(np.stack([np.ones_like(lx), lx], axis=1), ld)
    if c is None or abs(c[1] - 1.0) < 1e-3 or abs(c[1]) > 20:
        return None
    q, scale = float(c[1]), math.exp(min(float(c[0]), 600.0))
    return Map("decrement", 2, lambda v: v - math.copysign(scale * abs(v) ** q, v), last)


At = Callable[[np.ndarray], np.ndarray]


def power_fit(k: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float] | None:
    """y = a - s log(k + k0), k from 0: (a, s, k0, rms); the grid on k0 is refined by Gauss and Newton's method."""
    n = float(k[-1] + 1)
    low, high = np.log(0.05), np.log(40.0 * n)
    best = None
    for _ in range(3):
        grid = np.exp(np.linspace(low, high, 17))
        u = np.log(k[None, :] + grid[:, None])
        du, dy = u - u.mean(axis=1, keepdims=True), y - y.mean()
        s = -(du @ dy) / np.maximum(np.einsum("ij,ij->i", du, du), 1e-300)
        sse = np.einsum("ij,ij->i", dy + s[:, None] * du, dy + s[:, None] * du)
        i = int(np.argmin(sse))
        step = (high - low) / 16
        low, high = np.log(grid[i]) - step, np.log(grid[i]) + step
        best = (float(s[i]), float(grid[i]))
    s1, k0 = best  # type: ignore[misc]
    a, rms = float(np.mean(y + s1 * np.log(k + k0))), float("inf")
    for _ in range(8):
        u = np.log(k + k0)
        du, dy = u - u.mean(), y - y.mean()
        s2 = -float(du @ dy) / max(float(du @ du), 1e-300)
        rest = dy + s2 * du
        before, now = rms, float(np.sqrt(np.mean(rest * rest)))
        if now > 0.9999 * before:
            break
        a, s1, rms, best = float(y.mean() + s2 * u.mean()), s2, now, (s2, k0)
        change = solve(np.stack([np.ones_like(u), -u, -s2 / (k + k0)], axis=1), rest)
        if change is None or not np.isfinite(change[2]) or abs(change[2]) < 1e-13 * k0:
            break
        k0 = max(k0 + float(change[2]), 1e-3, 0.3 * k0)
    s1, k0 = best  # type: ignore[misc]
    if not k0 < 39.0 * n or not np.isfinite(a + s1):
        return None  # an exponential in disguise
    return a, s1, k0, rms


def _thin(n: int) -> np.ndarray:
    """Up to about 100 indices, denser at both ends."""
    if n <= 96:
        return np.arange(n)
    half = np.unique(np.geomspace(1, n, 40).astype(np.int64)) - 1
    return np.unique(np.concatenate([half, n - 1 - half, np.linspace(0, n - 1, 40).astype(np.int64)]))


def power_laws(x: np.ndarray) -> Iterator[Closed]:
    """Values and steps that go like a power of the iteration."""
    n, last = len(x), float(x[-1])
    if n < 6:
        return
    if np.all(x * last > 0):
        index = _thin(n)
        fit = power_fit(index.astype(float), np.log(np.abs(x[index])))
        if fit is not None:
            a, s, k0, _ = fit
            sign, top = np.sign(last), n - 1 + k0
            # continue from the last value: the fit's own error there is not carried on
            yield Closed("power", 3, lambda j: last * ((top + j) / top) ** -s if s else sign * np.exp(a) + 0 * j)
    d = np.diff(x)
    if np.all(d * d[-1] > 0):
        index = _thin(n - 1)
        fit = power_fit(index.astype(float), np.log(np.abs(d[index])))
        if fit is not None:
            _, s2, k2, _ = fit
            yield Closed("power-steps", 3, _sum(last, float(d[-1]), s2, n - 2 + k2))
            if s2 > 1.0:
                yield from _power_to_limit(x, index, s2 - 1.0, k2)


def _power_to_limit(x: np.ndarray, index: np.ndarray, s: float, k0: float) -> Iterator[Closed]:
    """x = limit + c (k + k0)**-s by Gauss and Newton's method, each value weighted by the step there."""
    k, y = index.astype(float), x[index]
    w = 1.0 / np.maximum(np.abs(np.gradient(x)[index]), 1e-300)
    for _ in range(10):
        power = (k + k0) ** -s
        linear = solve(np.stack([w, power * w], axis=1), y * w)
        if linear is None:
            return
        limit, c = linear.tolist()
        rest = (y - limit - c * power) * w
        columns = [w, power * w, -c * power * np.log(k + k0) * w, -c * s * power / (k + k0) * w]
        change = solve(np.stack(columns, axis=1), rest)
        if change is None or not np.all(np.isfinite(change)):
            break
        s, k0 = max(s + float(change[2]), 0.3 * s), max(k0 + float(change[3]), 0.3 * k0, 1e-3)
        if abs(change[3]) < 1e-11 * k0 and abs(change[2]) < 1e-11 * s:
            break
    top, last = len(x) - 1 + k0, float(x[-1])
    if k0 < 39.0 * len(x):
        yield Closed("power-to-limit", 4, lambda j: limit + (last - limit) * ((top + j) / top) ** -s)


def _sum(last: float, d: float, s: float, top: float) -> At:
    """last + sum over i <= j of d ((top + i) / top)**-s: term by term up to 4096, then by Euler and Maclaurin."""

    def at(j: np.ndarray) -> np.ndarray:
        most = int(min(np.max(j), 4096))
        terms = np.cumsum(d * ((top + np.arange(1, most + 1)) / top) ** -s)
        out = terms[np.minimum(j, most) - 1]
        low, high = top + most + 0.5, top + np.maximum(j, most) + 0.5
        if abs(s - 1.0) < 1e-9:
            rest = np.log(high / low) * top
        else:
            rest = ((high / top) ** (1 - s) - (low / top) ** (1 - s)) / (1 - s) * top
        return last + out + np.where(j > most, d * rest, 0.0)

    return at


def _modes(v: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Roots z and shares c with v[n - 1 + j] = sum c z**j; each equation weighted by the local size."""
    n = len(v)
    if n < 2 * p + 1:
        return None
    rows = np.stack([v[p - 1 - i : n - 1 - i] for i in range(p)], axis=1)
    w = 1.0 / np.maximum(np.maximum(np.abs(rows).max(axis=1), np.abs(v[p:])), 1e-300)
    a = solve(rows * w[:, None], v[p:] * w)
    if a is None:
        return None
    z = np.roots(np.concatenate([[1.0], -a])) if p > 1 else a.astype(complex)
    z = z[np.abs(z) > 1e-10]
    if not len(z):
        return None
    m = min(n, max(2 * len(z), 4))
    with np.errstate(all="ignore"):
        table = (1.0 / z)[None, :] ** np.arange(m)[:, None]
        w = 1.0 / np.maximum(np.abs(table).max(axis=1), 1e-300)
        if not np.all(np.isfinite(table)):
            return None
        c = np.linalg.lstsq(table * w[:, None], v[::-1][:m] * w, rcond=1e-14)[0]
    return z, c


def _powers(z: np.ndarray, j: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.exp(np.log(z)[:, None] * np.asarray(j, dtype=float)[None, :])


def _sums(z: np.ndarray, c: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Sum over i = 1 .. j of sum c z**i."""
    one = np.abs(z - 1.0) < 1e-9
    safe = np.where(one, 0.5, z)
    total = ((c * safe / (safe - 1.0))[:, None] * (_powers(safe, j) - 1.0))[~one].sum(axis=0)
    total = total + (c[one].sum() * j if np.any(one) else 0.0)
    return np.asarray(total.real)


def _stepping(last: float, z: np.ndarray, c: np.ndarray) -> At:
    return lambda j: last + _sums(z, c, j)


def _growing(last: float, drift: float, z: np.ndarray, c: np.ndarray) -> At:
    def at(j: np.ndarray) -> np.ndarray:
        return np.asarray(last * np.exp(drift * j + _sums(z, c, j)))

    return at


def recurrences(x: np.ndarray, orders: tuple[int, ...]) -> Iterator[Closed]:
    """Linear recurrences of the steps, and of the logarithm's steps about a drift."""
    last, d = float(x[-1]), np.diff(x)
    for p in orders:
        found = _modes(d, p)
        if found is not None and np.any(d):
            yield Closed(f"steps-{p}", 2 * p, _stepping(last, *found))
    if np.all(x * last > 0):
        dy = np.diff(np.log(np.abs(x)))
        for p in orders[:3]:
            drift = _drift(dy, p)
            if drift is None:
                continue
            found = _modes(dy - drift, p)
            if found is not None:
                yield Closed(f"log-{p}", 2 * p + 1, _growing(last, drift, *found))


def squares(x: np.ndarray) -> Iterator[Closed]:
    """Linear recurrences of the square: norms of linear iterations, with their dips."""
    last, scale = float(x[-1]), float(np.max(np.abs(x)))
    if 0 < scale < 1e150 and np.all(x * last >= 0):
        square = (x / scale) ** 2
        for p in (3, 4, 6):
            found = _modes(square, p)
            if found is not None:
                yield Closed(f"square-{p}", 2 * p, _rooted(np.sign(last) * scale, *found))


def _rooted(scale: float, z: np.ndarray, c: np.ndarray) -> At:
    def at(j: np.ndarray) -> np.ndarray:
        return np.asarray(scale * np.sqrt(np.maximum((c[:, None] * _powers(z, j)).sum(axis=0).real, 0.0)))

    return at


def _drift(dy: np.ndarray, p: int) -> float | None:
    """Limit of the steps dy = b + (a recurrence of order p)."""
    n = len(dy)
    if n < 2 * p + 2:
        return None
    rows = np.stack([np.ones(n - p)] + [dy[p - 1 - i : n - 1 - i] for i in range(p)], axis=1)
    a = solve(rows, dy[p:])
    if a is None or abs(1.0 - a[1:].sum()) < 1e-9:
        return None
    return float(a[0] / (1.0 - a[1:].sum()))


#: Fewest values, and rounds of refinement at most.
LEAST, ROUNDS = 20, 12


def rectified(x: np.ndarray) -> Iterator[Closed]:
    """The law fitted to the values, if they can follow it."""
    n, scale = len(x), float(np.ptp(x))
    d = np.sign(np.diff(x))
    if n < LEAST or not 0 < scale < 1e150 or np.count_nonzero(d[1:] != d[:-1]) < 4:
        return
    base = float(x.min())
    start = _start((x - base) / scale)
    if start is None:
        return
    found = _refined((x - base) / scale, *start)
    if found is None:
        return
    floor, log_r, w, a, b = found

    def at(j: np.ndarray) -> np.ndarray:
        k = (n - 1) + np.asarray(j, dtype=float)
        return np.asarray(base + scale * (floor + np.exp(log_r * k) * np.abs(a * np.cos(w * k) + b * np.sin(w * k))))

    if log_r < 0:
        yield Closed("rectified", 5, at)


def _start(u: np.ndarray) -> tuple[float, float, float] | None:
    """(floor, log r, w) by linear least squares."""
    n, q = len(u), u * u
    past = [q[2 - i : n - 1 - i] for i in range(3)] + [u[2 - i : n - 1 - i] for i in range(3)]
    c = solve(np.stack([*past, u[3:], np.ones(n - 3)], axis=1), q[3:])
    if c is None or not np.all(np.isfinite(c)):
        return None
    floor = float(c[6]) / 2
    y = (u - floor) ** 2
    a = solve(np.stack([y[2 - i : n - 1 - i] for i in range(3)], axis=1), y[3:])
    if a is None or not np.all(np.isfinite(a)):
        return None
    z = np.roots(np.concatenate([[1.0], -a]))
    pair = z[z.imag > 1e-12]
    return (floor, float(np.log(np.abs(pair[0]))) / 2, float(np.angle(pair[0])) / 2) if len(pair) == 1 else None


def _refined(u: np.ndarray, floor: float, log_r: float, w: float) -> tuple[float, ...] | None:
    """All five parameters by Gauss and Newton's method; None where it does not settle."""
    k = np.arange(len(u), dtype=float)
    signed = _signed(u - floor, k, log_r, w)
    if signed is None:
        return None
    p = np.array([floor, log_r, w, *signed])
    size = np.inf
    for _ in range(ROUNDS):
        grown = np.exp(p[1] * k)
        cos, sin = grown * np.cos(p[2] * k), grown * np.sin(p[2] * k)
        inner = p[3] * cos + p[4] * sin
        rest = u - p[0] - np.abs(inner)
        now = float(rest @ rest)
        if not now < size:
            break
        size, best = now, p
        side = np.sign(inner)[:, None]
        turned = k * (p[4] * cos - p[3] * sin)
        columns = side * np.stack([side[:, 0], k * inner, turned, cos, sin], axis=1)
        change = solve(columns, rest)
        if change is None or not np.all(np.isfinite(change)):
            break
        p = p + change
    return tuple(best.tolist()) if np.isfinite(size) else None


def _signed(y: np.ndarray, k: np.ndarray, log_r: float, w: float) -> tuple[float, float] | None:
    """(a, b) of the oscillation whose square is that of y: from the square's part of twice the frequency."""
    grown = np.exp(2 * log_r * k)
    c = solve(np.stack([grown, grown * np.cos(2 * w * k), grown * np.sin(2 * w * k)], axis=1), y * y)
    if c is None or not np.all(np.isfinite(c)) or c[0] <= 0:
        return None
    # (a cos + b sin)**2 = (a a + b b) / 2 + (a a - b b) / 2 cos 2 + a b sin 2
    phase, size = 0.5 * np.arctan2(c[2], c[1]), np.sqrt(2 * c[0])
    return float(size * np.cos(phase)), float(size * np.sin(phase))


#: A free run this good (shift per iteration held out) is arithmetic: nothing else is tried.
EXACT = 1e-12
#: And this good, that shorter windows are not asked.
FINE = 1e-7


@dataclass
class FittedLaw:
    """A law as fitted without the last quarter, and how its free run went."""

    law: Closed | Map
    group: int
    monotone: bool
    start: int
    error: float
    score: float


def _shift(law: Closed | Map, x: np.ndarray, held: int, eps: float) -> float:
    """Error of the free run over the last ``held`` values, as shift in iterations per iteration."""
    truth, values = x[-held:], law.values(held)
    if not np.all(np.isfinite(values)):
        return math.inf
    step = np.abs(np.diff(x[-held - 4 :]))
    local = np.convolve(step, np.full(3, 1 / 3), "valid") if len(step) >= held + 2 else step[-held:]
    local = np.maximum(local[-held:], 1e-300)
    rounding = 4 * eps * (1 + math.sqrt(held)) * np.abs(truth)
    off = np.minimum(np.maximum(np.abs(values - truth) - rounding, 0.0) / local, 1e100)
    late = off[held // 2 :]
    return float(np.sqrt(np.mean(late * late))) / held


#: The laws by group, cheap and exact ones first; a group is left out where the record has not the shape for it.
GROUPS: tuple[Callable[[np.ndarray, bool], Iterator[Closed | Map]], ...] = (
    lambda x, monotone: map_laws(x, 4 if monotone else 1),
    lambda x, monotone: power_laws(x) if monotone else iter(()),
    lambda x, monotone: recurrences(x, (1, 2, 3) if monotone else (1, 2, 3, 4)),
    lambda x, monotone: squares(x),
    lambda x, monotone: iter(()) if monotone else rectified(x),
)


def try_all(
    x: np.ndarray, held: int, eps: float, groups: Sequence[int] = range(5), starts: Sequence[int] | None = None
) -> list[FittedLaw]:
    """All laws that a record of this shape can follow, the best first."""
    n, out = len(x), []
    d = np.diff(x[n // 2 :] if n >= 8 else x)
    monotone = bool(np.all(d > 0) or np.all(d < 0))
    for start in starts or ([0] if n < 16 else [0, n // 2] if n < 64 else [0, n // 2, n - n // 3]):
        for group in groups:
            for law in GROUPS[group](x[start : n - held], monotone):
                error = _shift(law, x, held, eps)
                if math.isfinite(error):
                    score = (error + EXACT) * (1.0 + 0.2 * law.parameters)
                    out.append(FittedLaw(law, group, monotone, start, error, score))
            if out and min(o.error for o in out) < EXACT:
                return sorted(out, key=lambda o: o.score)
        if out and min(o.error for o in out) < FINE:
            break
    return sorted(out, key=lambda o: o.score)


def again(x: np.ndarray, tried: FittedLaw) -> Closed | Map | None:
    """The same law fitted to the whole window."""
    group = GROUPS[tried.group](x[tried.start :], tried.monotone)
    return next((law for law in group if law.name == tried.law.name), None)
