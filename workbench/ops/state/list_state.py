"""The value of a TensorList: immutable elements of one dtype, with shapes compatible with one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.ir.types import Opaque, Shape
from workbench.ops.state.persistent import Elements
from workbench.ops.state.stored_elements import failed, narrowed, need_dtype, owned, shape_of, zeros
from workbench.text import harmless

WHAT = "The TensorList"


@dataclass(frozen=True, slots=True, eq=False)
class TensorList(Opaque):
    """A list of elements, None if unwritten; ``most`` is the maximum number, -1 for no limit."""

    dtype: str
    shape: Shape | None = None
    elements: Elements = Elements()
    most: int = -1

    def __len__(self) -> int:
        return len(self.elements)

    def with_(self, index: int, item: Any) -> TensorList:
        need_dtype(self.dtype, item, WHAT)
        narrowed(self.shape, shape_of(item), WHAT)
        return replace(self, elements=self.elements.set(index, owned(item)))

    def unwritten(self, shape: Shape | None, index: int) -> np.ndarray:
        """Zeros for an element, with the shape known from the list, the op and the other elements."""
        shape = narrowed(self.shape, shape, WHAT)
        if shape is None or None in shape:
            for item in self.elements:
                shape = shape if item is None else narrowed(shape, shape_of(item), WHAT)
        return zeros(self.dtype, shape, f"Element {index} of a TensorList")

    def read(self, index: int, shape: Shape | None = None) -> Any:
        found = self.elements[index]
        if found is None:
            return self.unwritten(shape, index)
        narrowed(shape, shape_of(found), WHAT)
        return found

    @harmless
    def __repr__(self) -> str:
        return f"<TensorList of {len(self)} {self.dtype}>"


def zeros_like(items: TensorList) -> TensorList:
    """A list with zeros in place of the elements."""
    blank = [
        zeros_like(i) if isinstance(i, TensorList) else None if i is None else np.zeros_like(i) for i in items.elements
    ]
    return replace(items, elements=Elements.of(blank))


def total_of(lists: Sequence[TensorList]) -> TensorList:
    """The elementwise sum of lists."""
    total = lists[0]
    for other in lists[1:]:
        if len(other) != len(total):
            raise failed(
                "bad-size",
                f"TensorLists of {len(total)} and {len(other)} elements cannot be added.",
                "Add lists of one length.",
            )
        total = replace(total, elements=total.elements.merged(other.elements, _sum))
    return total


def _sum(a: Any, b: Any) -> Any:
    return total_of((a, b)) if isinstance(a, TensorList) else owned(a + b)
