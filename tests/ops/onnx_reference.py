"""Evaluates an ONNX op by the reference implementation of the onnx package, which uses NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from workbench import ops


def onnx_op(op, inputs, opset=19, outputs=1, **attrs):
    """The outputs of the op; None among the inputs means an omitted one."""
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)]
    helper = onnx.helper
    given = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(names, inputs, strict=True)
        if x is not None
    ]
    results = [helper.make_tensor_value_info(n, 0, None) for n in outs]
    graph = helper.make_graph([helper.make_node(op, names, outs, **attrs)], "one", given, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    feeds = {n: x for n, x in zip(names, inputs, strict=True) if x is not None}
    found = ReferenceEvaluator(model).run(None, feeds)
    return found[0] if outputs == 1 else found


def ours(name, *arrays, **attrs):
    """The outputs of a workbench op."""
    with np.errstate(all="ignore"):
        found = ops.lookup(name).evaluate([np.asarray(a) for a in arrays], attrs)
    return found[0] if len(found) == 1 else found
