"""Sweeps of imported models: an ONNX loop equals onnxruntime's graph as a session runs it, point by point."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("onnx", reason="the extra onnx is not installed")


def test_an_onnx_model_with_nested_loops_and_branches():
    from tests.analysis.diff.test_run_with import NESTED, model

    graph = wb.from_onnx(model(NESTED.format(op="Sub")))
    points = {"x0": np.linspace(-1, 1, 21, dtype=np.float32), "M": np.arange(0, 6)}
    found = wb.sweep(graph, points)
    assert found.shape == (21, 6) and (found["outcome"] == "ended").all()
    name = next(iter(graph.outputs))
    for k in range(0, len(found), 7):
        with found.session(k) as session:
            session.run()
            value = session.outputs[name]
            assert value.tobytes() == found[name][k].tobytes() and value.dtype == found[name].dtype
    assert (found["iterations"].reshape(21, 6) == np.arange(6)).all()
