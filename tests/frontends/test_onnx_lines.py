"""Lines of the user's code in ONNX models that PyTorch exported."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

import workbench as wb

STACK = "pkg.torch.onnx.stack_trace"
TRACE = """File "/home/me/model.py", line 7, in forward
    return torch.log(torch.relu(x))
  File "/usr/lib/python3/site-packages/torch/nn/functional.py", line 1, in relu
    return torch.relu(input)"""


def noted(node, trace):
    entry = node.metadata_props.add()
    entry.key, entry.value = STACK, trace
    return node


def model(*nodes):
    of = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    return helper.make_model(helper.make_graph(list(nodes), "lines", of[:1], of[1:]))


def test_a_node_has_the_line_that_pytorch_noted():
    first = noted(helper.make_node("Relu", ["x"], ["h"]), TRACE)
    graph = wb.load(model(first, helper.make_node("Log", ["h"], ["y"])))
    relu, log = graph.nodes["h"], graph.nodes["y"]
    assert relu.source.where == "/home/me/model.py:7"
    assert relu.source.expression == "return torch.log(torch.relu(x))" and log.source is None
    assert wb.parse(graph.text()) == graph


def test_nodes_in_a_branch_have_their_own_lines_or_that_of_the_branch():
    side = TRACE.replace("line 7", "line 9")
    inner = [noted(helper.make_node("Neg", ["x"], ["a"]), side), helper.make_node("Exp", ["a"], ["b"])]
    out = helper.make_tensor_value_info("b", TensorProto.FLOAT, [2])
    branch = helper.make_graph(inner, "side", [], [out])
    test = helper.make_node("Constant", [], ["t"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))
    choice = noted(helper.make_node("If", ["t"], ["y"], then_branch=branch, else_branch=branch), TRACE)
    graph = wb.load(model(test, choice))
    lines = {n.op: n.source.line for n in graph.nodes.values() if n.op in ("negative", "exp", "Merge")}
    assert lines == {"negative": 9, "exp": 7, "Merge": 7}
    x = np.array([1.0, 2.0], np.float32)
    assert np.allclose(next(iter(graph.run(x=x).values())), np.exp(-x))


def test_a_trace_that_is_no_trace_gives_no_line():
    for text in (
        "",
        "nonsense",
        'File "a.py", line 99999999999999, in f',
        'File "x/site-packages/torch/a.py", line 1, in f',
    ):
        node = noted(helper.make_node("Relu", ["x"], ["y"]), text)
        assert wb.load(model(node)).nodes["y"].source is None
