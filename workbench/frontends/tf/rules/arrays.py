"""Shapes, indexing, joining and making of arrays."""

from __future__ import annotations

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, Lowered, Rule, attrs, constant_attr, same
from workbench.frontends.tf.tensor_proto import DType


def shape_like(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> Lowered:
        out = node.attrs.get("out_type")
        return Lowered(op, node.inputs, {"dtype": out.name if isinstance(out, DType) else "int32"})

    return rule


def _squeeze(node: NodeDef, constant: Constant) -> Lowered:
    axes = node.attrs.get("squeeze_dims") or node.attrs.get("axis") or None
    return Lowered("squeeze", node.inputs, {"axis": tuple(axes) if axes else None})


def _gather_v2(node: NodeDef, constant: Constant) -> Lowered | None:
    return Lowered("gather", node.inputs) if not node.attrs.get("batch_dims", 0) else None


def _concat_first(node: NodeDef, constant: Constant) -> Lowered:
    return Lowered("concat", (*node.inputs[1:], node.inputs[0]), {"axis_input": True})


_ONE_TO_ONE = {
    "Reshape": "reshape", "Transpose": "transpose",
    "ExpandDims": "expand_dims", "Tile": "tile", "Fill": "fill", "Range": "range", "LinSpace": "linspace",
    "ReverseV2": "reverse", "BroadcastTo": "broadcast_to", "Slice": "slice_size", "Gather": "gather",
    "ResourceGather": "gather", "SelectV2": "where", "ZerosLike": "zeros_like", "OnesLike": "ones_like",
    "ScatterNd": "scatter_nd",
}  # fmt: skip

RULES: dict[str, Rule] = {
    **{theirs: same(ours) for theirs, ours in _ONE_TO_ONE.items()},
    "Shape": shape_like("shape"),
    "Size": shape_like("size"),
    "Rank": same("rank", dtype="int32"),
    "Squeeze": _squeeze,
    "GatherV2": _gather_v2,
    "GatherNd": attrs("gather_nd"),
    "ConcatV2": same("concat", axis_input=True),
    "Concat": _concat_first,
    "Pack": attrs("stack", axis="axis"),
    "Unpack": attrs("unstack", axis="axis", num="num"),
    "Split": constant_attr("split", 0, "axis", num="num_split"),
    "SplitV": constant_attr("split", 2, "axis", _num="num_split"),
    "Where": lambda node, constant: Lowered("transpose", node.inputs, via="nonzero"),
    "Unique": lambda node, constant: Lowered("unique", node.inputs, {"sorted": False}, outputs=(0, 2)),
    "StridedSlice": attrs(
        "strided_slice",
        **{m: m for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")},
    ),
}
