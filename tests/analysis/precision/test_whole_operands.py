"""Ops of which an item of the result comes from many items: the operand that is not finite is to blame."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

onnx = pytest.importorskip("onnx")
helper = onnx.helper

#: op, attributes, shapes of the other operands, shape of x
OPS = (
    ("LayerNormalization", {}, [(4,), (4,)], (2, 4)),
    ("InstanceNormalization", {}, [(3,), (3,)], (2, 3, 4)),
    ("GroupNormalization", {"num_groups": 2}, [(4,), (4,)], (2, 4, 4)),
    ("BatchNormalization", {}, [(3,), (3,), (3,), (3,)], (2, 3, 4)),
    ("Softmax", {}, [], (2, 4)),
    ("LogSoftmax", {}, [], (2, 4)),
    ("MatMul", {}, [(4, 4)], (4, 4)),
    ("Gemm", {}, [(4, 4), (4,)], (4, 4)),
    ("Conv", {}, [(2, 3, 2), (2,)], (1, 3, 4)),
)


def run(op, attrs, others, shape, bad):
    """The origin of a NaN that the op makes; operand ``bad`` holds infinities that exp made."""
    shapes = [shape, *others]
    names = [f"v{k}" for k in range(len(shapes))]
    fed = [onnx.helper.make_tensor_value_info(n, 1, s) for n, s in zip(names, shapes, strict=True)]
    grown = helper.make_node("Exp", [names[bad]], ["grown"], name="grow")
    inputs = [n if k != bad else "grown" for k, n in enumerate(names)]
    made = helper.make_node(op, inputs, ["y"], name="op", **attrs)
    graph = helper.make_graph([grown, made], "g", fed, [helper.make_tensor_value_info("y", 1, None)])
    opset = 21 if op == "GroupNormalization" else 17
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    feeds = {n: np.full(s, 100.0, np.float32) for n, s in zip(names, shapes, strict=True)}
    feeds[names[bad]] = np.zeros(shapes[bad], np.float32)
    feeds[names[bad]].reshape(-1)[-1] = 500.0  # one item, and the last: not where the first NaN is
    if op in ("MatMul", "Gemm", "Conv", "BatchNormalization"):  # infinity times 0
        for k, n in enumerate(names[:2]):
            if k != bad:
                feeds[n] = np.zeros(shapes[k], np.float32)
    with wb.Session(wb.from_onnx(model), feeds) as session:
        session.run()
        return wb.nan_origin(session)


@pytest.mark.parametrize("case", OPS, ids=lambda c: c[0])
def test_the_operand_that_is_not_finite_is_to_blame(case):
    op, attrs, others, shape = case
    found = run(op, attrs, others, shape, 0)
    assert found is not None and found.op.rpartition(":")[2].lower().replace("_", "") != "exp"
    assert "grown" in str(found), str(found)
    assert found.because is not None and found.because.op.rpartition(":")[2].lower() == "exp"


@pytest.mark.parametrize("op", ["MatMul", "Gemm", "Conv"])
def test_also_where_it_is_the_second(op):
    case = next(c for c in OPS if c[0] == op)
    found = run(*case, 1)
    assert found is not None and "grown" in str(found) and found.because is not None
