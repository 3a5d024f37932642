"""Convolution, pooling, normalization and losses.

TensorFlow lists strides, dilations and windows for every axis; our ops list the spatial axes only. A node that strides
or pools over the batch or the channels has no counterpart.
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, same
from workbench.frontends.tf.tensor_proto import DTypeAttr


def layout(node: NodeDef) -> str:
    """Position of the channels; they are last in NHWC and NDHWC."""
    return "first" if node.attrs.get("data_format", b"NHWC").startswith(b"NC") else "last"


def spatial(node: NodeDef, name: str, where: str) -> tuple[int, ...] | None:
    """The entries of a list attribute for the spatial axes; None if those of batch or channels are not 1."""
    full = [int(v) for v in node.attrs.get(name) or ()]
    if not full:
        return ()
    outer = (full[0], full[1] if where == "first" else full[-1])
    return tuple(full[2:] if where == "first" else full[1:-1]) if outer == (1, 1) else None


def windows(node: NodeDef) -> dict[str, Any] | None:
    """Strides, dilations, pads and layout; None for a form of the node that our op lacks."""
    where = layout(node)
    found: dict[str, Any] = {"layout": where}
    for name in ("strides", "dilations", "rates"):
        values = spatial(node, name, where)
        if values is None:
            return None
        if values:
            found["dilations" if name == "rates" else name] = values
    padding = node.attrs.get("padding", b"VALID")
    if padding == b"EXPLICIT":
        flat = [int(v) for v in node.attrs.get("explicit_paddings") or ()]
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        outer = (pairs[0], pairs[1] if where == "first" else pairs[-1]) if pairs else ()
        if any(p != (0, 0) for p in outer) or not pairs:
            return None
        found["pads"] = tuple(pairs[2:] if where == "first" else pairs[1:-1])
    else:
        found["pads"] = padding.decode().lower()
    return found


def convolution(op: str, **fixed: Any) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode | None:
        found = windows(node)
        return None if found is None else LoweredNode(op, node.inputs, {**found, **fixed})

    return rule


def pooling(op: str, *more: str) -> Rule:
    """A rule for pooling; ``more`` are further attributes, "ours=theirs"."""

    def rule(node: NodeDef, constant: Constant) -> LoweredNode | None:
        found, window = windows(node), spatial(node, "ksize" if "ksize" in node.attrs else "ksizes", layout(node))
        if found is None or not window:
            return None
        extra = {
            ours: node.attrs[theirs] for ours, _, theirs in (m.partition("=") for m in more) if theirs in node.attrs
        }
        return LoweredNode(op, node.inputs, {**found, "window": window, **extra})

    return rule


def _max_pool_v2(node: NodeDef, constant: Constant) -> LoweredNode | None:
    """Max pooling with window and strides as inputs, which must be constants."""
    lists = [constant(t) for t in node.inputs[1:3]]
    if len(lists) != 2 or any(v is None for v in lists):
        return None
    known = {**node.attrs, "ksize": lists[0].tolist(), "strides": lists[1].tolist()}  # type: ignore[union-attr]
    low = pooling("max_pool")(NodeDef(node.name, node.op, node.inputs[:1], node.control, known), constant)
    return low and LoweredNode(low.op, low.inputs, low.attrs, tuple(t.node for t in node.inputs[1:3]))


def _turned(op: str) -> Rule:
    return lambda node, constant: LoweredNode(op, node.inputs[::-1])


def _bias_gradient(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("bias_gradient", node.inputs, {"axis": 1 if layout(node) == "first" else -1})


def _dilation(node: NodeDef, constant: Constant) -> LoweredNode | None:
    found = windows(node)
    return None if found is None or found["layout"] == "first" else LoweredNode("dilation", node.inputs, found)


def _bias_add(node: NodeDef, constant: Constant) -> LoweredNode:
    # a bias on the last axis is an addition, which has compiled kernels
    return (
        LoweredNode("bias_add", node.inputs, {"axis": 1})
        if layout(node) == "first"
        else LoweredNode("add", node.inputs)
    )


def _batch_norm(outputs: int) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {
            "axis": 1 if layout(node) == "first" else -1,
            "epsilon": float(node.attrs.get("epsilon", 1e-4)),
            "training": bool(node.attrs.get("is_training", True)),
            "average_factor": float(node.attrs.get("exponential_avg_factor", 1.0)),
        }
        return LoweredNode("fused_batch_norm", node.inputs, found, outputs=tuple(range(outputs)))

    return rule


def _batch_norm_gradient(node: NodeDef, constant: Constant) -> LoweredNode:
    found = {
        "axis": 1 if layout(node) == "first" else -1,
        "epsilon": float(node.attrs.get("epsilon", 1e-4)),
        "training": bool(node.attrs.get("is_training", True)),
    }
    return LoweredNode("fused_batch_norm_gradient", node.inputs, found)


def _lrn(node: NodeDef, constant: Constant) -> LoweredNode:
    radius = int(node.attrs.get("depth_radius", 5))
    found = {
        key: float(node.attrs.get(key, default)) for key, default in (("bias", 1.0), ("alpha", 1.0), ("beta", 0.5))
    }
    return LoweredNode("lrn", node.inputs, {"before": radius, "after": radius, **found})


def _nd_blocks(op: str) -> Rule:
    """A rule for ops on blocks; ours has the block sizes as the last input, because they can be an attribute."""
    return lambda node, constant: LoweredNode(op, (node.inputs[0], node.inputs[2], node.inputs[1]))


def _depth(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode | None:
        form = node.attrs.get("data_format", b"NHWC")
        if form not in (b"NHWC", b"NCHW"):
            return None
        return LoweredNode(op, node.inputs, {"block_size": int(node.attrs["block_size"]), "layout": layout(node)})

    return rule


def _top_k(node: NodeDef, constant: Constant) -> LoweredNode:
    index = node.attrs.get("index_type")
    found: dict[str, Any] = {"dtype": index.name if isinstance(index, DTypeAttr) else "int32"}
    if len(node.inputs) == 1:
        found["k"] = int(node.attrs["k"])
    return LoweredNode("top_k", node.inputs, found)


#: TensorFlow does not store the number of groups, which follows from the filter's channels
_GROUPS = {"groups": None}
_DEPTHWISE = {"depthwise": True}
_ACTIVATIONS = {
    "Relu": "relu",
    "Relu6": "relu6",
    "Elu": "elu",
    "Selu": "selu",
    "Softplus": "softplus",
    "Softsign": "softsign",
}

RULES: dict[str, Rule] = {
    "Conv2D": convolution("conv", **_GROUPS),
    "Conv3D": convolution("conv", **_GROUPS),
    "DepthwiseConv2dNative": convolution("conv", **_DEPTHWISE),
    "Conv2DBackpropInput": convolution("conv_input_gradient", **_GROUPS),
    "Conv3DBackpropInputV2": convolution("conv_input_gradient", **_GROUPS),
    "DepthwiseConv2dNativeBackpropInput": convolution("conv_input_gradient", **_DEPTHWISE),
    "Conv2DBackpropFilter": convolution("conv_filter_gradient", **_GROUPS),
    "Conv3DBackpropFilterV2": convolution("conv_filter_gradient", **_GROUPS),
    "DepthwiseConv2dNativeBackpropFilter": convolution("conv_filter_gradient", **_DEPTHWISE),
    "MaxPool": pooling("max_pool"),
    "MaxPoolV2": _max_pool_v2,
    "MaxPool3D": pooling("max_pool"),
    "AvgPool": pooling("average_pool"),
    "AvgPool3D": pooling("average_pool"),
    "MaxPoolWithArgmax": pooling("max_pool_with_argmax", "include_batch=include_batch_in_index"),
    "ExtractImagePatches": pooling("extract_patches"),
    "ExtractVolumePatches": pooling("extract_patches"),
    "MaxPoolGrad": pooling("max_pool_gradient"),
    "MaxPool3DGrad": pooling("max_pool_gradient"),
    "AvgPoolGrad": pooling("average_pool_gradient"),
    "AvgPool3DGrad": pooling("average_pool_gradient"),
    "Dilation2D": _dilation,
    **{f"{theirs}Grad": same(f"{ours}_gradient") for theirs, ours in _ACTIVATIONS.items()},
    "LeakyReluGrad": attrs("leaky_relu_gradient", alpha="alpha"),
    # these two have the result as first and the gradient as second input
    **{f"{op}Grad": _turned(f"{op.lower()}_gradient") for op in ("Sigmoid", "Tanh")},
    "BiasAdd": _bias_add,
    "BiasAddGrad": _bias_gradient,
    "LRN": _lrn,
    "FusedBatchNorm": _batch_norm(5),
    "FusedBatchNormV2": _batch_norm(5),
    "FusedBatchNormV3": _batch_norm(6),
    "FusedBatchNormGrad": _batch_norm_gradient,
    "FusedBatchNormGradV2": _batch_norm_gradient,
    "FusedBatchNormGradV3": _batch_norm_gradient,
    "SpaceToBatchND": _nd_blocks("space_to_batch"),
    "BatchToSpaceND": _nd_blocks("batch_to_space"),
    "SpaceToBatch": attrs("space_to_batch", block="block_size"),
    "BatchToSpace": attrs("batch_to_space", block="block_size"),
    "SpaceToDepth": _depth("space_to_depth"),
    "DepthToSpace": _depth("depth_to_space"),
    "ReverseSequence": attrs("reverse_sequence", axis="seq_dim", batch_axis="batch_dim"),
    "TopK": _top_k,
    "TopKV2": _top_k,
    "OneHot": attrs("one_hot", axis="axis"),
    "SoftmaxCrossEntropyWithLogits": same("softmax_cross_entropy"),
    "SparseSoftmaxCrossEntropyWithLogits": same("sparse_softmax_cross_entropy"),
    "L2Loss": same("l2_loss"),
    "InTopK": attrs("in_top_k", k="k"),
    "InTopKV2": same("in_top_k"),
}
