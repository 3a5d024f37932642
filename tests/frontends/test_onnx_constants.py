"""Sizes, axes and weights that ONNX models compute from constants are computed in the plan: same values and firings."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from workbench.frontends import from_onnx
from workbench.ir import Ref
from workbench.plan import plan as planning
from workbench.plan.lowering import node_facts

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

N = helper.make_node


def model() -> wb.Graph:
    """Weights that are cut and joined, a computed shape, and a branch for arrays of another size, which drops one of
    their axes.
    """
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.standard_normal((4, 3, 3)).astype(np.float32),
        "from": np.array([0]),
        "half": np.array([2]),
        "to": np.array([4]),
        "zero": np.array([0]),
        "minus": np.array([-1]),
        "eight": np.array([8]),
    }
    then = helper.make_graph(
        [N("Squeeze", ["r", "axis"], ["q"])],
        "then",
        [],
        [helper.make_empty_tensor_value_info("q")],
        [numpy_helper.from_array(np.array([1]), "axis")],
    )
    other = helper.make_graph([N("Relu", ["r"], ["p"])], "else", [], [helper.make_empty_tensor_value_info("p")])
    nodes = [
        N("Slice", ["w", "from", "half", "zero"], ["w0"]),
        N("Slice", ["w", "half", "to", "zero"], ["w1"]),
        N("Concat", ["w1", "w0"], ["swapped"], axis=0),
        N("Conv", ["x", "swapped"], ["c"]),
        N("Shape", ["x"], ["sizes"]),
        N("Gather", ["sizes", "zero"], ["n"]),
        N("Mul", ["n", "eight"], ["m"]),
        N("Concat", ["m", "minus"], ["shape"], axis=0),
        N("Reshape", ["c", "shape"], ["r"]),
        N("Equal", ["n", "eight"], ["many"]),
        N("If", ["many"], ["y"], then_branch=then, else_branch=other),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 6])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    return from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "folder", lambda graph: None)
    monkeypatch.setattr(node_facts, "folds_all", lambda graph: False)


def test_the_same_values_and_events_as_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, x = model(), np.random.default_rng(1).standard_normal((2, 3, 6)).astype(np.float32)
    found = []
    for folds in (True, False):
        if not folds:
            unfolded(monkeypatch)
        wb.plan_cache.clear()
        with wb.Session(graph, {"x": x}) as session:
            session.run()
            plan = session.plan
            constant = {n for n, (slug, _) in plan.reasons.items() if slug == "constant"}
            assert constant >= {"w0", "swapped", "sizes", "m", "shape"} if folds else not constant
            assert plan.types["r"][0].is_static == folds
            values = {
                key: [np.asarray(v).tobytes() for v in session.trace[Ref(*key)].firings()] for key in plan.layout.values
            }
            found.append((session.stop.event, values))
        assert graph.run({"x": x})["y"].shape == (16, 2)
    assert found[0] == found[1]
    wb.plan_cache.clear()


def test_a_step_stops_at_nodes_that_are_constant() -> None:
    with wb.Session(model(), {"x": np.zeros((2, 3, 6), np.float32)}) as session:
        seen = []
        while session.stop is None or session.stop.reason is not wb.StopReason.FINISHED:
            session.step()
            seen.append(session.position.node)
            assert len(seen) < 100
        assert {"w0", "swapped", "sizes", "shape"} <= set(seen)


def test_a_branch_that_is_not_taken_need_not_fit() -> None:
    """With the shape of ``r`` known, an axis of size 2 cannot be dropped; that branch never runs."""
    outputs = model().run({"x": np.ones((2, 3, 6), np.float32)})
    assert outputs["y"].shape == (16, 2)
