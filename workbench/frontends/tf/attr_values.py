"""Attributes of a node: our plain values -> TensorFlow's AttrValue -> arguments of an eager call."""

from __future__ import annotations

import importlib
from typing import Any

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.library import tensorflow
from workbench.frontends.tf.tensor_proto import DTypeAttr, Function

_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b"}


def node_def(raw: bytes = b"", op: str = "") -> Any:
    """A NodeDef of TensorFlow's own class."""
    tensorflow()
    kind = importlib.import_module("tensorflow.core.framework.node_def_pb2").NodeDef
    return kind.FromString(raw) if raw else kind(op=op)


def proto_of(node: NodeDef, definition: Any) -> Any:
    """TensorFlow's NodeDef with the attributes of the op; None if one is a function or does not fit its kind."""
    proto = node_def(op=node.op)
    for attr in definition.attr:
        if attr.type in ("func", "list(func)"):
            return None
        if attr.name not in node.attrs:
            if not attr.HasField("default_value"):
                return None
            proto.attr[attr.name].CopyFrom(attr.default_value)
            continue
        try:
            _write(proto.attr[attr.name], attr.type, node.attrs[attr.name])
        except (TypeError, ValueError, AttributeError, OverflowError):
            return None
    return proto


def _write(into: Any, kind: str, value: Any) -> None:
    """Put a plain value into an AttrValue."""
    if kind.startswith("list("):
        into.list.SetInParent()
        for one in value:
            _write_one(kind[5:-1], one, into.list, True)
    else:
        _write_one(kind, value, into, False)


def _write_one(kind: str, value: Any, into: Any, repeated: bool) -> None:
    if isinstance(value, Function):
        raise TypeError("a function")
    if kind in ("shape", "tensor"):
        field = getattr(into, kind)
        library = tensorflow()
        made = library.TensorShape(value).as_proto() if kind == "shape" else library.make_tensor_proto(value)
        (field.add() if repeated else field).CopyFrom(made)
        return
    name = _FIELDS.get(kind, "type")
    plain = value.number if isinstance(value, DTypeAttr) else value
    if repeated:
        getattr(into, name).append(plain)
    else:
        setattr(into, name, plain)


def read(value: Any, kind: str) -> Any:
    """An AttrValue as an argument of an eager call: types as numbers, shapes as lists or None."""
    if kind.startswith("list("):
        kind = kind[5:-1]
        return [_plain(v, kind) for v in getattr(value.list, _FIELDS.get(kind, kind))]
    return _plain(getattr(value, _FIELDS.get(kind, kind)), kind)


def _plain(value: Any, kind: str) -> Any:
    if kind != "shape":
        return value
    return None if value.unknown_rank else [d.size for d in value.dim]
