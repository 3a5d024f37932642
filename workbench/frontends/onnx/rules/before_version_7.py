"""Ops before version 7, which broadcast only if an attribute is set, along an axis that another attribute gives.

``Add<broadcast = 1, axis = 1>(x of [2,3,4], y of [3])`` adds y along axis 1: y counts as [3,1]. Source:
https://onnx.ai/onnx/operators/onnx__Add.html, version 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.scope import OnnxScope
from workbench.ir.node import Ref
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def operands(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref]:
    """The two inputs, reshaped so that they broadcast as in NumPy."""
    x, y = node.given()
    if node.version >= 7 or not node.attrs.get("broadcast") or "axis" not in node.attrs:
        return [x, y]
    name = f"{lowering.result_name(scope, node)}/aligned"
    aligned = lowering.emit(scope, "align_axis", [y, x], name, axis=int(node.attrs["axis"]))
    lowering.types[aligned] = TensorType(lowering.type_of(y).dtype, None)
    return [x, aligned]


def tile(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """Tile of version 1 repeats along one axis; our tile takes a number of repeats for each axis."""
    x, count, axis = node.given()
    rank, many, where = lowering.type_of(x).rank, lowering.constant_of(count), lowering.constant_of(axis)
    if rank is None or many is None or where is None or many.size != 1 or where.size != 1:
        return None
    at = int(where.reshape(()))
    if not -rank <= at < rank:
        return None
    repeats = np.ones(rank, np.int64)
    repeats[at] = int(many.reshape(()))
    name = lowering.result_name(scope, node)
    given = [x, lowering.constant(scope, repeats, f"{name}/repeats")]
    return [lowering.emit(scope, "tile", given, name)]


def _aligned(shape: Sequence[Any], rank: int, axis: int) -> tuple[Any, ...]:
    axis += rank if axis < 0 else 0
    behind = rank - axis - len(shape)
    if axis < 0 or behind < 0:
        raise ExecutionError(
            f"A value of rank {len(shape)} cannot stand at axis {axis} of one of rank {rank}.",
            slug="wrong-shape",
            fix="give it at most the axes from there on.",
        )
    return (*shape, *(1,) * behind)


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    y, x = types
    known = x.shape is not None and y.shape is not None
    return (TensorType(y.dtype, _aligned(y.shape or (), len(x.shape or ()), attrs["axis"]) if known else None),)


def _evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    return (arrays[0].reshape(_aligned(arrays[0].shape, arrays[1].ndim, attrs["axis"])),)


if "align_axis" not in REGISTRY:
    REGISTRY.register(
        OpSpec(
            "align_axis",
            ("x", "like"),
            ("output",),
            _infer,
            _evaluate,
            "x with axes of size 1 behind its own, so that its first axis meets `axis` of `like`.",
            "broadcasting",
            "https://onnx.ai/onnx/operators/onnx__Add.html",
            {"axis": None},
        )
    )
