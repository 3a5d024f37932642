"""Tensors of the lowered program: shared memory, and changes by calls in place.

A tensor is a base and a chain of views: ``y[1].t()`` is base ``y``, then a selection, then a transposition.
The graph has no memory, so a write into a tensor creates a new value of its base ::

    y = x.clone()     base y, version 0
    z = y[1]          base y, [select 1]
    z.add_(2)         new base = setitem(base, z + 2), version 1: y, z and all their views are recomputed when next read
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.ir.builder.value import Value


@dataclass(slots=True)
class Base:
    """Memory: its current value, the number of writes, and its origin (``label``, for messages)."""

    value: Value
    label: str
    version: int = 0
    #: name of a tensor that may or may not share this memory, which depends on a size known only at run time
    doubtful: str = ""


@dataclass(frozen=True, slots=True)
class TensorView:
    """One step from a tensor to a part of it, and back: ``put(whole, part)`` returns the whole with the new part."""

    take: Callable[[Value], Value]
    put: Callable[[Value, Value], Value]


@dataclass(slots=True)
class Tensor:
    base: Base
    views: tuple[TensorView, ...] = ()
    _value: Value | None = field(default=None)
    _version: int = -1

    def read(self) -> Value:
        """The current value."""
        if self._value is None or self._version != self.base.version:
            value = self.base.value
            for view in self.views:
                value = view.take(value)
            self._value, self._version = value, self.base.version
        return self._value

    def write(self, value: Value) -> None:
        """Change the memory through this view."""
        wholes = [self.base.value]
        for view in self.views[:-1]:
            wholes.append(view.take(wholes[-1]))
        for view, whole in zip(reversed(self.views), reversed(wholes), strict=True) if self.views else ():
            value = view.put(whole, value)
        self.base.value = value
        self.base.version += 1

    def see_as(self, other: Tensor) -> None:
        """Make this tensor the same view as another one."""
        self.base, self.views, self._value, self._version = other.base, other.views, other._value, other._version

    def viewed(self, view: TensorView) -> Tensor:
        """A view of this tensor; its value is created now, for the right source line."""
        return Tensor(self.base, (*self.views, view), view.take(self.read()), self.base.version)


def new_tensor(value: Value, label: str) -> Tensor:
    return Tensor(Base(value, label), (), value, 0)


class Unread:
    """A result that is not computed here and that most programs read only in checks or not at all."""


UNREAD = Unread()
