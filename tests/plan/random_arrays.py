"""Random programs whose values are arrays: static ones of few elements, and ones of a shape that only the run knows.

Arrays of known shape broadcast with each other and with numbers, are cut, turned, joined and reduced; values of
unknown shape (fed so, grown by ``concat`` in a loop, cut by a counter, merged from branches of different shapes) meet
only numbers and what was made of themselves, so that no program fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.plan.random_graphs import Maker
from workbench.ir import Graph, Value
from workbench.ir.types import broadcast_shapes

DTYPES = ("float64", "float32", "int64", "int32", "bool")
SHAPES = ((), (1,), (3,), (4,), (17,), (2, 3), (3, 1), (1, 4), (3, 3), (0,), (2, 1, 3))
MOST = 64  #: elements of an array of known shape


def is_float(x: Value) -> bool:
    return x.dtype.startswith("float")


def items(x: Value) -> int:
    assert x.type.is_static and x.shape is not None
    return math.prod(d for d in x.shape if d is not None)


class ArrayMaker(Maker):
    """Draws a program on arrays: ``ArrayMaker(seed).make()`` -> (graph, feeds)."""

    def make(self) -> tuple[Graph, dict[str, np.ndarray]]:
        feeds: dict[str, np.ndarray] = {}
        pool: list[Value] = []
        for k in range(self.r.randint(2, 4)):
            array = self.array(self.r.choice(DTYPES), self.r.choice(SHAPES))
            feeds[f"in{k}"] = array
            some = tuple(d if self.r.random() < 0.5 else None for d in array.shape)
            declared = self.r.choices([array.shape, some, None], [0.75, 0.15, 0.1])[0]
            pool.append(self.b.placeholder(f"in{k}", array.dtype, declared))
        self.block(pool, 0)
        picked = self.r.sample(pool, min(len(pool), 12))
        return self.b.build({f"out{k}": v for k, v in enumerate(picked)}), feeds

    def array(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        draw = np.random.default_rng(self.r.randrange(1 << 30))
        if dtype == "bool":
            return np.asarray(draw.integers(0, 2, shape), bool)
        values = np.asarray(draw.integers(-12, 13, shape), dtype)
        if dtype.startswith("float"):
            values = np.asarray(values / 4 if self.r.random() < 0.5 else values / 7, dtype)
            if values.size and self.r.random() < 0.15:
                special = [np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).max, np.finfo(dtype).tiny / 4]
                values.reshape(-1)[draw.integers(values.size)] = self.r.choice(special)
        return values

    # -- loops and branches ------------------------------------------------------------------------------------------
    def loop(self, pool: list[Value], depth: int) -> None:
        r = self.r
        trips, early = r.randint(0, 4), r.random() < 0.3
        init = {f"v{k}": self.pick(self.movable(pool)) for k in range(r.randint(1, 3))}
        init |= {"i": self.b.constant(0, "int64"), "seen": self.b.constant(0, "int64")}

        def cond(**values: Value) -> Value:
            test = values["i"] < trips
            return self.b.op("logical_and", test, self.condition(list(values.values()))) if early else test

        def body(**values: Value) -> dict[str, Value]:
            outer = r.sample(pool, min(len(pool), 2))
            inner = [*outer, *values.values()]
            known = len(inner)
            self.block(inner, depth + 1, r.randint(2, 6))
            after = {n: self.like(inner, v) for n, v in values.items() if n not in ("i", "seen")}
            return after | {"i": values["i"] + 1, "seen": self.used(inner[known:], values["seen"])}

        pool.extend(self.b.while_loop(cond, body, init).values())

    def branch(self, pool: list[Value], depth: int) -> None:
        pred = self.condition(pool)
        dtype = self.pick(self.movable(pool)).dtype

        def side() -> list[Value]:
            inner = list(pool)
            self.block(inner, depth + 1, self.r.randint(1, 4))
            return [self.pick(inner, dtype), self.used(inner[len(pool) :], self.b.constant(0, "int64"))]

        pool.extend(self.b.cond(pred, side, side))

    def used(self, values: list[Value], count: Value) -> Value:
        """``count`` plus how many of the values hold anything but zeros: so that all of them are needed."""
        for v in values:
            held = v if v.dtype == "bool" else self.b.op("not_equal", v, self.b.constant(0, v.dtype))
            held = self.b.op("any", held) if v.shape != () else held
            count = count + self.b.op("cast", held, dtype="int64")
        return count

    # -- what goes with what ---------------------------------------------------------------------------------------
    def movable(self, pool: list[Value]) -> list[Value]:
        return pool

    def like(self, pool: list[Value], value: Value) -> Value:
        """Known dimensions stay as they are, because the ops of the body were chosen for them."""
        fitting = [v for v in pool if v.dtype == value.dtype and value.type.accepts(v.type)]
        if value.type.is_static:
            fitting = [v for v in fitting if v.shape == value.shape]
        elif value.shape is not None:
            fitting = [
                v
                for v in fitting
                if v.shape is not None and all(d is None or d == e for d, e in zip(value.shape, v.shape, strict=True))
            ]
        return self.r.choice(fitting[-5:]) if fitting else value

    def partner(self, pool: list[Value], x: Value) -> Value:
        if not x.type.is_static:
            return self.r.choice([x, self.pick([v for v in pool if v.shape == () and v.dtype == x.dtype], x.dtype)])
        fitting = [v for v in pool if v.dtype == x.dtype and v.type.is_static and self.fit(x, v)]
        if not fitting or self.r.random() < 0.2:
            shape = self.r.choice([(), x.shape, x.shape[-1:], (*x.shape[:-1], 1) if x.shape else ()])
            return self.b.constant(self.array(x.dtype, shape))
        return self.r.choice(fitting[-6:])

    def fit(self, *values: Value) -> bool:
        """Return whether arrays of known shape broadcast to a small one."""
        try:
            shape = broadcast_shapes(*(v.shape for v in values))
        except ValueError:
            return False
        return shape is not None and math.prod(d or 0 for d in shape) <= MOST

    def condition(self, pool: list[Value]) -> Value:
        arrays = [v for v in pool if v.shape != ()]
        if not arrays or self.r.random() < 0.5:
            return super().condition([v for v in pool if v.shape == ()])
        x = self.r.choice(arrays)
        test = x if x.dtype == "bool" else self.b.op(self.r.choice(["less", "greater"]), x, self.b.constant(1, x.dtype))
        return self.b.op(self.r.choice(["any", "all"]), test)

    # -- ops ---------------------------------------------------------------------------------------------------------
    def op(self, pool: list[Value]) -> Value:
        arrays = [v for v in pool if v.type.is_static and v.shape != () and v.dtype != "bool"]
        x = self.r.choice(arrays[-8:] if arrays and self.r.random() < 0.7 else pool[-6:])
        if not x.type.is_static:
            kinds: list[Callable[[list[Value], Value], Value]] = [self.pair, self.unary, self.cast, self.dynamic]
        elif x.shape == ():
            kinds = [self.pair, self.pair, self.unary, self.cast, self.choice]
        else:
            kinds = [
                self.pair,
                self.pair,
                self.pair,
                self.pair,
                self.unary,
                self.unary,
                self.choice,
                self.cast,
                self.reduce,
                self.reduce,
                self.move,
                self.move,
                self.join,
                self.product,
            ]
            kinds += [self.at_counter, self.grow] if self.r.random() < 0.3 else []
        return self.r.choice(kinds)(pool, x)

    def pair(self, pool: list[Value], x: Value) -> Value:
        b, r = self.b, self.r
        y = self.partner(pool, x)
        if x.dtype == "bool":
            return b.op(r.choice(["logical_and", "logical_or", "logical_xor", "not_equal", "add"]), x, y)
        others = [v for v in pool if v.dtype != x.dtype and (v.shape == () or v.type.is_static and x.type.is_static)]
        others = [v for v in others if v.shape == () or self.fit(x, v)]
        if others and r.random() < 0.2:
            return b.op(r.choice(["add", "multiply", "less"]), x, r.choice(others[-4:]))
        x, y = (y, x) if r.random() < 0.3 else (x, y)
        if r.random() < 0.2:
            tests = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
            return b.op(r.choice(tests), x, y)
        names = ["add", "subtract", "multiply", "minimum", "maximum"]
        names += ["divide", "divide"] if is_float(x) else ["divide", "floor_divide", "remainder", "bitwise_and"]
        return b.op(r.choice(names), x, y)

    def unary(self, pool: list[Value], x: Value) -> Value:
        if x.dtype == "bool":
            return self.b.op("logical_not", x)
        names = ["negative", "abs", "square", "sign", "Identity"]
        names += ["sqrt", "floor", "ceil", "isfinite"] if is_float(x) else []
        return self.b.op(self.r.choice(names), x)

    def cast(self, pool: list[Value], x: Value) -> Value:
        dtype = self.r.choice(DTYPES)
        if is_float(x) and dtype.startswith("int"):  # a number that does not fit has no defined integer
            low, high = self.b.constant(-1000, x.dtype), self.b.constant(1000, x.dtype)
            x = self.b.op("where", self.b.op("isfinite", x), x, self.b.constant(2, x.dtype))
            x = self.b.op("clip", x, low, high)
        return self.b.op("cast", x, dtype=dtype)

    def choice(self, pool: list[Value], x: Value) -> Value:
        tests = [v for v in pool if v.dtype == "bool" and v.type.is_static and self.fit(x, v)]
        test = self.r.choice(tests) if tests else self.b.op("not_equal", x, self.partner(pool, x))
        others = [v for v in pool if v.dtype == x.dtype and v.type.is_static and self.fit(x, test, v)]
        return self.b.op("where", test, x, self.r.choice([x, *others[-4:]]))

    def reduce(self, pool: list[Value], x: Value) -> Value:
        axis = self.r.choice([None, *range(len(x.shape or ()))])
        names = ["sum", "sum", "mean", "any", "all"]
        if items(x):
            names += ["max", "min", "argmax", "argmin"]
        if axis is not None and self.r.random() < 0.2:
            return self.b.op("cumsum", x, axis=axis)
        name = self.r.choice(names) if items(x) else self.r.choice(["sum", "any", "all"])
        return self.b.op(name, x, axis=axis, keepdims=self.r.random() < 0.3)

    def product(self, pool: list[Value], x: Value) -> Value:
        if x.dtype == "bool":
            return self.b.op("logical_xor", x, self.partner(pool, x))
        inner = x.shape[-1] if x.shape else None
        fitting = [v for v in pool if v.dtype == x.dtype and v.type.is_static and v.shape in ((inner,), (inner, inner))]
        shape = self.r.choice([(inner,), (inner, inner), (inner, 2)])
        new = not fitting or self.r.random() < 0.4
        return self.b.op("matmul", x, self.b.constant(self.array(x.dtype, shape)) if new else self.r.choice(fitting))

    def move(self, pool: list[Value], x: Value) -> Value:
        """The same elements elsewhere: most of these are views in NumPy."""
        b, r, shape = self.b, self.r, x.shape or ()
        count, first = items(x), shape[0] or 0
        axis = r.randrange(len(shape))
        options: list[Callable[[], Value]] = [
            lambda: b.op("transpose", x),
            lambda: b.op("flatten", x),
            lambda: b.op("reshape", x, shape=(count, 1) if len(shape) == 1 else (count,)),
            lambda: b.op("expand_dims", x, axis=r.choice([0, -1])) if len(shape) < 4 else x,
            lambda: x[::-1],
            lambda: x[1:] if first > 1 else x[...],
            lambda: x[..., ::2],
            lambda: x[r.randrange(-first, first)] if first else x[:0],
            lambda: b.op("broadcast_to", x, shape=(2, *shape)) if count <= MOST // 2 and len(shape) < 4 else x[...],
            lambda: b.op("roll", x, shift=r.randint(-2, 2), axis=axis),
            lambda: b.op("reverse", x, axis=axis),
        ]
        return r.choice(options)()

    def join(self, pool: list[Value], x: Value) -> Value:
        b, r, shape = self.b, self.r, x.shape or ()
        if items(x) > MOST // 2 or len(shape) > 3:
            return b.op("Identity", x)
        same = [v for v in pool if v.shape == shape and v.dtype == x.dtype and v.type.is_static]
        y, axis = r.choice([x, *same[-4:]]), r.randrange(len(shape))
        choice = r.random()
        if choice < 0.4:
            return b.op("concat", x, y, axis=axis)
        if choice < 0.6:
            return b.op("stack", x, y, axis=axis)
        if choice < 0.8:
            return b.op("pad", x, pad_width=tuple((1, 0) if k == axis else (0, 1) for k in range(len(shape))))
        first, second = b.op("split", b.op("concat", x, y, axis=axis), axis=axis, num=2)
        pool.append(second)
        return first

    # -- shapes that only the run knows --------------------------------------------------------------------------------
    def dynamic(self, pool: list[Value], x: Value) -> Value:
        b, r = self.b, self.r
        options: list[Callable[[], Value]] = [
            lambda: b.op("sum", x) if x.dtype != "bool" else b.op("any", x),
            lambda: b.op("flatten", x),
            lambda: b.op("size", x),
            lambda: b.op("where", b.op("equal", x, x), x, b.constant(1, x.dtype)),
        ]
        if x.shape is not None and len(x.shape) == 1:
            options += [lambda: self.cut(pool, x), lambda: x[::-1], lambda: x[1:]]
        return r.choice(options)()

    def index(self, pool: list[Value]) -> Value:
        """A number that counts, or any other."""
        return self.pick([v for v in pool if v.shape == () and v.dtype == "int64"], "int64")

    def cut(self, pool: list[Value], x: Value) -> Value:
        low, high = (self.b.op("reshape", self.index(pool), shape=(1,)) for _ in range(2))
        return self.b.op("slice", x, low, high)

    def at_counter(self, pool: list[Value], x: Value) -> Value:
        """An element, a row, or a slice of unknown length, where a number of the program says."""
        size = (x.shape or (0,))[0]
        if size and self.r.random() < 0.6:
            at = self.b.op("remainder", self.index(pool), self.b.constant(size, "int64"))
            return self.b.op("gather", x, at, axis=0)
        return self.cut(pool, self.b.op("flatten", x))

    def grow(self, pool: list[Value], x: Value) -> Value:
        """A loop in which an array gets longer each time, while a number is added up from it."""
        b, r = self.b, self.r
        piece, trips = b.op("flatten", x), r.randint(0, 4)
        unknown = self.cut([b.constant(0, "int64")], piece)  # empty, and not known to be

        def body(grown: Value, total: Value, i: Value) -> tuple[Value, Value, Value]:
            longer = b.op("concat", grown, piece, axis=0)
            if r.random() < 0.5:
                longer = b.op("where", b.op("equal", longer, b.constant(1, x.dtype)), b.constant(0, x.dtype), longer)
            ends = b.op("reshape", i, shape=(1,))
            head = b.op("slice", longer, b.op("negative", ends), b.op("size", longer)[None])
            count = b.op("sum", b.op("cast", b.op("not_equal", head, b.constant(0, x.dtype)), dtype="int64"))
            return longer, total + count, i + 1

        grown, total, _ = b.while_loop(lambda grown, total, i: i < trips, body, [unknown, b.constant(0, "int64"), 0])
        pool.append(total)
        return grown
