"""TensorFlow 1 stacks, in which a loop stores the values that the loop of its gradient needs.

TensorFlow's stacks are mutable resources. Here a push returns a new stack; importing turns the resource into an extra
variable of the loops that push and pop (:mod:`workbench.frontends.tf.stacks`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.ir.types import ANY, OPAQUE, Opaque, TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_DTYPE, RuleError
from workbench.ops.state.persistent import MAX_ELEMENTS, Elements
from workbench.ops.state.stored_elements import failed, need_dtype, owned
from workbench.text import harmless

FAMILY = "stacks"
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/StackV2"
_STACK = TensorType(OPAQUE, None)


@dataclass(frozen=True, slots=True, eq=False)
class Stack(Opaque):
    """Elements of one dtype, the last on top; ``most`` is the maximum number, -1 for no limit."""

    name: str = ""
    dtype: str = ANY
    most: int = -1
    elements: Elements = Elements()

    def __len__(self) -> int:
        return len(self.elements)

    @harmless
    def __repr__(self) -> str:
        return f"<Stack of {len(self)}>"


def _new(arrays, attrs):
    most = int(np.asarray(arrays[0]).reshape(())) if arrays else -1
    return Stack(str(attrs.get("name", "")), str(attrs.get("dtype", ANY)), most if most >= 0 else -1)


def _push(arrays, attrs):
    stack, value = arrays
    if len(stack) >= (MAX_ELEMENTS if stack.most < 0 else stack.most):
        raise failed(
            "stack-full",
            f"The stack {stack.name!r} holds {len(stack)} elements and may hold no more.",
            "Make it larger.",
        )
    need_dtype(stack.dtype, value, f"The stack {stack.name!r}")
    return replace(stack, elements=stack.elements.append(owned(value)))


def _pop(arrays, attrs):
    stack = arrays[0]
    if not len(stack):
        raise failed(
            "stack-empty",
            f"The stack {stack.name!r} is empty, so that nothing can be popped.",
            "Push as often as is popped.",
        )
    top = len(stack) - 1
    return stack.elements[top], replace(stack, elements=stack.elements.sized(top))


def _checked(types) -> None:
    if types[0].dtype not in (OPAQUE, ANY):
        raise RuleError(WRONG_DTYPE, f"takes a stack first, but got {types[0]}.", "Begin with stack_new.")


def _push_type(types, attrs, values):
    _checked(types)
    return _STACK


def _pop_type(types, attrs, values):
    _checked(types)
    shape = attrs.get("shape")
    return TensorType(str(attrs.get("dtype", ANY)), None if shape is None else tuple(shape)), _STACK


define(
    "stack_new",
    "max_size?",
    lambda types, attrs, values: _STACK,
    _new,
    "An empty stack for elements of `dtype`, of at most `max_size` (below 0: any number).",
    FAMILY,
    outputs="stack",
    source=SOURCE,
    attrs={"dtype": ANY, "name": ""},
)
define(
    "stack_push",
    "stack value",
    _push_type,
    _push,
    "The stack with a value on top.",
    FAMILY,
    outputs="stack",
    source=SOURCE,
)
define(
    "stack_pop",
    "stack",
    _pop_type,
    _pop,
    "The value on top, and the stack without it.",
    FAMILY,
    outputs="value stack",
    source=SOURCE,
    attrs={"dtype": ANY, "shape": None},
)
