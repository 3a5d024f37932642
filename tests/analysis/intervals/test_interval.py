"""Bounds of ops hold: the registered op's result for numbers in the boxes lies in the box of the result."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.analysis.intervals.interval import FLOATS, INTEGERS, Interval, bounds, int_range, spread
from workbench.analysis.intervals.transfer import RULES, needs_size, reduced
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType

NUMBERS = ("int8", "uint8", "int64", "uint64", "float16", "float32", "float64")
#: these only move elements, by attrs
MOVED = (
    "Identity",
    "reshape",
    "expand_dims",
    "broadcast_to",
    "diagonal",
    "ensure_shape",
    "check_numerics",
    "tile",
    "getitem",
    "slice",
)
ONE = [n for n in RULES if n in REGISTRY and REGISTRY[n].arity()[0] == 1 and n not in MOVED]
TWO = [n for n in RULES if n in REGISTRY and REGISTRY[n].arity()[0] == 2]


def interesting(rng, dtype, n):
    if dtype in FLOATS:
        info = np.finfo(dtype)
        fixed = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, 3.14159265]
        drawn = rng.normal(size=n) * 10.0 ** rng.uniform(-4, 4, size=n)
        return np.where(rng.random(n) < 0.3, rng.choice(fixed, n), drawn).astype(dtype)
    low, high = int_range(dtype)
    near = [low, low + 1, high, high - 1, 0, 1, 2, 3, 7]
    drawn = rng.integers(low, high, n, dtype=dtype, endpoint=True)
    return np.where(rng.random(n) < 0.5, rng.choice(np.array(near, object), n), drawn.astype(object)).astype(dtype)


def random_box(rng, dtype):
    """A box, and numbers of it with its ends."""
    ends = np.sort(interesting(rng, dtype, 2 if rng.random() < 0.7 else 1))
    ends = ends[~np.isnan(ends)] if dtype in FLOATS else ends
    nan = dtype in FLOATS and rng.random() < 0.2
    if len(ends) == 0:
        return bounds(dtype, np.inf, -np.inf, True), np.array([np.nan], dtype)
    low, high = ends[0], ends[-1]
    drawn = interesting(rng, dtype, 12)
    inner = np.clip(drawn, low, high) if dtype in INTEGERS else np.clip(drawn[~np.isnan(drawn)], low, high)
    if dtype in FLOATS and np.isfinite(low) and np.isfinite(high):
        with np.errstate(all="ignore"):
            inner = np.append(inner, (low + (high - low) * rng.random(6)).clip(low, high)).astype(dtype)
    numbers = np.concatenate([ends[[0, -1]], inner.astype(dtype), np.full(int(nan), np.nan, "f2").astype(dtype)])
    made = bounds(dtype, int(low), int(high)) if dtype in INTEGERS else bounds(dtype, low, high, nan)
    return made, numbers


def holds(found: Interval, values: np.ndarray) -> bool:
    lo, hi = found.lo[0], found.hi[0]
    for v in values.ravel():
        if v != v:
            if not found.nan[0]:
                return False
        elif not lo <= (int(v) if found.integral else v) <= hi:
            return False
    return True


def check(op, boxes, columns, attrs):
    spec = REGISTRY[op]
    types = [TensorType(c.dtype.name, c.shape) for c in columns]
    try:
        dtype = spec.infer(types, attrs)[0].dtype
    except Exception:  # the op does not take these dtypes
        return False
    with np.errstate(all="ignore"):
        found = RULES[op](list(boxes), {**attrs, "_op": op}, dtype)
        if found is None:
            return False
        values = np.asarray(spec.evaluate(columns, attrs)[0])
    assert found.dtype == values.dtype.name
    assert holds(found, values), (op, [(b.lo[0], b.hi[0], b.nan[0]) for b in boxes], found, values)
    return True


@pytest.mark.parametrize("op", ONE)
def test_ops_of_one_number(op):
    rng = np.random.default_rng(len(op))
    told = 0
    for _ in range(150):
        dtype = str(rng.choice(NUMBERS))
        made, numbers = random_box(rng, dtype)
        attrs = {"dtype": str(rng.choice(NUMBERS))} if op == "cast" else {}
        if op == "cast" and attrs["dtype"] in INTEGERS and dtype in FLOATS:
            low, high = int_range(attrs["dtype"])
            wide = numbers.astype("float64")
            if not (np.isfinite(wide).all() and low <= wide.min() and wide.max() < high):
                continue  # the result of values that do not fit depends on the machine
        told += check(op, [made], [numbers], attrs)
    assert told >= 20


@pytest.mark.slow
@pytest.mark.parametrize("op", TWO)
def test_ops_of_two_numbers(op):
    rng = np.random.default_rng(len(op) + 100)
    told = 0
    for _ in range(250):
        a = str(rng.choice((*NUMBERS, "bool"))) if op.startswith(("logical", "bitwise")) else str(rng.choice(NUMBERS))
        b = a if rng.random() < 0.7 else str(rng.choice(NUMBERS))
        (x, xs), (y, ys) = random_box(rng, a), random_box(rng, b)
        if op in ("floor_divide", "remainder") and rng.random() < 0.8:
            ys = np.abs(ys[:1]) + np.ones(1, ys.dtype) if ys[0] == ys[0] else np.ones(1, ys.dtype)
            if b in INTEGERS and ys[0] <= 0:
                continue
            y = bounds(b, int(ys[0]) if b in INTEGERS else ys[0], int(ys[0]) if b in INTEGERS else ys[0])
        left, right = (g.ravel() for g in np.meshgrid(xs, ys))
        told += check(op, [x, y], [left, right], {})
    assert told >= 20


@pytest.mark.parametrize("op", [o for o in ("max", "min", "sum", "mean") if needs_size(o)])
def test_reductions(op):
    rng = np.random.default_rng(5)
    for _ in range(200):
        dtype = str(rng.choice(FLOATS))
        made, numbers = random_box(rng, dtype)
        n = int(rng.integers(1, 40))
        drawn = rng.choice(numbers, n)
        with np.errstate(all="ignore"):
            found = reduced(made, op, n, dtype)
            value = np.asarray(getattr(np, op)(drawn))
        assert found is not None and holds(found, value), (op, made, drawn, found, value)


@pytest.mark.parametrize("op", sorted({*TWO, *(n for n in RULES if n in ("where", "clip"))}))
def test_pieces_of_one_operand_and_a_number_for_the_other(op):
    """A box of many pieces meets one of one piece, on either side: each piece is bounded as if it were alone."""
    rng = np.random.default_rng(len(op) + 7)
    told = 0
    dtypes = ("bool",) if op.startswith(("logical", "bitwise")) else ("int64", "float32", "float64")
    for _ in range(60):
        dtype = str(rng.choice(dtypes))
        count = REGISTRY[op].arity()[1] or 2
        many = int(rng.integers(0, count))
        parts = [[random_box(rng, dtype)[0] for _ in range(5 if k == many else 1)] for k in range(count)]
        if op == "where":
            parts[0] = [random_box(rng, "bool")[0] for _ in parts[0]]
        if op in ("floor_divide", "remainder") and rng.random() < 0.8:
            sizes = [int(rng.integers(1, 9)) for _ in parts[1]]
            parts[1] = [bounds(dtype, n, n) for n in sizes]
        together = [
            Interval(p[0].dtype, *(np.concatenate([getattr(b, f) for b in p]) for f in ("lo", "hi", "nan", "dead")))
            for p in parts
        ]
        try:
            out = REGISTRY[op].infer([TensorType(b.dtype, ()) for b in together], {})[0].dtype
        except Exception:  # the op does not take these dtypes
            continue
        with np.errstate(all="ignore"):
            found = RULES[op](together, {"_op": op}, out)
            alone = [RULES[op]([p[min(k, len(p) - 1)] for p in parts], {"_op": op}, out) for k in range(5)]
        if found is None:
            continue
        told += 1
        wide = spread(found, 5)
        for k, one in enumerate(alone):
            if one is not None:  # bounds of one piece may be closer, never outside of what all pieces got
                assert one.lo[0] > one.hi[0] or wide.lo[k] <= one.lo[0] and one.hi[0] <= wide.hi[k], (op, together)
                assert wide.nan[k] or not one.nan[0], (op, together)
    assert told
