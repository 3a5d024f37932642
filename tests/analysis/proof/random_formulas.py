"""Random loops of one to three variables whose condition and body are drawn over all ops that such formulas have.

Numbers and small arrays of every dtype; comparisons, arithmetic of NumPy and of Python, functions, bits, choices,
reductions, parts of arrays, branches, now and then a loop inside, a trip limit, or a node that may fail. A seed gives
always the same program.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from workbench.ir.builder.value import Value

INTS = ("int8", "uint8", "int16", "int32", "uint32", "int64", "int64", "uint64")
FLOATS = ("float16", "float32", "float64", "float64")
SHAPES: tuple[tuple[int, ...], ...] = ((), (), (), (3,), (2, 2), (1,))
COMPARED = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
SMOOTH = (
    "sqrt cbrt exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh abs "
    "sign negative positive reciprocal square floor ceil trunc round rsqrt sigmoid relu relu6 softplus softsign elu "
    "leaky_relu hard_sigmoid gelu swish erf stop_gradient check_numerics"
).split()
TWO = (
    "add subtract multiply divide floor_divide remainder fmod maximum minimum fmax fmin hypot power atan2 nextafter "
    "logaddexp squared_difference divide_no_nan multiply_no_nan xlogy"
).split()
WHOLE_ONE = "abs sign negative positive square invert popcount relu".split()
WHOLE_TWO = (
    "add subtract multiply floor_divide remainder fmod maximum minimum power whole_power truncate_divide "
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift squared_difference"
).split()
PYTHON_ONE = "sqrt exp log log1p log2 sin tan asin atan sinh cosh tanh acosh atanh cbrt".split()
PYTHON_TWO = "add subtract multiply divide floor_divide remainder power fmod hypot".split()
REDUCED = "sum prod mean max min var norm logsumexp".split()
KEPT = "reverse sort softmax log_softmax cumsum cumprod transpose roll flatten".split()


class RandomFormulas:
    """``graph`` and ``feeds`` of one program; its loop is the frame ``("while",)``."""

    def __init__(self, seed: int, flushed: bool = False) -> None:
        """``flushed``: numbers below the normal range are zero to the graph, and many are near it."""
        self.draw = r = random.Random(seed)
        self.b = wb.GraphBuilder(f"formulas {seed}")
        self.b.flushes_subnormals = flushed
        self.feeds: dict[str, np.ndarray] = {}
        self.inner = 0
        kinds = [(r.choice(INTS + FLOATS + ("bool",)), r.choice(SHAPES)) for _ in range(r.choice([1, 2, 2, 3]))]
        start = tuple(self._start(k, *kind) for k, kind in enumerate(kinds))
        limit = r.choice([None, None, None, r.randint(0, 60)])
        wanted, single = self._conditions(r.choice([0, 0, 1, 1, 2])), len(kinds) == 1

        def body(*values: Value) -> Any:
            new = tuple(self._update(values, k) for k in range(len(values)))
            return new[0] if single else new

        out = self.b.while_loop(wanted, body, start[0] if single else start, max_trips=limit)
        self.graph = self.b.build(out)

    # -- values ---------------------------------------------------------------------------------------------------
    def number(self, dtype: str, small: bool = False) -> Any:
        """A number of a dtype, special ones among them."""
        r = self.draw
        if dtype == "bool":
            return np.bool_(r.random() < 0.5)
        if dtype.startswith("float"):
            fixed = [0.0, 1.0, 0.5, -1.0, 2.0, 0.1, 3.0, -0.0, 0.9, 1.1, -0.5]
            far = [np.inf, -np.inf, np.nan, 1e-5, 65504.0, 1e30, 100.0, 1000.0]
            drawn = [r.uniform(-5, 5), r.gauss(0, 1), r.uniform(-1e6, 1e6)]
            with np.errstate(all="ignore"):
                if self.b.flushes_subnormals and r.random() < 0.7:
                    info = np.finfo(dtype)
                    return np.dtype(dtype).type(r.choice([0.5, 1.0, 1.5, 2.0, -1.0, r.uniform(-9, 9)])) * info.tiny
                return np.dtype(dtype).type(r.choice(fixed + drawn[:2] if small else [*fixed, *far, *drawn]))
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        value = r.choice(
            [0, 1, 1, 2, 3, 5, -1, -2, 7]
            if small
            else [0, 1, 2, 10, 100, -3, r.randint(0, 50), high - r.randint(0, 9), low + r.randint(0, 9)]
        )
        return np.dtype(dtype).type(max(low, min(high, value)))

    def _array(self, dtype: str, shape: tuple[int, ...], small: bool = False) -> np.ndarray:
        numbers = [self.number(dtype, small) for _ in range(int(np.prod(shape, dtype=int)))]
        return np.array(numbers, dtype).reshape(shape)

    def _start(self, k: int, dtype: str, shape: tuple[int, ...]) -> Value:
        value = self._array(dtype, shape, self.draw.random() < 0.6)
        if self.draw.random() < 0.4:
            self.feeds[f"s{k}"] = value
            return self.b.placeholder(f"s{k}", dtype, shape)
        return self.b.constant(value)

    def _update(self, values: tuple[Value, ...], k: int) -> Value:
        r, x = self.draw, values[k]
        dtype, shape = x.dtype, tuple(x.shape or ())
        step = self.b.constant(self.number(dtype, True))
        kind = r.random()
        if kind < 0.3 and dtype != "bool":
            return self._fit(self.b.op(r.choice(["add", "add", "subtract"]), x, step), dtype, shape)
        if kind < 0.4 and dtype.startswith("float"):
            return self.b.multiply(x, self.b.constant(np.dtype(dtype).type(r.choice([0.5, 0.9, 1.1, 2.0, -0.5]))))
        if kind < 0.45:
            return x
        return self.value(values, dtype, shape, r.choice([1, 2, 2, 3]))

    def _conditions(self, depth: int) -> Callable[..., Value]:
        def condition(*values: Value) -> Value:
            return self._truth(values, (), depth) if self.draw.random() < 0.5 else self._plain(values, depth)

        return condition

    def _plain(self, values: tuple[Value, ...], depth: int) -> Value:
        """Comparisons of a variable, or of one of its elements, with a number."""
        r = self.draw
        if depth:
            a, b = self._plain(values, depth - 1), self._plain(values, depth - 1)
            return self.b.op(r.choice(["logical_and", "logical_or", "logical_and", "logical_xor"]), a, b)
        x = r.choice(values)
        x = self._narrowed(x, values) if x.shape else x
        if x.dtype == "bool":
            return x if r.random() < 0.5 else self.b.logical_not(x)
        return self.b.op(r.choice(COMPARED), x, self.b.constant(self.number(x.dtype)))

    # -- formulas -------------------------------------------------------------------------------------------------
    def value(self, env: tuple[Value, ...], dtype: str, shape: tuple[int, ...], depth: int) -> Value:
        """A formula of this dtype and shape."""
        if depth <= 0:
            return self._leaf(env, dtype, shape)
        for _ in range(4):
            try:
                made = self._drawn(env, dtype, shape, depth - 1)
                return self._fit(made, dtype, shape)
            except wb.WorkbenchError:  # an op that does not take these: another one
                continue
        return self._leaf(env, dtype, shape)

    def _leaf(self, env: tuple[Value, ...], dtype: str, shape: tuple[int, ...]) -> Value:
        like = [v for v in env if v.dtype == dtype and tuple(v.shape or ()) in (shape, ())]
        if like and self.draw.random() < 0.7:
            return self._fit(self.draw.choice(like), dtype, shape)
        if self.draw.random() < 0.3:
            return self._fit(self.draw.choice(env), dtype, shape)
        return self.b.constant(self._array(dtype, shape, True))

    def _fit(self, x: Value, dtype: str, shape: tuple[int, ...]) -> Value:
        """The value in another dtype and shape: its elements, over and over."""
        if x.dtype != dtype:
            x = self.b.op("cast", x, dtype=dtype)
        if tuple(x.shape or ()) == shape and x.shape is not None:
            return x
        if x.shape == ():
            return self.b.op("broadcast_to", x, shape=shape)
        if shape == ():
            return self.b.op("getitem", self.b.op("flatten", x, axis=0), index=(("int", 0), ("int", 0)))
        count = int(np.prod(shape))
        flat = self.b.op("tile", self.b.op("reshape", x, shape=(-1,)), repeats=(count,))
        return self.b.op("reshape", self.b.op("slice", flat, starts=(0,), ends=(count,)), shape=shape)

    def _drawn(self, env: tuple[Value, ...], dtype: str, shape: tuple[int, ...], depth: int) -> Value:
        r, b = self.draw, self.b
        kind = r.random()
        if dtype == "bool" and kind < 0.8:
            return self._truth(env, shape, depth)
        if kind < 0.08:
            c = self._truth(env, r.choice([(), shape]), depth)
            return b.where(c, self.value(env, dtype, shape, depth), self.value(env, dtype, shape, depth))
        if kind < 0.14:
            other = r.choice(INTS + FLOATS + ("bool",))
            return b.op("cast", self.value(env, other, shape, depth), dtype=dtype)
        if kind < 0.2:
            test = self._truth(env, (), depth)
            sides = [lambda: self.value(env, dtype, shape, depth) for _ in range(2)]
            return b.cond(test, *sides)
        if kind < 0.22 and self.inner < 1:
            return self._loop_inside(env, dtype, shape)
        if kind < 0.32 and shape != ():
            return self._moved(env, dtype, shape, depth)
        if kind < 0.44 and shape == ():
            wide = self.value(env, dtype, r.choice([(3,), (2, 2)]), depth)
            return self._narrowed(wide, env)
        x = self.value(env, dtype, shape, depth)
        if kind < 0.5 and dtype != "bool":
            ends = sorted([self.number(dtype), self.number(dtype)], key=float)
            return b.clip(x, *(b.constant(e) for e in ends))
        whole = not dtype.startswith("float")
        if shape == () and dtype in ("int64", "float64") and r.random() < 0.3:
            if not whole and r.random() < 0.5:
                return b.op(r.choice(PYTHON_ONE), x, checked=True)
            return b.op(r.choice(PYTHON_TWO), x, self.value(env, dtype, (), depth), checked=True)
        if r.random() < 0.5:
            return b.op(r.choice(WHOLE_ONE if whole else SMOOTH), x)
        y = self.value(env, dtype, r.choice([shape, ()]), depth)
        return b.op(r.choice(WHOLE_TWO if whole else TWO), x, y)

    def _truth(self, env: tuple[Value, ...], shape: tuple[int, ...], depth: int) -> Value:
        r, b = self.draw, self.b
        kind = r.random()
        if depth > 0 and kind < 0.25:
            op = r.choice(["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"])
            return b.op(op, self._truth(env, shape, depth - 1), self._truth(env, shape, depth - 1))
        if depth > 0 and kind < 0.33:
            return b.op(r.choice(["logical_not", "invert"]), self._truth(env, shape, depth - 1))
        if depth > 0 and shape == () and kind < 0.45:
            return b.op(r.choice(["any", "all", "max", "min"]), self._truth(env, r.choice([(3,), (2, 2)]), depth - 1))
        dtype = r.choice([v.dtype for v in env if v.dtype != "bool"] or list(FLOATS))
        x = self.value(env, dtype, shape, depth)
        if kind < 0.55 and dtype.startswith("float"):
            return b.op(r.choice(["isnan", "isinf", "isfinite", "signbit"]), x)
        if kind < 0.58:
            return b.op("cast", x, dtype="bool")
        other = dtype if r.random() < 0.8 else r.choice(INTS + FLOATS)
        y = b.constant(self.number(other)) if r.random() < 0.6 else self.value(env, other, shape, depth)
        if kind < 0.61:
            return b.isclose(x, y)
        checked = shape == () and {dtype, other} <= {"int64", "float64"} and r.random() < 0.2
        made = b.op(r.choice(COMPARED), *((x, y) if r.random() < 0.8 else (y, x)), checked=checked)
        return self._fit(made, "bool", shape)

    def _narrowed(self, x: Value, env: tuple[Value, ...]) -> Value:
        """One number of an array: a reduction, or an element at a fixed or computed place."""
        r, b = self.draw, self.b
        kind = r.random()
        if kind < 0.45:
            ops = ["max", "min", "any", "all"] if x.dtype == "bool" else REDUCED
            return b.op(r.choice(ops), x)
        if kind < 0.55:
            return b.op("cast", b.op(r.choice(["argmax", "argmin"]), b.op("reshape", x, shape=(-1,))), dtype=x.dtype)
        flat = b.op("reshape", x, shape=(-1,))
        if kind < 0.75:
            return b.op("getitem", flat, index=(("int", r.choice([0, -1])),))
        at = self.value(env, "int64", (), 1)
        if r.random() < 0.7:
            at = b.remainder(at, b.constant(np.int64(flat.shape[0] if flat.shape else 1)))
        if kind < 0.88:
            return b.op("getitem", flat, at, index=(("input", 0),))
        return b.op("gather", flat, at, axis=0)

    def _moved(self, env: tuple[Value, ...], dtype: str, shape: tuple[int, ...], depth: int) -> Value:
        """An array out of an array, or out of numbers."""
        r, b = self.draw, self.b
        kind = r.random()
        if kind < 0.2:
            return b.op("stack", *(self.value(env, dtype, (), depth) for _ in range(int(np.prod(shape)))), axis=0)
        x = self.value(env, dtype, shape, depth)
        if kind < 0.35:
            at = b.remainder(self.value(env, "int64", (), 1), b.constant(np.int64(shape[0])))
            return b.op("setitem", x, self.value(env, dtype, (), depth), at, index=(("input", 0),))
        if kind < 0.5:
            return b.op("slice", b.op("tile", x, repeats=(2,) * len(shape)), starts=(1,), ends=(1 + shape[0],))
        op = r.choice(KEPT)
        attrs = {
            "roll": {"shift": (r.choice([1, -1]),), "axis": (0,)},
            "cumsum": {"axis": 0},
            "cumprod": {"axis": 0},
            "reverse": {"axis": (0,)},
        }.get(op, {})
        return b.op(op, x, **attrs)

    def _loop_inside(self, env: tuple[Value, ...], dtype: str, shape: tuple[int, ...]) -> Value:
        """A loop of a few iterations."""
        self.inner += 1
        count = self.b.constant(np.int64(self.draw.choice([0, 1, 2, 3])))
        start = (self.b.constant(np.int64(0)), self._leaf(env, dtype, shape))

        def body(j: Value, x: Value) -> Any:
            return j + 1, self._fit(self.value((x,), dtype, shape, 1), dtype, shape)

        return self.b.while_loop(lambda j, x: j < count, body, start, name="inner")[1]
