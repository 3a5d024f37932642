"""The value of a TensorArray: a handle with its properties, and a flow with its elements.

See :mod:`workbench.ops.state.tensor_array` for the reason why they are separate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.ir.types import Opaque, Shape
from workbench.ops.state.persistent import MAX_ELEMENTS, Elements
from workbench.ops.state.stored_elements import failed, narrowed, need_dtype, owned, zeros
from workbench.text import harmless


@dataclass(frozen=True, slots=True, eq=False)
class ArrayHandle(Opaque):
    """Properties of a TensorArray. ``source`` is set for arrays of gradients, which add repeated writes."""

    name: str
    dtype: str
    size: int
    dynamic: bool = False
    shape: Shape | None = None
    identical: bool = False
    source: str = ""
    #: for an array of gradients: the array that it belongs to, and the dimensions that precede those of its elements
    of: tuple[str, str] | None = None
    front: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.source

    @harmless
    def __str__(self) -> str:
        return f"The TensorArray {self.name!r}" + (f" of the gradients {self.source!r}" if self.source else "")


@dataclass(frozen=True, slots=True, eq=False)
class ArrayFlow(Opaque):
    """All elements of one TensorArray at one moment. ``key`` is None if nothing was written so far.

    ``like``: elements that give the shapes of the zeros for unwritten elements (of gradients), after the dimensions
    ``front``.
    """

    key: tuple[str, str] | None = None
    elements: Elements = Elements()
    shape: Shape | None = None
    like: Elements | None = None
    front: tuple[int, ...] = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.zeros((), dtype or np.float32)

    @harmless
    def __repr__(self) -> str:
        return f"<ArrayFlow of {len(self.elements)}>" if self.key else "<ArrayFlow>"


def state_of(handle: ArrayHandle, flow: Any) -> ArrayFlow:
    """The state of the array ``handle`` in ``flow``."""
    if not isinstance(flow, ArrayFlow) or flow.key is None:
        return ArrayFlow(handle.key, Elements(handle.size), handle.shape)
    if handle.of is not None and flow.key == handle.of:  # TensorFlow's gradients begin with the forward flow
        return ArrayFlow(handle.key, Elements(handle.size), handle.shape, flow.elements, handle.front)
    if flow.key != handle.key:
        raise failed(
            "wrong-flow",
            f"{handle} got the flow of the TensorArray {flow.key[0]!r}"
            + (f" ({flow.key[1]!r})." if flow.key[1] else "."),
            "Hand on the flow of the array's own last write.",
        )
    return flow


def written(handle: ArrayHandle, flow: ArrayFlow, index: int, value: Any) -> ArrayFlow:
    if index < 0 or index >= MAX_ELEMENTS or (index >= len(flow.elements) and not handle.dynamic):
        raise failed(
            "bad-index",
            f"{handle} has {len(flow.elements)} elements and cannot grow, so that element {index} cannot be written.",
            "Make it larger, or with dynamic_size.",
        )
    need_dtype(handle.dtype, value, str(handle))
    element = owned(value)
    shape = narrowed(flow.shape, element.shape, str(handle))
    elements = flow.elements.sized(max(index + 1, len(flow.elements)))
    before = elements[index]
    if before is not None and not handle.source:
        raise failed(
            "written-twice", f"Element {index} of {handle} has already been written.", "Write each element once."
        )
    if before is not None:
        element = owned(before + element) if before.shape == element.shape else _unlike(handle, before, element)
    return replace(flow, elements=elements.set(index, element), shape=shape if handle.identical else flow.shape)


def _unlike(handle: ArrayHandle, one: np.ndarray, two: np.ndarray) -> Any:
    raise failed("wrong-shape", f"{handle} adds gradients of shape {one.shape} and {two.shape}.", "Make them equal.")


def element_of(handle: ArrayHandle, flow: ArrayFlow, index: int) -> np.ndarray:
    found = flow.elements[index]
    if found is not None:
        return found
    like = flow.like[index] if flow.like is not None and index < len(flow.like) else None
    shape = flow.shape if like is None else (*flow.front, *like.shape)
    return zeros(handle.dtype, shape, f"Element {index} of {handle}")
