"""Random loops as expressions: one form for the builder and one for NumPy, whose brute force is the truth.

Dtypes, updates (counters, geometric, affine, logistic, Newton, choices) and conditions (comparisons, also with floats
of another dtype, joined by and, or, not) are drawn from a seed; every loop is always the same.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import workbench as wb

INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "not_equal", "less", "greater")
UFUNCS = {
    **{n: getattr(np, n) for n in COMPARISONS},
    **{n: getattr(np, n) for n in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "sqrt", "square")},
    **{n: getattr(np, n) for n in ("negative", "sin", "cos", "tanh", "exp", "log", "floor_divide", "remainder")},
    **{n: getattr(np, n) for n in ("logical_and", "logical_or", "logical_not")},
    "abs": np.absolute,
    "where": lambda c, a, b: np.where(c, a, b)[()],
}
Expr = tuple[Any, ...]


class RandomLoop:
    """``while cond(x0, ...): x0, ... = updates``; expressions are ("v", k), ("c", number) or (op, *expressions)."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        count = self.draw.choice([1, 1, 1, 2, 2, 3])
        self.dtypes = [self.draw.choice(INTS + FLOATS + FLOATS) for _ in range(count)]
        self.start = [self._number(d) for d in self.dtypes]
        self.updates = [self._update(k) for k in range(count)]
        self.cond = self._condition(self.draw.choice([0, 0, 1, 1, 2]))

    def _number(self, dtype: str, small: bool = False) -> Any:
        r = self.draw
        if dtype in FLOATS:
            size = 1.5 if small else {"float16": 100.0, "float32": 1e6, "float64": 1e9}[dtype]
            fixed = [0.0, 1.0, 0.5, -1.0, 2.0, 0.1, 3.0, 10.0, 100.0]
            return np.dtype(dtype).type(r.choice([*fixed, r.uniform(-5, 5), r.uniform(-size, size), r.gauss(0, 1)]))
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        steps = [1, 1, 1, 2, 3, 5, 7, -1, -2, -3, 6, 10, 0]
        ends = [high - r.randint(0, 20), low + r.randint(0, 20), r.randint(low, high)]
        value = r.choice(steps if small else [0, 1, 2, 3, 5, 7, 10, 100, r.randint(0, 50), -1, -3, *ends])
        return np.dtype(dtype).type(max(low, min(high, value)))

    def _constant(self, dtype: str, small: bool = True) -> Expr:
        return ("c", self._number(dtype, small))

    def _like(self, dtype: str) -> Expr:
        return ("v", self.draw.choice([j for j, d in enumerate(self.dtypes) if d == dtype]))

    def _update(self, k: int) -> Expr:
        r, dtype, x = self.draw, self.dtypes[k], ("v", k)
        kind = r.random()
        if kind < 0.35:
            return (r.choice(["add", "subtract"]), x, self._constant(dtype))
        if kind < 0.4:
            return x
        if kind < 0.5 and dtype in FLOATS:
            factor = np.dtype(dtype).type(r.choice([0.5, 0.9, 1.1, -0.5, 1.001, 0.999, 2.0, -1.0]))
            return ("multiply", x, ("c", factor))
        if kind < 0.6:
            return ("add", ("multiply", x, self._constant(dtype)), self._constant(dtype))
        if kind < 0.7:
            return (r.choice(["add", "subtract", "multiply", "maximum", "minimum"]), x, self._like(dtype))
        if kind < 0.8:
            choice = (r.choice(COMPARISONS), x, self._constant(dtype, False))
            return ("where", choice, ("add", x, self._constant(dtype)), self._any(dtype, self._like(dtype), 1))
        return self._any(dtype, x, 2)

    def _any(self, dtype: str, x: Expr, depth: int) -> Expr:
        r = self.draw
        if depth == 0:
            return r.choice([x, x, self._constant(dtype)])
        a, b = self._any(dtype, x, depth - 1), self._any(dtype, self._like(dtype), depth - 1)
        kind = np.dtype(dtype).type
        if dtype in FLOATS:
            special: list[Expr] = [
                ("multiply", ("c", kind(0.5)), ("add", x, ("divide", ("c", kind(2)), x))),
                ("multiply", ("multiply", ("c", kind(r.uniform(1, 4))), x), ("subtract", ("c", kind(1)), x)),
            ]
            ones = [(op, a) for op in ("abs", "sqrt", "square", "negative", "sin", "cos", "tanh", "exp", "log")]
            twos = [(op, a, b) for op in ("add", "subtract", "multiply", "divide", "maximum", "minimum")]
        else:
            special = [(op, a, ("c", kind(r.choice([2, 3, 5, 7, 10])))) for op in ("floor_divide", "remainder")]
            ones = [(op, a) for op in ("abs", "square", "negative")]
            twos = [(op, a, b) for op in ("add", "subtract", "multiply", "maximum", "minimum")]
        chosen: Expr = ("where", (r.choice(COMPARISONS), a, self._constant(dtype, False)), a, b)
        return r.choice([*special, *ones, *twos, chosen])

    def _condition(self, depth: int) -> Expr:
        r = self.draw
        if depth == 0:
            k = r.randrange(len(self.dtypes))
            dtype, x = self.dtypes[k], ("v", k)
            c = self._constant(dtype, False)
            if r.random() < 0.15:
                whole: list[Expr] = [("remainder", x, ("c", np.dtype(dtype).type(7))), ("multiply", x, x)]
                x = ("abs", x) if dtype in FLOATS else r.choice(whole)
            if r.random() < 0.1 and dtype != "uint64":
                c = ("c", np.float64(r.uniform(-200, 200)))
            return (r.choice(COMPARISONS), *((x, c) if r.random() < 0.8 else (c, x)))
        op = r.choice(["and", "or", "and", "or", "not"])
        if op == "not":
            return ("logical_not", self._condition(depth - 1))
        return ("logical_" + op, self._condition(depth - 1), self._condition(depth - 1))

    def graph(self) -> wb.Graph:
        b = wb.GraphBuilder("random")

        def made(e: Expr, values: tuple[Any, ...]) -> Any:
            if e[0] == "v":
                return values[e[1]]
            return b.constant(e[1]) if e[0] == "c" else getattr(b, e[0])(*(made(a, values) for a in e[1:]))

        def body(*values: Any) -> Any:
            new = tuple(made(u, values) for u in self.updates)
            return new if len(new) > 1 else new[0]

        start = tuple(b.constant(v) for v in self.start)
        out = b.while_loop(lambda *v: made(self.cond, v), body, start if len(start) > 1 else start[0])
        return b.build(out)

    def truth(self, limit: int) -> tuple[str, int]:
        """("ends", iterations), ("never", period) by Brent's comparison of states, or ("open", limit)."""

        def value(e: Expr, state: list[Any]) -> Any:
            if e[0] == "v":
                return state[e[1]]
            return e[1] if e[0] == "c" else UFUNCS[e[0]](*(value(a, state) for a in e[1:]))

        state, n, slot, power, at = list(self.start), 0, b"", 1, 0
        with np.errstate(all="ignore"):
            while value(self.cond, state):
                if n == limit:
                    return "open", n
                new = [value(u, state) for u in self.updates]
                state = [np.asarray(v).astype(d)[()] for v, d in zip(new, self.dtypes, strict=True)]
                n += 1
                key = b"".join(v.tobytes() for v in state)
                if key == slot:
                    return "never", n - at
                if n - at == power or not slot:
                    slot, at, power = key, n, 2 * power
        return "ends", n
