"""TensorArrays, TensorLists, and the ragged and sparse ops that occur together with loops.

The state of a TensorArray travels with its flow (see :mod:`workbench.ops.state.tensor_array`);
:mod:`workbench.frontends.tf.tensor_array_flow` has found the flows and marked the nodes that begin or join them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, plain, same
from workbench.frontends.tf.tensor_proto import DTypeAttr

#: names of ops that only this importer creates; no TensorFlow op has a dot in its name
NEW_FLOW, JOIN_FLOWS = "workbench.new_flow", "workbench.join_flows"


def _dtype(node: NodeDef, attr: str) -> str:
    dtype = node.attrs.get(attr)
    return dtype.name if isinstance(dtype, DTypeAttr) else "any"


def _new(outputs: tuple[int, ...]) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        shape = node.attrs.get("element_shape")
        found: dict[str, Any] = {
            "name": node.name,
            "dtype": _dtype(node, "dtype"),
            "element_shape": None if shape is None else tuple(shape),
        }
        for flag in ("dynamic_size", "clear_after_read", "identical_element_shapes"):
            if flag in node.attrs:
                found[flag] = bool(node.attrs[flag])
        return LoweredNode("tensor_array", node.inputs, found, outputs=outputs)

    return rule


def _element_shape(tensor: TensorName, constant: Constant) -> tuple[int | None, ...] | None:
    """The known shape of the elements of the TensorArray with this handle."""
    producer: Callable[[TensorName], NodeDef | None] | None = getattr(constant, "producer", None)
    made = producer(tensor) if producer is not None else None
    if made is None or not made.op.startswith("TensorArray") or "Grad" in made.op:
        return None
    shape = made.attrs.get("element_shape")
    return None if shape is None else tuple(shape)


def _read(node: NodeDef, constant: Constant) -> LoweredNode:
    shape = _element_shape(node.inputs[0], constant) if node.inputs else None
    return LoweredNode("tensor_array_read", node.inputs, {"dtype": _dtype(node, "dtype"), "shape": shape})


def _to_dense(node: NodeDef, constant: Constant) -> LoweredNode:
    kinds = tuple(map(plain, node.attrs.get("row_partition_types") or ()))
    return LoweredNode("ragged_to_dense", node.inputs, {"partition_types": kinds})


def _rows(node: NodeDef, constant: Constant) -> LoweredNode | None:
    rank, result = (node.attrs.get(f"{which}_RAGGED_RANK") for which in ("PARAMS", "OUTPUT"))
    if not (isinstance(rank, int) and isinstance(result, int) and rank >= 1 and 0 <= result < 64):
        return None
    return LoweredNode("ragged_gather", node.inputs, {"ragged_rank": rank, "num": result + 1})


def _gather(node: NodeDef, constant: Constant) -> LoweredNode:
    shape = node.attrs.get("element_shape")
    known = None if shape is None else (None, *shape)
    return LoweredNode(
        "tensor_array_gather",
        node.inputs,
        {"dtype": _dtype(node, "dtype"), "shape": known, "element_shape": None if shape is None else tuple(shape)},
    )


def _concat(node: NodeDef, constant: Constant) -> LoweredNode:
    rest = node.attrs.get("element_shape_except0")
    known = None if rest is None else (None, *rest)
    return LoweredNode(
        "tensor_array_concat",
        node.inputs,
        {
            "dtype": _dtype(node, "dtype"),
            "shape": known,
            "element_shape_except0": None if rest is None else tuple(rest),
        },
    )


def _grad(outputs: tuple[int, ...]) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        source = plain(node.attrs.get("source", b"")) or "gradients"
        return LoweredNode("tensor_array_grad", node.inputs, {"source": source}, outputs=outputs)

    return rule


def _known(tensor: TensorName, constant: Constant) -> tuple[int | None, ...] | None:
    """An element_shape given as a tensor, if it is constant."""
    value = constant(tensor)
    if value is None or value.ndim != 1:
        return None
    return tuple(None if d < 0 else int(d) for d in value.tolist())


def _list(op: str, shape_at: int | None = None, front: tuple[None, ...] = (), /, **attrs: str) -> Rule:
    """A rule for an op on a TensorList; ``shape_at`` is the input with the shape of its elements, which follows the
    axes ``front``.
    """

    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {k: plain(node.attrs[v]) for k, v in attrs.items() if node.attrs.get(v) is not None}
        if shape_at is not None and shape_at < len(node.inputs):
            shape = _known(node.inputs[shape_at], constant)
            if shape is not None and op == "concat":
                shape = (None, *shape[1:])
            found["shape"] = None if shape is None else (*front, *shape)
        return LoweredNode(f"tensor_list_{op}", node.inputs, found)

    return rule


def _stack(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("stack_new", node.inputs, {"dtype": _dtype(node, "elem_type"), "name": node.name})


def _push(node: NodeDef, constant: Constant) -> LoweredNode:
    """Push; output 0 is the value, which :mod:`workbench.frontends.tf.stacks` replaces with the stack."""
    return LoweredNode("stack_push", node.inputs)


def _pop(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("stack_pop", node.inputs, {"dtype": _dtype(node, "elem_type")}, outputs=(0,))


def _option(node: NodeDef, constant: Constant) -> LoweredNode:
    types, shapes = node.attrs.get("output_types") or [], node.attrs.get("output_shapes") or []
    known = tuple(None if s is None else tuple(s) for s in shapes) if len(shapes) == len(types) else None
    names = tuple(t.name if isinstance(t, DTypeAttr) else "any" for t in types)
    return LoweredNode("option_get", node.inputs, {"dtypes": names, "shapes": known}, outputs=tuple(range(len(names))))


_DTYPE = {"dtype": "element_dtype"}
_ARRAY_OPS: dict[str, Rule] = {
    "Write": same("tensor_array_write"),
    "Read": _read,
    "Gather": _gather,
    "Scatter": same("tensor_array_scatter"),
    "Concat": _concat,
    "Split": same("tensor_array_split"),
    "Size": same("tensor_array_size"),
    "Close": same("tensor_array_close"),
}

RULES: dict[str, Rule] = {
    **{f"TensorArray{op}{version}": rule for op, rule in _ARRAY_OPS.items() for version in ("", "V2", "V3")},
    "TensorArray": _new((0,)),
    "TensorArrayV2": _new((0,)),
    "TensorArrayV3": _new((0, 1)),
    "TensorArrayGrad": _grad((0,)),
    "TensorArrayGradV2": _grad((0,)),
    "TensorArrayGradV3": _grad((0, 1)),
    "TensorArrayGradWithShape": _grad((0, 1)),
    **{f"Stack{version}": _stack for version in ("", "V2")},
    **{f"StackPush{version}": _push for version in ("", "V2")},
    **{f"StackPop{version}": _pop for version in ("", "V2")},
    **{f"StackClose{version}": lambda node, constant: LoweredNode("NoOp", ()) for version in ("", "V2")},
    "OptionalNone": same("option_none"),
    "OptionalFromValue": same("option_of"),
    "OptionalHasValue": same("option_has_value"),
    "OptionalGetValue": _option,
    NEW_FLOW: same("tensor_array_flow"),
    JOIN_FLOWS: same("tensor_array_join"),
    "EmptyTensorList": _list("empty", **_DTYPE),
    "TensorListReserve": _list("reserve", **_DTYPE),
    "TensorListFromTensor": _list("from_tensor"),
    "TensorListPushBack": _list("push_back"),
    "TensorListPushBackBatch": _list("push_back_batch", **_DTYPE),
    "TensorListPopBack": _list("pop_back", 1, **_DTYPE),
    "TensorListGetItem": _list("get_item", 2, **_DTYPE),
    "TensorListSetItem": _list("set_item", resize="resize_if_index_out_of_bounds"),
    "TensorListStack": _list("stack", 1, (None,), num_elements="num_elements", **_DTYPE),
    "TensorListGather": _list("gather", 2, (None,), **_DTYPE),
    "TensorListScatter": _list("scatter"),
    "TensorListScatterV2": _list("scatter"),
    "TensorListScatterIntoExistingList": _list("scatter_into"),
    "TensorListLength": _list("length"),
    "TensorListResize": _list("resize"),
    "TensorListConcat": _list("concat", element_shape="element_shape", **_DTYPE),
    "TensorListConcatV2": _list("concat", 1, **_DTYPE),
    "TensorListSplit": _list("split"),
    "TensorListElementShape": _list("element_shape", dtype="shape_type"),
    "TensorListConcatLists": _list("concat_lists", **_DTYPE),
    "SparseTensorDenseAdd": same("sparse_dense_add"),
    "BroadcastGradientArgs": same("broadcast_gradient_args"),
    "RaggedTensorToTensor": _to_dense,
    "RaggedGather": _rows,
    "RaggedTensorToSparse": same("ragged_to_sparse"),
    "SparseToDense": attrs("sparse_to_dense", checked="validate_indices"),
    "RaggedBincount": attrs("ragged_bincount", binary="binary_output"),
    "RaggedRange": attrs("ragged_range", dtype="Tsplits"),
}

#: rules for nodes whose attribute T is a variant: TensorFlow adds and clears lists like tensors
VARIANT_RULES: dict[str, Rule] = {"ZerosLike": same("tensor_list_zeros_like"), "AddN": same("tensor_list_add")}
