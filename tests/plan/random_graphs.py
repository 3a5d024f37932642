"""Random well-formed programs with loops, branches and raw Switch/Merge, drawn from one seed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from workbench.ir import Graph, GraphBuilder, Value

SCALARS = ("float64", "float32", "int64", "int32")


def numbers(pool: list[Value]) -> list[Value]:
    return [v for v in pool if v.dtype != "bool"]


class Maker:
    """Draws a program: ``Maker(seed).make()`` -> (graph, feeds)."""

    shapes: tuple[tuple[int, ...], ...] = ((), (), (), (3,))  # of the feeds
    most_trips = 4  # of a loop

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.b = GraphBuilder(f"random {seed}")
        self.left = self.r.randint(6, 40)  # ops that may still be added

    def make(self) -> tuple[Graph, dict[str, np.ndarray]]:
        feeds: dict[str, np.ndarray] = {}
        pool: list[Value] = []
        for k in range(self.r.randint(1, 3)):
            dtype = self.r.choice(SCALARS)
            shape = self.r.choice(self.shapes)
            feeds[f"in{k}"] = np.asarray(np.random.default_rng(self.r.randrange(1 << 30)).integers(-4, 5, shape), dtype)
            pool.append(self.b.placeholder(f"in{k}", dtype, shape if self.r.random() < 0.8 else None))
        self.block(pool, 0)
        picked = self.r.sample(pool, min(len(pool), self.r.randint(1, 4)))
        return self.b.build({f"out{k}": v for k, v in enumerate(picked)}), feeds

    def block(self, pool: list[Value], depth: int, ops: int | None = None) -> None:
        """Add some statements whose results go into ``pool``."""
        for _ in range(ops or self.r.randint(2, 7)):
            if self.left <= 0:
                return
            self.left -= 1
            kind = self.r.random()
            if kind < 0.18 and depth < 3:
                self.loop(pool, depth)
            elif kind < 0.36 and depth < 3:
                self.branch(pool, depth)
            elif kind < 0.44:
                self.raw(pool)
            else:
                pool.append(self.op(pool))

    def pick(self, pool: list[Value], dtype: str | None = None) -> Value:
        fitting = [v for v in pool if dtype in (None, v.dtype)]
        if fitting and self.r.random() < 0.9:
            return self.r.choice(fitting[-6:])
        dtype = dtype or self.r.choice(SCALARS)
        if dtype == "bool":
            return self.b.constant(self.r.random() < 0.5)
        return self.b.constant(self.r.randint(-3, 3), dtype)

    def op(self, pool: list[Value]) -> Value:
        b, r = self.b, self.r
        x = self.pick(numbers(pool))
        choice = r.random()
        if choice < 0.55:
            y = self.pick([v for v in pool if v.shape in ((), x.shape)], x.dtype)
            if y.shape not in ((), x.shape) and x.shape != ():
                y = b.constant(2, x.dtype)
            return b.op(r.choice(["add", "subtract", "multiply", "minimum", "maximum"]), x, y)
        if choice < 0.7:
            return b.op(r.choice(["negative", "abs", "square", "sign"]), x)
        if choice < 0.8:
            return b.op("sum", x) if x.dtype.startswith("float") else b.op("where", self.condition(pool), x, x)
        if choice < 0.9:
            return b.op("cast", x, dtype=r.choice(("float64", "float32")))
        return b.op("Identity", x)

    def condition(self, pool: list[Value]) -> Any:
        scalars = [v for v in pool if v.shape == () and v.dtype != "bool"]
        x = self.pick(scalars)
        test = self.b.op(self.r.choice(["less", "greater", "less_equal", "not_equal"]), x, self.pick(scalars, x.dtype))
        return self.b.op("logical_not", test) if self.r.random() < 0.2 else test

    def loop(self, pool: list[Value], depth: int) -> None:
        trips = self.r.randint(0, self.most_trips)
        carried = [self.pick(self.movable(pool)) for _ in range(self.r.randint(1, 3))]
        init = {f"v{k}": v for k, v in enumerate(carried)} | {"i": self.b.constant(0, "int64")}
        by_trips = self.r.random() < 0.3
        early = self.r.random() < 0.4

        def cond(**values: Value) -> Any:
            test = values["i"] < (100 if by_trips else trips)
            inner = list(values.values())
            return self.b.op("logical_and", test, self.condition(inner)) if early else test

        def body(**values: Value) -> dict[str, Value]:
            inner = [*self.r.sample(pool, min(len(pool), 2)), *values.values()]
            self.block(inner, depth + 1, self.r.randint(1, 4))
            after = {n: self.like(inner, v) for n, v in values.items() if n != "i"}
            return after | {"i": values["i"] + 1}

        out = self.b.while_loop(cond, body, init, max_trips=trips if by_trips else None)
        pool.extend(out.values())

    def movable(self, pool: list[Value]) -> list[Value]:
        """Values that loops carry and branches give."""
        return numbers(pool)

    def partner(self, pool: list[Value], x: Value) -> Value:
        """Something of the dtype of ``x`` that goes with it in one op."""
        return self.pick([v for v in pool if v.dtype == x.dtype], x.dtype)

    def like(self, pool: list[Value], value: Value) -> Value:
        """Something of the same dtype; the shape may change, as long as it stays one of few."""
        fitting = [v for v in pool if v.dtype == value.dtype and v.shape in ((), value.shape)]
        return self.r.choice(fitting[-5:]) if fitting else value

    def branch(self, pool: list[Value], depth: int) -> None:
        pred = self.condition(pool)
        dtype = self.pick(self.movable(pool)).dtype
        count = self.r.randint(1, 2)

        def side() -> list[Value]:
            inner = list(pool)
            self.block(inner, depth + 1, self.r.randint(1, 3))
            return [self.pick(inner, dtype) for _ in range(count)]

        pool.extend(self.b.cond(pred, side, side))

    def raw(self, pool: list[Value]) -> None:
        """Switches and Merges without the usual pairing; a default keeps the result alive."""
        x = self.pick(numbers(pool))
        y = self.partner(pool, x)
        first, second = self.b.switch(x, self.condition(pool)), self.b.switch(y, self.condition(pool))
        ways: list[Value] = [self.r.choice(first), self.r.choice(second)]
        if self.r.random() < 0.5:
            ways[0] = self.b.op("negative", ways[0])
        if self.r.random() < 0.3:
            ways.insert(1, self.b.op("add", first[0], second[1]))
        value, index = self.b.merge(*ways, self.b.constant(7, x.dtype) if self.r.random() < 0.9 else ways[0])
        if self.r.random() < 0.5:
            value = self.b.op("add", value, self.b.op("cast", index, dtype=x.dtype))
        if self.r.random() < 0.97:  # now and then the result may be dead
            value, _ = self.b.merge(value, self.b.constant(5, x.dtype))
        pool.append(value)
