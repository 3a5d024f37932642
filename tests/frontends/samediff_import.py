"""TensorFlow graphs as SameDiff's importer would store them: the same names, frames and control dependencies.

``python -m tests.frontends.samediff_import GRAPH.pbtxt GRAPH.fb`` writes one, as it wrote
``notebooks/models/savings.fb``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import workbench as wb
from tests.frontends.flatbytes import DTYPES, SameDiff, prop
from workbench.frontends.tf.graphdef import GraphDef, NodeDef, read_graphdef
from workbench.frontends.tf.tensor_proto import DTypeAttr

#: TensorFlow's op -> the name under which SameDiff stores it, for ops without arguments
SAME = {
    "Identity": "identity",
    "IdentityN": "identity_n",
    "Switch": "switch",
    "Merge": "merge",
    "Exit": "exit",
    "NextIteration": "next_iteration",
    "LoopCond": "loop_cond",
    "NoOp": "noop",
    "Assert": "Assert",
    "Add": "add",
    "AddV2": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "RealDiv": "realdiv",
    "FloorDiv": "floordiv",
    "FloorMod": "floormod",
    "SquaredDifference": "squaredsubtract",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Pow": "Pow",
    "Neg": "neg",
    "Abs": "abs",
    "Square": "square",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "Relu": "relu",
    "Less": "less",
    "LessEqual": "less_equal",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "Equal": "equals",
    "NotEqual": "not_equals",
    "LogicalAnd": "boolean_and",
    "LogicalOr": "boolean_or",
    "LogicalNot": "boolean_not",
    "Reshape": "reshape",
    "Transpose": "permute",
    "ExpandDims": "expand_dims",
    "Range": "range",
    "LinSpace": "lin_space",
    "Fill": "fill",
    "Tile": "tile",
    "Shape": "shape_of",
    "Size": "size",
    "Rank": "rank",
    "BiasAdd": "biasadd",
    "ZerosLike": "zeros_as",
    "OnesLike": "ones_as",
    "GatherV2": "gather",
    "Select": "select",
    "Slice": "slice",
    "ScatterNd": "scatter_nd",
    "TensorArrayV3": "tensorarrayv3",
    **{
        f"TensorArray{n}V3": f"tensorarray{n.lower()}v3"
        for n in ("Write", "Read", "Gather", "Scatter", "Split", "Size")
    },
}
REDUCTIONS = {"Sum": (6, "reduce_sum"), "Mean": (5, "reduce_mean"), "Max": (6, "reduce_max"), "Min": (6, "reduce_min")}
_MASKS = ("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")


def _bool(node: NodeDef, attr: str) -> bool:
    return bool(node.attrs.get(attr, False))


#: TensorFlow's op -> its name and arguments
ARGUMENTS: dict[str, Callable[[NodeDef], tuple[str, dict[str, Any]]]] = {
    "Enter": lambda n: (
        "enter",
        {
            "properties": [
                prop("frameName", "s", [n.attrs["frame_name"].decode()]),
                prop("isConstant", "?", [_bool(n, "is_constant")]),
            ]
        },
    ),
    "MatMul": lambda n: ("mmul", {"ints": [_bool(n, "transpose_a"), _bool(n, "transpose_b"), 0]}),
    "Pack": lambda n: ("stack", {"ints": [n.attrs.get("axis", 0)]}),
    "Unpack": lambda n: ("unstack", {"ints": [n.attrs.get("axis", 0), n.attrs.get("num", 1)]}),
    "ConcatV2": lambda n: ("concat", {"bools": [True]}),
    "Split": lambda n: ("split", {"ints": [n.attrs.get("num_split", 1)]}),
    "Squeeze": lambda n: ("squeeze", {"ints": list(n.attrs.get("squeeze_dims") or ())}),
    "StridedSlice": lambda n: ("strided_slice", {"ints": [n.attrs.get(mask, 0) for mask in _MASKS]}),
    "All": lambda n: ("all", {"op_class": 8, "dimensions": [2**31 - 1], "bools": [_bool(n, "keep_dims")]}),
}


def missing_ops(source: GraphDef) -> set[str]:
    """Ops of a graph that this writer does not know."""
    known = {"Const", "Placeholder", "Cast", *SAME, *REDUCTIONS, *ARGUMENTS}
    return {n.op for n in source.nodes.values() if n.op not in known}


def as_samediff(data: bytes) -> bytes:
    """The graph as a FlatBuffers file."""
    source, types = read_graphdef(data), wb.from_graphdef(data).nodes
    assert not missing_ops(source)
    sd = SameDiff()
    for node in source.nodes.values():
        dtypes = [t.dtype if t.dtype in DTYPES else "float32" for t in types[node.name].types] or ["bool"]
        if node.op == "Const":
            sd.constant(node.name, node.attrs["value"], control=node.control)
        elif node.op == "Placeholder":
            shape = node.attrs.get("shape")
            sd.placeholder(node.name, dtypes[0], None if shape is None else [-1 if d is None else d for d in shape])
        else:
            _op(sd, node, dtypes)
    return sd.bytes()


def _op(sd: SameDiff, node: NodeDef, dtypes: list[str]) -> None:
    args: Mapping[str, Any] = {}
    if node.op == "Cast":
        target = node.attrs["DstT"]
        assert isinstance(target, DTypeAttr)
        name, args = "cast", {"ints": [DTYPES[target.name]]}
    elif node.op in REDUCTIONS:
        op_class, name = REDUCTIONS[node.op]
        args = {"op_class": op_class, "dimensions": [2**31 - 1], "bools": [_bool(node, "keep_dims"), True]}
    elif node.op in ARGUMENTS:
        name, args = ARGUMENTS[node.op](node)
    else:
        name = SAME[node.op]
    count = 1 if node.op == "Merge" else len(dtypes)
    outputs = [node.name if i == 0 else f"{node.name}:{i}" for i in range(count)]
    inputs = [t.node if t.output == 0 else f"{t.node}:{t.output}" for t in node.inputs]
    sd.op(name, outputs, inputs, dtype=dtypes[:count], control=node.control, **args)


def main(source: str, target: str) -> None:
    Path(target).write_bytes(as_samediff(Path(source).read_bytes()))


if __name__ == "__main__":
    main(*sys.argv[1:3])
