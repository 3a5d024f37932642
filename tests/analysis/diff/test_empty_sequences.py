"""Lists that are empty when a loop begins, and the types of their elements that another library receives."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
from onnx import TensorProto, helper  # noqa: E402

TYPES = {
    "float": TensorProto.FLOAT,
    "int64": TensorProto.INT64,
    "string": TensorProto.STRING,
    "float16": TensorProto.FLOAT16,
    "bool": TensorProto.BOOL,
    "uint8": TensorProto.UINT8,
    "double": TensorProto.DOUBLE,
}


def collecting(number: int, declared: bool, fed: bool) -> onnx.ModelProto:
    """A loop that appends ``x`` to a list ``M`` times; the list is made by SequenceEmpty or fed."""
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(number, None))
    untyped = onnx.ValueInfoProto(name="t")
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("SequenceInsert", ["t", "x"], ["u"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_value_info("t", sequence) if declared else untyped,
        ],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_value_info("u", sequence)],
    )
    nodes = [
        helper.make_node("Loop", ["M", "", "start"], ["s"], body=body),
        helper.make_node("SequenceLength", ["s"], ["n"]),
    ]
    inputs = [helper.make_tensor_value_info("M", TensorProto.INT64, [])]
    inputs.append(helper.make_tensor_value_info("x", number, [2]))
    if fed:
        inputs.append(helper.make_value_info("start", sequence))
    else:
        nodes.insert(0, helper.make_node("SequenceEmpty", [], ["start"], dtype=number))
    graph = helper.make_graph(
        nodes,
        "g",
        inputs,
        [helper.make_value_info("s", sequence), helper.make_tensor_value_info("n", TensorProto.INT64, [])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("fed", [False, True], ids=["made", "fed"])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "inferred"])
@pytest.mark.parametrize("name", TYPES)
def test_a_list_that_is_empty_when_a_loop_begins(name, declared, fed):
    model, number = collecting(TYPES[name], declared, fed), TYPES[name]
    x = np.array(["a", "b"], object) if name == "string" else np.array([1, 0], helper.tensor_dtype_to_np_dtype(number))
    for trips in (3, 0):
        feeds = {"M": np.array(trips, np.int64), "x": x, **({"start": []} if fed else {})}
        record = wb.run_with("onnxruntime", model, feeds)
        assert record.outputs["n"] == trips and len(record.outputs["s"]) == trips
        with wb.Session(wb.load(model), feeds, trace="all") as session:
            session.run()
            assert wb.diff(session, record, dtypes=True).equal
