"""Shapes, indexing, joining and creation of arrays."""

from __future__ import annotations

import numpy as np

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, constant_attr, plain, same
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.types import OPAQUE, STRING, numpy_dtype


def shape_like(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        out = node.attrs.get("out_type")
        return LoweredNode(op, node.inputs, {"dtype": out.name if isinstance(out, DTypeAttr) else "int32"})

    return rule


def _squeeze(node: NodeDef, constant: Constant) -> LoweredNode:
    axes = node.attrs.get("squeeze_dims") or node.attrs.get("axis") or None
    return LoweredNode("squeeze", node.inputs, {"axis": tuple(axes) if axes else None})


def _unique(*outputs: int) -> Rule:
    """A rule for Unique and the like; ``outputs`` selects among values, first, inverse and counts."""

    def rule(node: NodeDef, constant: Constant) -> LoweredNode | None:
        found = {"sorted": False, "dtype": plain(node.attrs.get("out_idx")) or "int32"}
        if len(node.inputs) < 2:
            return LoweredNode("unique", node.inputs, found, outputs=outputs)
        axis = constant(node.inputs[1])
        if axis is None or axis.size > 1:
            return None
        axes = {"axis": int(axis.reshape(()))} if axis.size else {}
        return LoweredNode("unique", node.inputs[:1], {**found, **axes}, (node.inputs[1].node,), outputs)

    return rule


def _mirror_pad(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("pad", node.inputs, {"mode": (plain(node.attrs.get("mode")) or "reflect").lower()})


def _empty(node: NodeDef, constant: Constant) -> LoweredNode | None:
    dtype = node.attrs.get("dtype")
    if not isinstance(dtype, DTypeAttr) or dtype.name in (STRING, OPAQUE):
        return None
    return LoweredNode("constant_of_shape", node.inputs, {"value": np.zeros((), numpy_dtype(dtype.name))})


def _ensure_shape(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("ensure_shape", node.inputs, {"shape": node.attrs.get("shape")})


def _concat_first(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("concat", (*node.inputs[1:], node.inputs[0]), {"axis_input": True})


_ONE_TO_ONE = {
    "Reshape": "reshape",
    "Transpose": "transpose",
    "ExpandDims": "expand_dims",
    "Tile": "tile",
    "Fill": "fill",
    "Range": "range",
    "LinSpace": "linspace",
    "ReverseV2": "reverse",
    "BroadcastTo": "broadcast_to",
    "Slice": "slice_size",
    "Gather": "gather",
    "ResourceGather": "gather",
    "SelectV2": "where",
    "ZerosLike": "zeros_like",
    "OnesLike": "ones_like",
    "ScatterNd": "scatter_nd",
    "Pad": "pad",
    "PadV2": "pad",
    "Roll": "roll",
}

RULES: dict[str, Rule] = {
    **{theirs: same(ours) for theirs, ours in _ONE_TO_ONE.items()},
    "Shape": shape_like("shape"),
    "Size": shape_like("size"),
    "Rank": same("rank", dtype="int32"),
    "Squeeze": _squeeze,
    "GatherV2": attrs("gather", batch_dims="batch_dims"),
    "GatherNd": attrs("gather_nd"),
    "ConcatV2": same("concat", axis_input=True),
    "Concat": _concat_first,
    "Pack": attrs("stack", axis="axis"),
    "Unpack": attrs("unstack", axis="axis", num="num"),
    "Split": constant_attr("split", 0, "axis", num="num_split"),
    "SplitV": constant_attr("split", 2, "axis", _num="num_split"),
    "Where": lambda node, constant: LoweredNode("transpose", node.inputs, via="nonzero"),
    "Unique": _unique(0, 2),
    "UniqueV2": _unique(0, 2),
    "UniqueWithCounts": _unique(0, 2, 3),
    "UniqueWithCountsV2": _unique(0, 2, 3),
    "MirrorPad": _mirror_pad,
    "ParallelConcat": same("concat"),
    "Empty": _empty,
    "EnsureShape": _ensure_shape,
    "TensorScatterUpdate": same("scatter_update"),
    "ScatterNdNonAliasingAdd": same("scatter_update", reduction="add"),
    **{f"TensorScatter{r}": same("scatter_update", reduction=r.lower()) for r in ("Add", "Sub", "Max", "Min")},
    "StridedSlice": attrs(
        "strided_slice",
        **{m: m for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")},
    ),
}
