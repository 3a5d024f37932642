"""The table of NumPy functions that a graph supports, and helpers for its entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.errors import TypeMismatchError
from workbench.frontends.python.values.numbers import is_number
from workbench.frontends.python.values.promotion import as_array, cast_number
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import dtype_name, numpy_dtype

Handler = Callable[..., Any]
#: NumPy function -> handler(builder, *args, **kwargs); filled by numpy_creation and numpy_functions
TABLE: dict[Any, Handler] = {}


def put(*functions: Any) -> Callable[[Handler], Handler]:
    def put(handler: Handler) -> Handler:
        TABLE.update(dict.fromkeys(functions, handler))
        return handler

    return put


def no_argument(name: str, argument: str) -> TypeMismatchError:
    return TypeMismatchError(
        f"np.{name} in a graph does not take the argument {argument!r}.",
        slug="wrong-attr",
        fix="leave it out, or build the result from other functions.",
    )


def integer(builder: GraphBuilder, item: Any) -> Value:
    value = as_array(builder, item)
    if "int" not in value.dtype:
        raise TypeMismatchError(f"A size must be an int, but this one is {value.type}.", slug="wrong-dtype")
    return value


def typed(builder: GraphBuilder, item: Any, dtype: Any) -> Value:
    """``np.asarray(item, dtype)``."""
    if is_number(item) and dtype is not None:
        return cast_number(builder, item, dtype_name(dtype))
    array = as_array(builder, item)
    return array if dtype is None or array.dtype == dtype_name(dtype) else builder.op("cast", array, dtype=dtype)


def listed(builder: GraphBuilder, item: Any) -> Any:
    return as_array(builder, item) if isinstance(item, (tuple, list)) else item


def floating(builder: GraphBuilder, a: Any) -> Value:
    x = as_array(builder, a)
    return builder.op("cast", x, dtype="float64") if numpy_dtype(x.dtype).kind in "biu" else x
