"""The common part of foreign nodes of JAX and of StableHLO: each carries the types of its results and is a call of XLA
that returns arrays of these types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError
from workbench.ir.opspec import Bound, OpSpec
from workbench.ir.types import TensorType, numpy_dtype

#: arrays -> arrays, computed by XLA
Call = Callable[[Sequence[Any]], list[np.ndarray]]


def typed_spec(
    op: str,
    attrs: Mapping[str, Any],
    call_for: Callable[[Mapping[str, Any]], Call],
    *,
    by: str,
    content: str,
    defaults: Mapping[str, Any],
    source: str,
    once: bool = False,
    why: str = "",
) -> OpSpec:
    """The registry entry of a foreign node ``prefix:Name``.

    Parameters
    ----------
    call_for : callable
        attrs -> the call that computes the node.
    by : str
        The library that computes the node, for messages.
    content : str
        The attribute that holds the computation as a string.
    defaults : mapping
        The attributes with their defaults, besides ``types``.
    source : str
        Address of the documentation.
    once : bool
        True for a node with an effect, which runs once and is not repeated in a replay.
    why : str
        The reason why no workbench node computes it, for the reasons of a plan.
    """
    prefix, _, name = op.partition(":")
    types = attrs.get("types")
    if not isinstance(types, tuple) or not all(isinstance(t, TensorType) for t in types):
        types = None
    if types is None or not isinstance(attrs.get(content), str):
        raise UnknownOpError(f"The foreign op {op!r} does not carry its {content} and types.", fix="read it again.")

    def bind(attrs: Mapping[str, Any], types: Sequence[TensorType], values: Sequence[Any]) -> Bound:
        call, what = call_for(attrs), f"{by}'s {name}"
        wanted = [(t, numpy_dtype(t.dtype)) for t in attrs["types"]]

        def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
            return tuple([_checked(what, r, *w) for r, w in zip(call(arrays), wanted, strict=True)])

        return Bound(evaluate, tuple(range(len(types))), (prefix, f"{name} is computed by {by}{why and f': {why}'}"))

    def evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(bind(attrs, [TensorType.of(a) for a in arrays], ()).evaluate(arrays))

    return OpSpec(
        op,
        ("*inputs",),
        tuple(f"output{i}" for i in range(len(types))),
        _infer,
        evaluate,
        f"{name}, computed by {by}.",
        "foreign",
        source=source,
        attrs={**defaults, "types": ()},
        pure=not once,
        once=once,
        bind=None if once else bind,
    )


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _checked(what: str, result: np.ndarray, wanted: TensorType, dtype: np.dtype) -> np.ndarray:
    if result.shape != wanted.shape or result.dtype != dtype:
        raise ExecutionError(
            f"{what} gave {result.dtype} of shape {result.shape} where {wanted} was expected.",
            slug="foreign-op-failed",
            fix="read it again.",
        )
    return result
