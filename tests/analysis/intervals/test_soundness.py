"""Every rule of boxes against the op itself, also on arrays: results of the executor and the registry for numbers in
the boxes lie in the box of the result; the part of a box that a comparison keeps contains all numbers that satisfy it;
and a node that cannot fail according to its bounds does not fail.

A rule without a case here fails the first test.
"""

from __future__ import annotations

import functools
import os

import numpy as np
import pytest

import workbench as wb
from tests.analysis.intervals.test_interval import NUMBERS, holds, random_box
from workbench.analysis.intervals.interval import INTEGERS, Interval, bounds, box_of, fitted, int_range, truth
from workbench.analysis.intervals.op_safety import ABOVE, DEFINED, REACH, SAFE, TOTAL, certain
from workbench.analysis.intervals.transfer import RULES, needs_size, reduced
from workbench.analysis.slicing.formulas import INVERSE, MIRROR, cut
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType

#: arrays of each case in the slow stage
WIDER = int(os.environ.get("WORKBENCH_SWEEP", "200"))
DTYPES = (*NUMBERS, "int32", "bool")
#: op -> (shapes of its inputs, attrs) of each way in which it is used; "at" is an index of the axis before it
V, M = (6,), (2, 3)
SAME = (
    "Identity positive stop_gradient check_numerics abs square negative reciprocal relu relu6 sigmoid round "
    "floor ceil trunc sqrt exp exp2 expm1 log log2 log10 log1p tanh atan asin cbrt sin cos invert logical_not "
    "isnan isinf isfinite"
).split()
TWO = (
    "add subtract multiply divide floor_divide remainder maximum minimum squared_difference less less_equal "
    "greater greater_equal equal not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
).split()
CASES: dict[str, list[tuple[list[tuple[int, ...] | str], dict]]] = {
    **{op: [([V], {}), ([()], {})] for op in SAME},
    **{op: [([V, V], {}), ([V, ()], {}), ([(), V], {}), ([(), ()], {})] for op in TWO},
    "approximate_equal": [([V, V], {"tolerance": 0.5}), ([V, ()], {}), ([(), ()], {"tolerance": 2.0})],
    "where": [(["bool", V, V], {}), (["bool", V, ()], {}), ([V, V, V], {})],
    "clip": [([V, (), ()], {}), ([V, V, V], {"numpy": True}), ([(), (), ()], {})],
    "cast": [([V], {"dtype": d}) for d in DTYPES],
    "ensure_shape": [([V], {"shape": (6,)})],
    "reshape": [([V], {"shape": (2, 3)}), ([V], {"shape": (-1,)})],
    "flatten": [([M], {"axis": 1}), ([M], {})],
    "transpose": [([M], {})],
    "expand_dims": [([V], {"axis": (0,)})],
    "squeeze": [([(1, 6)], {"axis": (0,)})],
    "broadcast_to": [([()], {"shape": (3,)}), ([(1, 3)], {"shape": (4, 3)})],
    "reverse": [([V], {"axis": (0,)})],
    "sort": [([V], {}), ([M], {"axis": 0, "descending": True})],
    "diagonal": [([M], {}), ([M], {"offset": 1})],
    "tile": [([V], {"repeats": (2,)}), ([M], {"repeats": (1, 2)})],
    "roll": [([V], {"shift": (1,), "axis": (0,)}), ([M], {"shift": (2,), "axis": (1,)})],
    "getitem": [
        ([V], {"index": (("int", -1),)}),
        ([V], {"index": (("slice", 1, 5, 2),)}),
        ([M], {"index": (("int", 0),)}),
        ([M], {"index": (("ellipsis",), ("int", 1))}),
        ([V, "at"], {"index": (("input", 0),)}),
    ],
    "slice": [
        ([V], {"starts": (1,), "ends": (4,)}),
        ([M], {"starts": (2,), "ends": (-4,), "axes": (1,), "steps": (-1,)}),
    ],
    "softmax": [([V], {}), ([M], {"axis": 0})],
}
REDUCED = ("max", "min", "any", "all", "sum", "mean", "norm", "l2_loss")


def numbers_in(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> tuple[Interval, np.ndarray]:
    """A box, and an array of numbers of it."""
    if dtype == "bool":
        drawn = rng.random(shape) < rng.choice([0.0, 0.5, 1.0])
        return box_of(drawn), drawn
    made, numbers = random_box(rng, dtype)
    return made, rng.choice(numbers, shape).astype(dtype)


@functools.lru_cache(4096)
def node_of(op: str, types: tuple[TensorType, ...], attrs: tuple) -> tuple[wb.Graph, str] | None:
    """A graph of this node alone, and its dtype; None for types that it does not take."""
    b = wb.GraphBuilder("node")
    try:
        out = b.op(op, *(b.placeholder(f"x{k}", t.dtype, t.shape) for k, t in enumerate(types)), **dict(attrs))
    except wb.WorkbenchError:
        return None
    return b.build({"y": out}), out.dtype


def frozen(attrs: dict) -> tuple:
    return tuple(sorted(attrs.items()))


def results(op: str, arrays: list[np.ndarray], attrs: dict) -> tuple[str, list[np.ndarray]] | None:
    """(dtype, results of the executor and of the registry); those that raise are left out."""
    found = node_of(op, tuple(TensorType(a.dtype.name, a.shape) for a in arrays), frozen(attrs))
    if found is None:
        return None
    graph, dtype = found
    values = []
    with np.errstate(all="ignore"):
        for run in (
            lambda: graph.run({f"x{k}": a for k, a in enumerate(arrays)})["y"],
            lambda: REGISTRY[op].evaluate(arrays, attrs)[0],
        ):
            try:
                values.append(np.asarray(run()))
            except (wb.WorkbenchError, ArithmeticError, ValueError):
                assert attrs.get("checked") or op == "check_numerics", op
    return dtype, values


def drawn_case(rng: np.random.Generator, op: str, shapes: list) -> tuple[list[Interval], list[np.ndarray]]:
    boxes, arrays, before = [], [], None
    for shape in shapes:
        if shape == "at":
            k = int(rng.integers(-arrays[0].shape[0], arrays[0].shape[0]))
            made, array = box_of(np.int64(k)), np.asarray(k)
        elif shape == "bool":
            made, array = numbers_in(rng, "bool", (6,))
        else:
            dtype = before if before is not None and rng.random() < 0.6 else str(rng.choice(DTYPES))
            if op.startswith("bitwise") and rng.random() < 0.4:
                dtype = "bool"
            made, array = numbers_in(rng, dtype, shape)
            before = dtype
        if op in ("floor_divide", "remainder") and len(boxes) == 1 and rng.random() < 0.7 and before != "bool":
            array = np.full(shape, abs(int(rng.integers(1, 9))), before)
            made = box_of(array)
        boxes.append(made)
        arrays.append(array)
    return boxes, arrays


def test_every_rule_has_a_case():
    assert set(RULES) <= {*CASES}, set(RULES) - {*CASES}
    assert {op for op in REGISTRY if needs_size(op)} <= set(REDUCED)


@pytest.mark.parametrize("op", sorted(CASES))
def test_what_is_computed_lies_in_the_box_of_the_result(op):
    assert held_by_rule(op, 0, max(5, 24 // len(CASES[op]))) >= 2


@pytest.mark.sweep
@pytest.mark.parametrize("op", sorted(CASES))
def test_what_is_computed_lies_in_the_box_of_the_result_wider(op):
    """WORKBENCH_SWEEP sets how many arrays of each case."""
    held_by_rule(op, 1, WIDER)


def held_by_rule(op: str, seed: int, rounds: int) -> int:
    """Number of results that were compared with their box."""
    rng, told = np.random.default_rng([seed, *map(ord, op)]), 0
    for shapes, attrs in CASES[op]:
        for turn in range(rounds):
            given = dict(attrs)
            if op in RULES and turn % 4 == 0 and "checked" in REGISTRY[op].attrs and all(s == () for s in shapes):
                given["checked"] = True
            boxes, arrays = drawn_case(rng, op, shapes)
            found = results(op, arrays, given)
            if found is None:
                continue
            dtype, values = found
            with np.errstate(all="ignore"):
                made = RULES[op](list(boxes), {**given, "_op": op}, dtype)
            if made is None:
                continue
            told += 1
            for value in values:
                assert value.dtype.name == made.dtype == dtype
                assert holds(made, value), (op, given, boxes, arrays, made, value)
    return told


@pytest.mark.parametrize("op", REDUCED)
def test_reductions_of_arrays(op):
    """Along all axes or one, by the executor's own sums, of arrays whose numbers cancel or overflow on the way."""
    assert held_by_reduction(op, 0, 8) >= 6 or op in ("norm", "l2_loss")


@pytest.mark.sweep
@pytest.mark.parametrize("op", REDUCED)
def test_reductions_of_arrays_wider(op):
    held_by_reduction(op, 1, WIDER)


def held_by_reduction(op: str, seed: int, rounds: int) -> int:
    rng, told = np.random.default_rng([seed, *map(ord, op)]), 0
    cases = [((7,), {}), ((2, 3), {"axis": (0,)}), ((2, 3), {"axis": (1,), "keepdims": True}), ((70,), {}), ((1,), {})]
    for shape, attrs in cases if op != "l2_loss" else [((7,), {})]:
        for _ in range(rounds):
            dtype = str(rng.choice(DTYPES))
            made, array = numbers_in(rng, dtype, shape)
            found = results(op, [array], attrs)
            if found is None:
                continue
            result, values = found
            with np.errstate(all="ignore"):
                out = reduced(made, op, array.size // max(values[0].size, 1), result)
            if out is None:
                continue
            told += 1
            fine = all(out.dtype == v.dtype.name and holds(out, v) for v in values)
            assert fine, (op, attrs, made, array, out, values)
    return told


@pytest.mark.parametrize("dtype", DTYPES)
def test_truth_and_wrapping_of_bounds(dtype):
    rng = np.random.default_rng(3)
    for _ in range(60):
        made, array = numbers_in(rng, dtype, (12,))
        assert holds(truth(made), array.astype(bool))
        if dtype in INTEGERS and dtype != "bool":
            low, high = (int(x) * int(rng.integers(-3, 4)) + int(rng.integers(0, 9)) for x in int_range(dtype))
            low, high = sorted((low, high))
            span = bounds(dtype, low, high)
            inside = [low + (high - low) * k // 11 for k in range(12)]
            least, count = int_range(dtype)[0], 1 << 8 * np.dtype(dtype).itemsize
            wrapped = np.array([(v - least) % count + least for v in inside], dtype)
            assert holds(fitted(dtype, span.lo, span.hi, span.dead), wrapped)


@pytest.mark.parametrize(
    ("y", "tolerance", "wanted"),
    [((1.0, 1.5), 0.5, (1, 1)), ((1.0, 1.5), 0.375, (0, 1)), ((1.0, 1.5), -1.0, (0, 0)), ((3.0, 4.0), 1.0, (0, 0))],
)
def test_near_numbers_by_the_bounds_of_their_distance(y, tolerance, wanted):
    boxes = [bounds("float32", 1.0, 1.25), bounds("float32", *y)]
    made = RULES["approximate_equal"](boxes, {"tolerance": tolerance, "_op": "approximate_equal"}, "bool")
    assert made is not None and (made.lo[0], made.hi[0]) == wanted


@pytest.mark.parametrize("op", sorted(MIRROR))
def test_what_a_comparison_leaves_of_a_box(op):
    rng = np.random.default_rng(len(op))
    compare = getattr(np, op)
    for _ in range(200):
        dtype = str(rng.choice(DTYPES))
        made, array = numbers_in(rng, dtype, (16,))
        limit = numbers_in(rng, dtype, (1,))[1]
        for goes in (True, False):
            kept = array[compare(array, limit) == goes]
            with np.errstate(all="ignore"):
                left = cut(made, box_of(limit), op if goes else INVERSE[op], goes)
            assert left is None or holds(left, kept), (op, goes, made, limit, left, kept)


#: op -> dtypes, and attrs, with which it may be safe
RISKY: dict[str, list[tuple[tuple[str, ...], dict]]] = {
    **{
        op: [(("int64", "int64"), {"checked": True})]
        for op in "add subtract multiply floor_divide remainder power left_shift right_shift divide".split()
    },
    **{op: [(("int64",), {"checked": True})] for op in ("negative", "abs")},
    **{op: [(("float64",), {"checked": True})] for op in (*REACH, *DEFINED, *ABOVE, *"asin acos sin cos tan".split())},
    **{op: [(("float64",) * (2 if op in ("atan2", "nextafter") else 1), {"checked": True})] for op in TOTAL},
    "fmod": [(("float64", "float64"), {"checked": True})],
    "cast": [(("float64",), {"checked": True, "dtype": d}) for d in ("int64", "int8", "uint8", "int32")]
    + [(("int64",), {"checked": True, "dtype": "int8"})],
    "check_numerics": [(("float32",), {})],
    "assert": [(("bool",), {}), (("float64",), {})],
}
RISKY["power"].append((("int32", "int32"), {}))
RISKY["whole_power"] = [(("int64", "int64"), {})]
for name in ("floor_divide", "remainder", "divide"):
    RISKY[name].append((("float64", "float64"), {"checked": True}))


@pytest.mark.parametrize("op", sorted({*SAFE, *RISKY}))
def test_what_bounds_call_safe_does_not_raise(op):
    rng, safe = np.random.default_rng(len(op)), 0
    if op in ("getitem", "setitem", "gather"):
        _indices(op, rng)
        return
    for dtypes, attrs in RISKY[op]:
        for _ in range(160):
            pairs = [_near(rng, d) for d in dtypes]
            types = [TensorType(d, ()) for d in dtypes]
            with np.errstate(all="ignore"):
                held = certain(op, [p[0] for p in pairs], {**attrs, "_op": op}, types)
            if not bool(np.all(held)):
                continue
            safe += 1
            for point in zip(*(p[1] for p in pairs), strict=True):
                with np.errstate(all="ignore"):
                    REGISTRY[op].evaluate([np.asarray(x) for x in point], attrs)
    assert safe >= 5


def _near(rng: np.random.Generator, dtype: str) -> tuple[Interval, np.ndarray]:
    """Small numbers as often as any, so that a bound may hold."""
    if dtype == "bool" or rng.random() < 0.3:
        made, numbers = numbers_in(rng, dtype, (12,))
        return made, numbers
    ends = rng.integers(-3, 90, 2) if dtype in INTEGERS else rng.choice([0.0, 0.5, 1.0, -1.0, 9.0, 700.0, -0.9], 2)
    low, high = sorted(ends.tolist())
    numbers = np.linspace(low, high, 12).astype(dtype)
    return box_of(numbers), rng.permutation(numbers)


def _indices(op: str, rng: np.random.Generator) -> None:
    safe = 0
    for _ in range(300):
        low, high = sorted(rng.integers(-6, 7, 2).tolist())
        shape = ((4,), (3, 2), (5, 1))[rng.integers(3)]
        index = tuple(("input", k) for k in range(len(shape))) if rng.random() < 0.5 else (("input", 0),)
        count = len(index) if op != "gather" else 1
        attrs = {"axis": int(rng.integers(-len(shape), len(shape)))} if op == "gather" else {"index": index}
        given = [np.zeros(shape)] + ([np.zeros(())] if op == "setitem" else [])
        boxes = [box_of(a) for a in given] + [bounds("int64", low, high)] * count
        types = [TensorType(a.dtype.name, a.shape) for a in given] + [TensorType("int64", ())] * count
        if not bool(np.all(certain(op, boxes, {**attrs, "_op": op}, types))):
            continue
        safe += 1
        for k in range(low, high + 1):
            REGISTRY[op].evaluate([*given, *[np.asarray(k)] * count], attrs)
    assert safe >= 10
