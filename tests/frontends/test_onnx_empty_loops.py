"""Loops without trips: outputs have the types that the body computes, whether or not the body declares them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import workbench as wb
from workbench.frontends.onnx.control import elements

F, INT, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, kind: int = F, shape: object = None):
    return helper.make_tensor_value_info(name, kind, shape)


def body(nodes, more=(), outputs=(), carried=((3, 2), "v_in", "v_out")):
    shape, before, after = carried
    inputs = [value("i", INT, []), value("c_in", B, []), value(before, F, shape)]
    keep = helper.make_node("Identity", ["c_in"], ["c_out"])
    ends = [value("c_out", B, []), value(after, F, shape), *outputs]
    return helper.make_graph([*nodes, keep, *more], "body", inputs, ends)


def model(nodes, outputs, initializers=()) -> ModelProto:
    inputs = [value("m", INT, []), value("v", F, [3, 2]), value("w", F, [2, 4]), value("x", F, ["n", 5])]
    graph = helper.make_graph(nodes, "g", inputs, [value(o, kind) for o, kind in outputs], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _double():
    return helper.make_node("Add", ["v_in", "v_in"], ["v_out"])


def products() -> ModelProto:
    """A scan output computed from the carried value and one from outside; an integer one; one of bools."""
    nodes = [
        _double(),
        helper.make_node("Relu", ["v_in"], ["r"]),
        helper.make_node("MatMul", ["r", "w"], ["s"]),
        helper.make_node("Shape", ["s"], ["t"]),
        helper.make_node("Greater", ["v_in", "r"], ["u"]),
    ]
    ends = [value("s", F, [3, 4]), value("t", INT, [2]), value("u", B, [3, 2])]
    loop = helper.make_node("Loop", ["m", "", "v"], ["end", "ss", "ts", "us"], body=body(nodes, outputs=ends))
    return model([loop, helper.make_node("ReduceSum", ["ss"], ["y"], keepdims=0)],
                 [("ss", F), ("ts", INT), ("us", B), ("y", F)])  # fmt: skip


def read_behind() -> ModelProto:
    """Nodes after the loop need the rank."""
    nodes = [_double(), helper.make_node("MatMul", ["v_in", "w"], ["s"])]
    loop = helper.make_node("Loop", ["m", "", "v"], ["", "ss"], body=body(nodes, outputs=[value("s", F, [3, 4])]))
    more = [
        helper.make_node("Transpose", ["ss"], ["tt"], perm=[2, 0, 1]),
        helper.make_node("ReduceMax", ["ss"], ["mm"], axes=[2], keepdims=1),
    ]
    return model([loop, *more], [("tt", F), ("mm", F)])


def branches() -> ModelProto:
    """The scan output leaves a branch."""
    sides = [
        helper.make_graph([helper.make_node(op, ["v_in"], [f"{op}_o"])], op, [], [value(f"{op}_o", F, [3, 2])])
        for op in ("Neg", "Exp")
    ]
    nodes = [_double(), helper.make_node("If", ["c_in"], ["s"], then_branch=sides[0], else_branch=sides[1])]
    loop = helper.make_node("Loop", ["m", "", "v"], ["", "ss"], body=body(nodes, outputs=[value("s", F, [3, 2])]))
    return model([loop], [("ss", F)])


def nested() -> ModelProto:
    """A scan output of scan outputs."""
    inner_nodes = [
        helper.make_node("Add", ["p_in", "p_in"], ["p_out"]),
        helper.make_node("MatMul", ["p_in", "w"], ["q"]),
    ]
    inner = helper.make_graph(
        [*inner_nodes, helper.make_node("Identity", ["d_in"], ["d_out"])],
        "inner",
        [value("j", INT, []), value("d_in", B, []), value("p_in", F, [3, 2])],
        [value("d_out", B, []), value("p_out", F, [3, 2]), value("q", F, [3, 4])],
    )
    nodes = [_double(), helper.make_node("Loop", ["m", "", "v_in"], ["", "s"], body=inner)]
    loop = helper.make_node("Loop", ["m", "", "v"], ["", "ss"], body=body(nodes, outputs=[value("s", F, [None, 3, 4])]))
    return model([loop], [("ss", F)])


def scan() -> ModelProto:
    """Rows of an input whose first axis may be 0 long."""
    inside = helper.make_graph(
        [
            helper.make_node("MatMul", ["v_in", "w"], ["s"]),
            helper.make_node("Identity", ["v_in"], ["v_out"]),
            helper.make_node("Neg", ["row"], ["t"]),
        ],
        "inside",
        [value("v_in", F, [3, 2]), value("row", F, [5])],
        [value("v_out", F, [3, 2]), value("s", F, [3, 4]), value("t", F, [5])],
    )
    node = helper.make_node("Scan", ["v", "x"], ["end", "ss", "ts"], body=inside, num_scan_inputs=1)
    return model([node], [("end", F), ("ss", F), ("ts", F)])


def forgotten(graph) -> None:
    """Remove the types of all values in bodies, as exporters omit them."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                for info in (*attribute.g.input, *attribute.g.output, *attribute.g.value_info):
                    info.ClearField("type")
                forgotten(attribute.g)


@pytest.mark.parametrize("make", [products, read_behind, branches, nested, scan], ids=lambda m: m.__name__)
def test_types_that_are_not_declared_are_those_that_are_inferred(make):
    declared, bare = make(), make()
    forgotten(bare.graph)
    for trips in (0, 2):
        given = {
            "m": np.array(trips),
            "v": np.ones((3, 2), np.float32),
            "w": np.ones((2, 4), np.float32),
            "x": np.ones((trips, 5), np.float32),
        }
        results = []
        for proto in (declared, bare):
            graph = wb.from_onnx(proto)
            results.append(graph.run({name: given[name] for name in graph.inputs}))
        for name, one in results[0].items():
            other = results[1][name]
            assert (one.dtype, one.shape) == (other.dtype, other.shape), (name, trips)
            assert np.array_equal(one, other)


def test_shapes_of_no_trip():
    proto = products()
    forgotten(proto.graph)
    feeds = {"m": np.array(0), "v": np.ones((3, 2), np.float32), "w": np.ones((2, 4), np.float32)}
    found = wb.from_onnx(proto).run(feeds)
    assert {name: (str(v.dtype), v.shape) for name, v in found.items()} == {
        "ss": ("float32", (0, 3, 4)), "ts": ("int64", (0, 2)), "us": ("bool", (0, 3, 2)), "y": ("float32", ()),
    }  # fmt: skip


def test_a_graph_whose_lists_are_known_is_the_same_graph():
    graph = wb.from_onnx(products())
    assert elements.with_element_types(graph) is graph
