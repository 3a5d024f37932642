"""Functions of Python's numbers in another precision: checked ops take every float, and fail where Python fails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ExecutionError
from workbench.ir.types import numpy_dtype
from workbench.ops.checked import RULES
from workbench.ops.elementwise.python_math import FUNCTIONS

NARROW = ("float16", "bfloat16", "float32")
SOME = (0.375, 1.5)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("op", [op for op, (_, rule) in RULES.items() if any("f" in letters for letters in rule)])
def test_every_checked_op_takes_every_float(op: str, dtype: str) -> None:
    function, rule = RULES[op]
    for letters, result in rule.items():
        if "f" not in letters:
            continue
        b = wb.GraphBuilder(op)
        given = {
            f"x{k}": np.asarray(SOME[k], numpy_dtype(dtype)) if c == "f" else np.int64(2) for k, c in enumerate(letters)
        }
        values = [b.placeholder(name, dtype if v.dtype != np.int64 else "int64", ()) for name, v in given.items()]
        graph = b.build({"y": b.op(op, *values, checked=True)})
        try:
            expected = function(*(float(v) if v.dtype != np.int64 else int(v) for v in given.values()))
        except ValueError:  # outside of its domain, here as there
            with pytest.raises(ExecutionError):
                graph.run(given)
            continue
        found = graph.run(given)["y"]
        assert found.dtype == (numpy_dtype(dtype) if result == "f" else np.bool_)
        assert found == np.asarray(expected).astype(found.dtype)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("function", [f for f, rule in FUNCTIONS.items() if rule.startswith("f")])
def test_every_function_of_math_takes_every_float(function: str, dtype: str) -> None:
    given = [np.asarray(v, numpy_dtype(dtype)) for v in SOME[: FUNCTIONS[function].index(">")]]
    b = wb.GraphBuilder(function)
    values = [b.placeholder(f"x{k}", dtype, ()) for k in range(len(given))]
    graph = b.build({"y": b.op("math", *values, function=function, _raises=True)})
    found = graph.run({f"x{k}": v for k, v in enumerate(given)})["y"]
    assert found == np.asarray(getattr(math, function)(*map(float, given))).astype(numpy_dtype(dtype))


@wb.graph
def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-2:
        x = (x + a / x) * 0.5
    return x


@wb.graph
def mixed(n: Any, a: Any) -> Any:
    total, i = 0.0, 1
    while i < n:
        total = total + i / 3 + a / i + math.sqrt(a) + round(a, 1) + math.erf(a)
        if total > 5.0:
            total = total - a**2
        i = i + 1
    return total, i / n


@wb.graph
def vector(x: Any) -> Any:
    for _ in range(3):
        x = x / np.sum(x) + x.mean() / len(x)
    return x


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (newton, {"a": 2.0}),
    (mixed, {"n": 6, "a": 1.5}),
    (vector, {"x": np.array([1.0, 2.0, 5.0])}),
]


@pytest.mark.parametrize("dtype", (*NARROW, "float64"))
@pytest.mark.parametrize(("function", "given"), CALLS, ids=lambda c: getattr(c, "__name__", ""))
def test_a_captured_function_is_compared_in_every_precision(function: Any, given: dict[str, Any], dtype: str) -> None:
    graph = function.graph_for(**given)
    found = wb.diff_dtypes(graph, given, dtype, max_events=20_000)
    assert found.b == dtype and found.equal == (dtype == "float64")
    other = wb.in_dtype(graph, dtype)
    narrow = {k: np.asarray(v, numpy_dtype(other.type_of(k).dtype)) for k, v in given.items()}
    for one, value in zip(other.run(narrow).values(), graph.run(given).values(), strict=True):
        assert one.dtype == numpy_dtype(dtype)
        np.testing.assert_allclose(one.astype(float), value, rtol=0.05)


def test_a_division_by_zero_fails_in_every_precision() -> None:
    graph = wb.graph(lambda x: 1.0 / x).graph_for(1.0)
    for dtype in NARROW:
        with pytest.raises(ExecutionError, match="division by zero"):
            wb.in_dtype(graph, dtype).run(x=np.asarray(0.0, numpy_dtype(dtype)))
