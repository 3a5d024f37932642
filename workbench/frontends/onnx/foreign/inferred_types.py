"""Infers the result types of a foreign node from its input types, by ONNX's own rules.

Types known at import are stored with the node; more is known once it is fed with arrays of known shapes, or put into
another graph. Constants are used if a rule reads them (the sizes of a Resize, the pads of a Pad).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.nodes import Opsets, node_of, present
from workbench.frontends.onnx.foreign.ort_exceptions import distrust
from workbench.frontends.onnx.foreign.runtime import runtime
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.reading import validate
from workbench.frontends.onnx.tensors import DTYPES, type_of
from workbench.ir.types import ANY, OPAQUE, TensorType

NUMBERS = {name: number for number, name in DTYPES.items()}
#: ops whose output sizes are products, and the dtypes for which onnxruntime computes them
_SCALED, _SCALED_BY_RUNTIME = ("Resize", "Upsample"), ("float32", "int32", "int8", "uint8")
#: maximum size of constants that a rule may read; larger ones are weights
MAX_ELEMENTS = 64

#: a constant as a key: dtype, shape, bytes
_Constant = tuple[str, tuple[int, ...], bytes]


def inferred_types(
    node: bytes,
    opsets: Opsets,
    types: tuple[TensorType, ...],
    values: Sequence[np.ndarray | None],
    kept: Sequence[TensorType],
) -> tuple[TensorType, ...]:
    """The types ``kept`` with the sizes inferred from ``types`` and constants. Inferred sizes override ``kept``; dtypes
    are not changed.
    """
    if all(t.is_static for t in kept) and node_of(node).op_type not in _SCALED:
        return tuple(kept)
    constants = tuple(_key(v) for v in values)
    found = _found(node, opsets, types, constants)
    if len(found) != len(kept):
        return tuple(kept)
    return tuple(_refined(k, f) for k, f in zip(kept, found, strict=True))


def _refined(kept: TensorType, found: TensorType) -> TensorType:
    contrary = ANY not in (kept.dtype, found.dtype) and kept.dtype != found.dtype
    if kept.dtype == OPAQUE or found.shape is None or contrary:
        return kept
    dtype = found.dtype if kept.dtype == ANY else kept.dtype
    if kept.shape is None or len(kept.shape) != len(found.shape):
        return TensorType(dtype, found.shape)
    return TensorType(dtype, tuple(k if f is None else f for k, f in zip(kept.shape, found.shape, strict=True)))


def _key(value: np.ndarray | None) -> _Constant | None:
    if value is None or value.size > MAX_ELEMENTS or value.dtype.hasobject:
        return None
    return value.dtype.str, value.shape, value.tobytes()


@functools.lru_cache(maxsize=4096)
def _found(
    node: bytes, opsets: Opsets, types: tuple[TensorType, ...], constants: tuple[_Constant | None, ...]
) -> tuple[TensorType, ...]:
    """The types of the named results, by the rule of the op's schema; () if there is none, or if it fails."""
    library = onnx()
    try:
        proto = node_of(node)
        validate.check_attributes([proto])
        version = dict(opsets).get(proto.domain, 1)
        schema = library.defs.get_schema(proto.op_type, version, proto.domain)
        inputs, data = _inputs(library, present(node), types, constants)
        made: Mapping[str, Any] = library.shape_inference.infer_node_outputs(
            schema,
            proto,
            inputs,
            data,
            opset_imports=[library.helper.make_opsetid(d, v) for d, v in opsets],
            ir_version=library.IR_VERSION,
        )
    except Exception:  # no schema, or the node does not fit it: reported when it runs
        return ()
    names = [name for name in proto.output if name]
    found = tuple(type_of(made[n]) if n in made else TensorType(ANY, None) for n in names)
    return _scaled(proto, types, constants) or found


def _scaled(proto: Any, types: Sequence[TensorType], constants: Sequence[_Constant | None]) -> tuple[TensorType, ...]:
    """The type of a scaled image as in onnxruntime, which multiplies sizes in float32: 23 points times the float32
    nearest to 19 / 23 give 19, but ONNX's rule truncates the exact product to 18. () for any other node.
    """
    attrs = {a.name: a for a in proto.attribute}
    place = 2 if proto.op_type == "Resize" and len(proto.input) > 2 else 1
    name = proto.input[place] if proto.op_type in _SCALED and len(proto.input) > place else ""
    constant = constants[[n for n in proto.input if n].index(name)] if name else None
    x, mode = types[0], attrs.get("coordinate_transformation_mode")
    cropped = mode is not None and mode.s == b"tf_crop_and_resize"
    if constant is None or x.shape is None or x.dtype not in _SCALED_BY_RUNTIME or cropped or distrust(proto):
        return ()
    scales = np.frombuffer(constant[2], np.dtype(constant[0]))
    axes = list(attrs["axes"].ints) if "axes" in attrs else list(range(len(x.shape)))
    if scales.dtype != np.float32 or len(scales) != len(axes) or isinstance(runtime(), str):
        return ()
    dims = list(x.shape)
    for axis, scale in zip(axes, scales, strict=True):
        size = dims[axis]
        dims[axis] = None if size is None else int(np.floor(np.float32(size) * scale))
    return (TensorType(x.dtype, tuple(dims)),)


def _inputs(
    library: Any, names: Sequence[str], types: Sequence[TensorType], constants: Sequence[_Constant | None]
) -> tuple[dict[str, Any], dict[str, Any]]:
    kinds, data = {}, {}
    for name, type_, constant in zip(names, types, constants, strict=True):
        if type_.dtype in (ANY, OPAQUE):
            raise ValueError("an input of no known type")
        kinds[name] = library.helper.make_tensor_type_proto(NUMBERS[type_.dtype], type_.shape)
        if constant is not None:
            array = np.frombuffer(constant[2], np.dtype(constant[0])).reshape(constant[1])
            data[name] = library.numpy_helper.from_array(array, name)
    return kinds, data
