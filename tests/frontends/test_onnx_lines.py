"""Lines, modules and names of loops in ONNX models exported by PyTorch."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

import workbench as wb

STACK, SCOPES, CALL = (f"pkg.torch.onnx.{key}" for key in ("stack_trace", "name_scopes", "fx_node"))
TRACE = """File "/home/me/model.py", line 7, in forward
    return torch.log(torch.relu(x))
  File "/usr/lib/python3/site-packages/torch/nn/functional.py", line 1, in relu
    return torch.relu(input)"""


def noted(node, trace, key=STACK):
    entry = node.metadata_props.add()
    entry.key, entry.value = key, trace
    return node


def of_module(node, *scopes):
    return noted(noted(node, str(list(scopes)), SCOPES), f"%{scopes[-1]} : [num_users=1] = call_function[...]", CALL)


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


def test_nodes_are_in_the_region_of_their_module():
    nodes = [
        of_module(helper.make_node("Relu", ["x"], ["relu"], name="node_relu"), "", "enc.0", "enc.0.act", "relu"),
        of_module(helper.make_node("Neg", ["relu"], ["neg"]), "", "enc.0", "neg"),
        of_module(helper.make_node("Exp", ["neg"], ["y"]), "", "exp"),
    ]
    graph = wb.load(model(*nodes))
    found = {n.op: n.region for n in graph.nodes.values()}
    assert found == {"Placeholder": None, "relu": "enc/0/act", "negative": "enc/0", "exp": None}
    regions = graph.regions
    assert (
        regions["enc/0/act"].parent == "enc/0" and regions["enc/0"].kind == "call" and regions["enc/0"].parent is None
    )
    assert wb.parse(graph.text()) == graph and {"relu", "neg", "y"} <= set(graph.names)


def test_a_loop_has_the_name_of_the_call_and_of_its_start_values():
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            of_module(helper.make_node("Add", ["v__subgraph_in", "v__subgraph_in"], ["v"]), "add"),
            helper.make_node("ReduceSum", ["v"], ["s"], keepdims=0),
            helper.make_node("Less", ["s", "limit"], ["go_on"]),
        ],
        "body",
        [info("i", 7, []), info("c", 9, []), info("v__subgraph_in", 1, [2])],
        [info("go_on", 9, []), info("v", 1, [2])],
    )
    yes = helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))
    limit = helper.make_node("Constant", [], ["limit"], value=helper.make_tensor("l", 1, [], [40.0]))
    loop = helper.make_node("Loop", ["", "yes", "x"], ["y"], body=body, name="node_while_loop__1")
    graph = wb.load(model(yes, limit, of_module(loop, "", "solver.steps", "while_loop")))
    assert list(graph.frames) == [(), ("solver/steps/while_loop",)]
    with wb.Session(graph, {"x": np.ones(2, np.float32)}) as session:
        session.run()
        assert session.trace["solver/steps/while_loop/x"].values[:, 0].tolist() == [1, 2, 4, 8, 16, 32]
    (region,) = graph.regions.values()
    assert (region.name, region.kind) == ("solver/steps/while_loop", "loop")


def test_scopes_that_are_no_list_of_names_are_left_out():
    for text in ("", "nonsense", "[1, 2]", "__import__('os')", "(" * 9_000, "['x', " * 2_000):
        node = noted(helper.make_node("Relu", ["x"], ["y"], name="own"), text, SCOPES)
        graph = wb.load(model(noted(node, "%relu", CALL)))
        assert [n.region for n in graph.nodes.values() if n.op == "relu"] in ([None], ["x"])
    hostile = of_module(helper.make_node("Relu", ["x"], ["y"]), "", "<img src=x>/..", "relu")
    graph = wb.load(model(hostile))
    assert graph.regions and np.array_equal(graph.run(x=np.ones(2, np.float32))["y"], [1, 1])
