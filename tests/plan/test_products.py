"""Products of arrays of known shape: instructions of the machine that give the bits of the op's own evaluation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of, same
from tests.plan.test_straight import both_ways
from workbench.ops import lookup

#: shapes that can be multiplied, with vectors and stacks of matrices
SHAPES = [
    ((40, 50), (50, 60)),
    ((3,), (3,)),
    ((2, 1, 3), (3,)),
    ((2, 5, 3), (3,)),
    ((3,), (4, 3, 2)),
    ((4, 2, 3), (3, 5)),
    ((2, 3), (4, 3, 5)),
    ((2, 4, 10, 8), (2, 4, 8, 10)),
    ((2, 1, 10, 8), (4, 8, 10)),
    ((1, 1, 7), (1, 7, 1)),
]
TURNS = list(itertools.product([False, True], [False, True]))


def turned(shape: tuple[int, ...], turn: bool) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if turn and len(shape) > 1 else shape


def drawn(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(len(shape) + sum(shape))
    return (rng.standard_normal(shape) * 10).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("turns", TURNS)
def test_products_have_the_bits_of_numpy(dtype, turns):
    joined = 0
    for a, b in SHAPES:
        given = drawn(turned(a, turns[0]), dtype), drawn(turned(b, turns[1]), dtype)
        attrs = {"transpose_a": turns[0], "transpose_b": turns[1]}
        g = wb.GraphBuilder("product")
        x, y = (g.placeholder(n, dtype, v.shape) for n, v in zip("xy", given, strict=True))
        graph = g.build({"z": g.op("matmul", x, y, **attrs)})
        feeds = dict(zip("xy", given, strict=True))
        run = run_of(graph, feeds)
        while run.go() != "halt":
            pass
        wanted = lookup("matmul").evaluate(list(given), attrs)[0]
        small = not any(turns) and len(a) <= 2 and len(b) <= 2
        if not small or np.prod(a) * b[-1] > 32768:  # small matrices are added up in the order of k
            assert same(run.outputs()["z"], wanted), (a, b)
        joined += both_ways(graph, feeds) > 0
    assert joined == len(SHAPES)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("third", [None, (), (6,), (5, 1), (5, 6)])
def test_gemm_is_a_product_and_a_sum(turns, third):
    for dtype, factors in itertools.product(["float32", "float64", "float16"], [{}, {"alpha": 0.5}, {"beta": 2.0}]):
        shapes = [turned((5, 7), turns[0]), turned((7, 6), turns[1]), *([] if third is None else [third])]
        given = [drawn(s, dtype) for s in shapes]
        attrs = {"transpose_a": turns[0], "transpose_b": turns[1], **factors}
        g = wb.GraphBuilder("gemm")
        made = g.op("gemm", *(g.placeholder(f"x{k}", dtype, v.shape) for k, v in enumerate(given)), **attrs)
        graph, feeds = g.build({"z": made}), {f"x{k}": v for k, v in enumerate(given)}
        run = run_of(graph, feeds)
        while run.go() != "halt":
            pass
        assert same(run.outputs()["z"], lookup("gemm").evaluate(given, attrs)[0]), (dtype, factors)
        if dtype != "float16" and not factors:
            assert run.plan.reasons[made.ref.node][0] == "compiled-array"
        assert both_ways(graph, feeds) or dtype == "float16"


def test_one_place_of_an_axis_is_a_view():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axis, index in itertools.product(range(3), (0, 1, -1)):
        g = wb.GraphBuilder("gather")
        taken = g.op("gather", g.placeholder("x", "float64", x.shape), g.constant(index, "int64"), axis=axis)
        graph = g.build({"y": g.op("negative", taken)})
        assert same(graph.run({"x": x})["y"], -np.take(x, index, axis))
        assert both_ways(graph, {"x": x}) == 1


def test_a_number_of_a_vector_is_taken():
    g = wb.GraphBuilder("gather")
    taken = g.op("gather", g.placeholder("x", "float32", (3,)), g.constant(-1, "int64"))
    assert g.build({"y": g.op("negative", taken)}).run({"x": np.arange(3, dtype=np.float32)})["y"] == -2


def test_a_place_outside_of_an_axis_is_an_error_with_the_node():
    g = wb.GraphBuilder("gather")
    graph = g.build({"y": g.op("gather", g.placeholder("x", "float64", (3,)), g.constant(5, "int64"))})
    with pytest.raises(wb.WorkbenchError, match="gather"):
        graph.run({"x": np.arange(3.0)})


def test_operands_that_lie_in_another_order_are_copied():
    """Neighbours that are one call, with operands of a call that leaves them in the order of Fortran."""
    g = wb.GraphBuilder("order")
    x = g.placeholder("x", "float64", (3, 4))
    graph = g.build({"y": g.op("add", g.op("negative", x), g.op("transpose", g.op("reshape", x, shape=(4, 3))))})
    value = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    assert same(graph.run({"x": value})["y"], -value + value.reshape(4, 3).T)
    assert both_ways(graph, {"x": value}) == 1
