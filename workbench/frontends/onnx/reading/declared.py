"""Declared types of a model's values, compared with the types inferred from its inputs and constants.

::

    model ── without declarations ──► inference ──► sure types ──┐
      │                                                          ├─► types of all values; contradictions are noted
      └── its declarations ──────────────────────────────────────┘

Declared shapes of intermediate values and outputs are often wrong, because tools change a graph without updating them.
onnxruntime then uses the inferred shape, and so does this module; both refuse a wrong element type. Where nothing can
be inferred (ops of other domains), the declaration is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.errors import LoadError, clipped
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.reading import validate
from workbench.frontends.onnx.tensors import type_of
from workbench.ir.types import ANY, OPAQUE, TensorType

#: ops whose graphs get their inputs from those of the op, so that declared shapes of these are dropped -> number of
#: leading inputs to keep: the iteration and condition of a Loop are scalars, which onnxruntime requires to be declared
_CALLING = {"Loop": 2, "Scan": 0, "SequenceMap": 0}
#: location of a value: node and attribute for each enclosing graph, then its name
Place = tuple[str, ...]
#: contradictions that are listed one by one
_MAX_NOTES = 5


def with_types(model: Any, notes: list[str]) -> Any:
    """The model with the types of its values, as far as they are known; LoadError ``declared-type`` if a declared
    element type differs from the inferred one. The model may be changed.
    """
    validate.check_attributes(model.graph.node)
    declared = {place: value.type for place, value in _declarations(model.graph)}
    bare = type(model)()
    bare.CopyFrom(model)
    _forget(bare.graph, {})
    sure = _inferred(bare)
    if sure is None:  # these types are optional: the graph infers its own
        notes.append("ONNX's shape inference failed on the model; the types that it declares are used.")
        return model
    found = {place: value.type for place, value in _declarations(sure.graph)}
    wrong: dict[Place, tuple[str, TensorType, TensorType]] = {}
    missing = False
    for place, kind in declared.items():
        stated, known = type_of(kind), type_of(found[place]) if place in found else None
        if known is None or known.dtype == ANY and known.shape is None and not _is_typed(found[place]):
            missing |= _is_typed(kind)
        elif _clash(stated, known, kind, found[place]):
            raise wrong_dtype(place[-1], stated, known)
        elif differ(stated, known):
            wrong[place] = (_shown(place), stated, known)
        else:
            missing |= _adds(stated, known)
    notes.extend(notes_on(wrong.values()))
    if not missing:
        return sure
    for place in wrong:
        del declared[place]
    _forget(model.graph, declared)
    return _inferred(model) or sure


def _inferred(model: Any) -> Any:
    try:
        return onnx().shape_inference.infer_shapes(model, check_type=False, strict_mode=False, data_prop=True)
    except Exception:  # the library passes on any exception of C++ and protobuf
        return None


def _declarations(graph: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Declared types of the values that the nodes of a graph and its subgraphs compute."""
    for value in (*graph.value_info, *graph.output):
        yield (*place, value.name), value
    for key, inside in _inside(graph):
        yield from _declarations(inside, (*place, *key))


def _inside(graph: Any) -> Iterator[tuple[Place, Any]]:
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield (next((o for o in node.output if o), ""), attribute.name), attribute.g


def _forget(graph: Any, kept: dict[Place, Any], place: Place = (), own: int | None = None) -> None:
    """Drop the declarations of a graph and of those inside it, except for ``kept``, and the shapes of its inputs after
    the first ``own``.
    """
    values = [v for v in graph.value_info if (*place, v.name) in kept]
    if len(values) < len(graph.value_info):
        values = [type(v).FromString(v.SerializeToString()) for v in values]
        del graph.value_info[:]
        graph.value_info.extend(values)
    given = {v.name for v in graph.input}
    for output in graph.output:
        if (*place, output.name) not in kept and output.name not in given:
            output.ClearField("type")
    if own is not None:
        for value in graph.input[own:]:
            if value.type.WhichOneof("value") == "tensor_type":
                value.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                key = (next((o for o in node.output if o), ""), attribute.name)
                _forget(attribute.g, kept, (*place, *key), _CALLING.get(node.op_type))


def _is_typed(kind: Any) -> bool:
    return kind.WhichOneof("value") is not None


def _clash(declared: TensorType, known: TensorType, kind: Any, found: Any) -> bool:
    if not (_is_typed(kind) and _is_typed(found)):
        return False
    unsure = {ANY, OPAQUE} & {declared.dtype, known.dtype}
    return declared.dtype != known.dtype if not unsure else kind.WhichOneof("value") != found.WhichOneof("value")


def differ(one: TensorType, two: TensorType) -> bool:
    """True if no shape satisfies both types."""
    if one.shape is None or two.shape is None:
        return False
    if len(one.shape) != len(two.shape):
        return True
    return any(a != b for a, b in zip(one.shape, two.shape, strict=True) if a is not None and b is not None)


def _adds(declared: TensorType, known: TensorType) -> bool:
    """True if a declaration is more specific than the inferred type."""
    if known.shape is None or declared.shape is None:
        return known.shape is None and declared.shape is not None or known.dtype == ANY != declared.dtype
    return any(k is None and t is not None for t, k in zip(declared.shape, known.shape, strict=True))


def notes_on(wrong: Iterable[tuple[str, TensorType, TensorType]]) -> Iterator[str]:
    """Sentences on wrong declarations, given as (value, declared type, inferred type)."""
    found = list(wrong)
    for name, declared, known in found[:_MAX_NOTES]:
        yield clipped(f"The model declares {declared} for the value {name}, but {known} comes, which is used.")
    if len(found) > _MAX_NOTES:
        yield f"The shapes that the model declares for {len(found) - _MAX_NOTES:,} more values are not used either."


def wrong_dtype(name: str, declared: TensorType, known: TensorType, node: str | None = None) -> LoadError:
    """The error for a declared element type that differs from the inferred one."""
    return LoadError(
        f"The ONNX model declares {declared} for the value {name!r}, but {known} comes.",
        slug="declared-type",
        node=node,
        fix="infer the types of the model again (onnx.shape_inference).",
    )


def _shown(place: Place) -> str:
    where = f" in the {place[-2]} of the node that makes {place[-3]!r}" if len(place) > 1 else ""
    return f"{place[-1]!r}{where}"
