"""The same graph in another precision: what it costs, value by value."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.analysis.diff.graphs import collatz, finished, nested, newton


def test_a_graph_in_another_dtype_is_that_graph_built_in_it():
    graph = wb.in_dtype(newton(), "float32")
    assert graph.type_of("x").dtype == "float32" and graph.outputs == newton().outputs
    with finished(graph, a=np.float32(2)) as one, finished(newton("float32"), a=np.float32(2)) as other:
        assert wb.diff(one, other, dtypes=True).equal
    assert wb.in_dtype(newton("float32"), "float64").type_of("while/divide").dtype == "float64"
    assert wb.in_dtype(collatz(), "float16").nodes == collatz().nodes, "integers stay"


def test_what_a_precision_costs():
    found = wb.diff_dtypes(newton(tolerance=1e-4), {"a": 2.0}, "float32", rtol=1e-5, atol=1e-6)
    assert found.equal and found.b == "float32" and "x" in found.within
    exact = wb.diff_dtypes(newton(tolerance=1e-4), {"a": 2.0}, "float32", ulp=0)
    assert exact.first.op == "add" and exact.first.iteration == (1,) and exact.first.dtypes == ("float64", "float32")
    coarse = wb.diff_dtypes(nested(), {"x": 1.0}, "bfloat16", rtol=1e-3)
    assert coarse.first is not None and not coarse.lengths
    assert coarse.first.max_rel > 1e-3 and coarse.first.dtypes[1] == "bfloat16"


def test_a_loop_that_never_ends_in_float32():
    b = wb.GraphBuilder("endless")
    a = b.placeholder("a")
    graph = b.build(b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a}))
    found = wb.diff_dtypes(graph, {"a": 2.0}, "float32", rtol=1e-4, atol=1e-5, max_events=20_000)
    assert found.flips[0].iteration == (4,) and "goes on in b" in found.text()
    assert found.lengths and "b has not come to its end" in found.text()


def test_what_cannot_be_put_into_another_dtype():
    for dtype in ("int32", "float8", "", None):
        with pytest.raises(wb.WorkbenchError, match="bad-dtype"):
            wb.in_dtype(newton(), dtype)
    pytest.importorskip("onnxruntime")
    from tests.frontends.models import CASES, model
    from workbench.frontends import from_onnx

    graph = from_onnx(model(CASES["ops that only the reference evaluator has"][0]))
    if any(":" in n.op for n in graph.nodes.values()):
        with pytest.raises(wb.WorkbenchError, match="foreign-op"):
            wb.in_dtype(graph, "float64")
