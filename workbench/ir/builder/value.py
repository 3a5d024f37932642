"""A value of a builder, with Python operators and NumPy functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import GraphError, UnknownOpError
from workbench.ir.node import Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType
from workbench.text import harmless

if TYPE_CHECKING:
    from workbench.ir.builder.builder import GraphBuilder
    from workbench.ir.builder.context import Context


class Value:
    """One output of a node of a :class:`GraphBuilder`; arithmetic on it adds nodes to the same graph."""

    __slots__ = ("builder", "context", "label", "ref", "type")
    __array_priority__ = 1000

    def __init__(
        self, builder: GraphBuilder, ref: Ref, type_: TensorType, context: Context, label: str | None = None
    ) -> None:
        self.builder, self.ref, self.type, self.context, self.label = builder, ref, type_, context, label

    @property
    def dtype(self) -> str:
        return self.type.dtype

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        return self.type.shape

    @harmless
    def __repr__(self) -> str:
        return f"<Value {self.ref} {self.type}>"

    def __bool__(self) -> bool:
        raise GraphError(
            f"The truth of {self.ref} is only known when the graph runs, so Python's if, while, and, or cannot use it.",
            slug="no-truth-value",
            fix="use builder.cond, builder.while_loop, np.logical_and or np.logical_or.",
        )

    def __iter__(self) -> Any:
        raise GraphError(f"{self.ref} cannot be iterated over while the graph is built.", slug="not-iterable")

    __hash__ = object.__hash__

    if TYPE_CHECKING:  # defined below from tables; declared here for type checkers and editors

        def __add__(self, other: Any) -> Value: ...
        def __radd__(self, other: Any) -> Value: ...
        def __sub__(self, other: Any) -> Value: ...
        def __rsub__(self, other: Any) -> Value: ...
        def __mul__(self, other: Any) -> Value: ...
        def __rmul__(self, other: Any) -> Value: ...
        def __truediv__(self, other: Any) -> Value: ...
        def __rtruediv__(self, other: Any) -> Value: ...
        def __floordiv__(self, other: Any) -> Value: ...
        def __rfloordiv__(self, other: Any) -> Value: ...
        def __mod__(self, other: Any) -> Value: ...
        def __rmod__(self, other: Any) -> Value: ...
        def __pow__(self, other: Any) -> Value: ...
        def __rpow__(self, other: Any) -> Value: ...
        def __matmul__(self, other: Any) -> Value: ...
        def __rmatmul__(self, other: Any) -> Value: ...
        def __and__(self, other: Any) -> Value: ...
        def __or__(self, other: Any) -> Value: ...
        def __xor__(self, other: Any) -> Value: ...
        def __lshift__(self, other: Any) -> Value: ...
        def __rshift__(self, other: Any) -> Value: ...
        def __lt__(self, other: Any) -> Value: ...
        def __le__(self, other: Any) -> Value: ...
        def __gt__(self, other: Any) -> Value: ...
        def __ge__(self, other: Any) -> Value: ...
        def __neg__(self) -> Value: ...
        def __pos__(self) -> Value: ...
        def __abs__(self) -> Value: ...
        def __invert__(self) -> Value: ...

    def astype(self, dtype: Any) -> Value:
        cast: Value = self.builder.op("cast", self, dtype=dtype)
        return cast

    def __getitem__(self, index: Any) -> Value:
        return self.builder.getitem(self, index)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        op = REGISTRY.ufunc_op(ufunc.__name__)
        reducing = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or")
        if method == "reduce" and ufunc.__name__ in reducing:
            if set(kwargs) - {"axis", "keepdims"}:
                raise UnknownOpError(
                    f"np.{ufunc.__name__}.reduce cannot be put into a graph with the arguments {sorted(kwargs)}.",
                    fix="only axis and keepdims are supported.",
                )
            names = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
            reduction = names.get(ufunc.__name__, "all" if ufunc.__name__ == "logical_and" else "any")
            return self.builder.op(
                reduction, inputs[0], axis=kwargs.get("axis", 0), keepdims=kwargs.get("keepdims", False)
            )
        if method != "__call__" or kwargs or op is None:
            raise UnknownOpError(
                f"np.{ufunc.__name__}"
                + (f".{method}" if method != "__call__" else "")
                + " cannot be put into a graph"
                + (f" with the arguments {sorted(kwargs)}" if kwargs else "")
                + ".",
                fix="workbench.ops.names() lists the ops there are.",
            )
        return self.builder.op(op, *inputs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        entry = REGISTRY.numpy_functions.get(func)
        if entry is None:
            raise UnknownOpError(
                f"np.{func.__name__} cannot be put into a graph.", fix="workbench.ops.names() lists the ops."
            )
        op, adapter = entry
        inputs, attrs = adapter(args, kwargs)
        return self.builder.op(op, *inputs, **attrs)


def _binary(op: str, swapped: bool = False) -> Any:
    def method(self: Value, other: Any) -> Any:
        pair = (other, self) if swapped else (self, other)
        return self.builder.op(op, *pair)

    return method


def _unary(op: str) -> Any:
    return lambda self: self.builder.op(op, self)


_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
for _name, _op in _BINARY.items():
    setattr(Value, f"__{_name}__", _binary(_op))
    setattr(Value, f"__r{_name}__", _binary(_op, swapped=True))
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
for _name, _op in _COMPARISONS.items():
    setattr(Value, f"__{_name}__", _binary(_op))
for _name, _op in {"neg": "negative", "abs": "abs", "invert": "invert", "pos": "positive"}.items():
    setattr(Value, f"__{_name}__", _unary(_op))
