"""Names of dtypes: those that are computed with, and the narrow ones that are only held, moved and converted."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from workbench.errors import FeedError, TypeMismatchError
from workbench.ir.types import DTYPES, NARROW, NUMERIC, TensorType, dtype_name, numpy_dtype


@pytest.mark.parametrize("name", [*NUMERIC, *NARROW])
def test_names_and_dtypes_go_both_ways(name):
    dtype = numpy_dtype(name)
    assert dtype_name(dtype) == name == dtype.name and name in DTYPES
    type_ = TensorType.of(np.zeros((2, 3), dtype))
    assert str(type_) == f"{name}[2,3]" and TensorType.parse(str(type_)) == type_


@pytest.mark.parametrize("name", NARROW)
def test_narrow_values_are_moved_but_not_computed_with(name, tmp_path):
    dtype = numpy_dtype(name)
    given = np.array([[1, 0], [0, 1]], np.float32).astype(dtype)
    b = wb.GraphBuilder("g")
    x = b.placeholder("x", name, (2, 2))
    k = b.constant(given[0])
    with pytest.raises(TypeMismatchError):
        b.add(x, x)
    graph = b.build({"turned": b.transpose(x), "first": b.gather(x, b.constant(0)), "both": b.concat(x, x), "k": k})
    assert wb.parse(graph.text()) == graph
    with wb.Session(graph, {"x": given}, trace="all") as session:
        session.run()
        out = session.outputs
        assert {v.dtype for v in out.values()} == {dtype}
        assert out["both"].tobytes() == given.tobytes() * 2 and out["turned"].tobytes() == given.T.tobytes()
        session.trace.save(tmp_path / "t.trace")
    loaded = wb.Trace.load(tmp_path / "t.trace")
    for label in ("x", "both"):
        value = loaded.firings(label)[0]
        assert value.dtype == dtype
        np.testing.assert_array_equal(value.view(np.uint8), session.trace.firings(label)[0].view(np.uint8))


def test_a_feed_of_another_narrow_dtype_is_refused():
    b = wb.GraphBuilder("g")
    graph = b.build(b.transpose(b.placeholder("x", "float8_e4m3fn", (2, 2))))
    with pytest.raises(FeedError, match="float8_e4m3fn"):
        graph.run(x=np.zeros((2, 2), ml_dtypes.float8_e5m2))
