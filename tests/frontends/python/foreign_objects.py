"""Numbers and arrays of other libraries and classes, and the positions in which a function may use them."""

from __future__ import annotations

import array
import collections
import datetime
import types
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import workbench as wb


class Length:
    """A user's number: operators, and a conversion to float."""

    def __init__(self, metres: float) -> None:
        self.metres = metres

    def __add__(self, other: Any) -> Length:
        return Length(self.metres + float(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Length:
        return Length(self.metres * float(other))

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> bool:
        return self.metres < float(other)

    def __float__(self) -> float:
        return self.metres


class Samples:
    """A user's array: read by NumPy through ``__array__``."""

    def __init__(self, items: Any) -> None:
        self.items = np.asarray(items, float)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.items, dtype)


class Offset:
    """A user's class with operators only."""

    def __init__(self, by: float) -> None:
        self.by = by

    def __add__(self, other: Any) -> Offset:
        return Offset(self.by + other)

    __radd__ = __mul__ = __rmul__ = __add__

    def __lt__(self, other: Any) -> bool:
        return self.by < other


class Celsius(float):
    """A float by another name, which is known only at capture."""


class Shifted(np.ndarray):
    """An array that defines its own sum."""

    def __add__(self, other: Any) -> Any:
        return np.asarray(self) + other + 1.0

    __radd__ = __add__


def matrix() -> Any:
    return np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)


#: name -> a new object each time
STANDARD: dict[str, Callable[[], Any]] = {
    "Decimal": lambda: Decimal("2.5"),
    "Fraction": lambda: Fraction(5, 2),
    "timedelta": lambda: datetime.timedelta(seconds=2.5),
    "array.array": lambda: array.array("d", [2.5, 1.0]),
    "UUID": lambda: uuid.UUID(int=5),
    "object array": lambda: np.array([Decimal("2.5")], dtype=object),
    "datetime64 array": lambda: np.array(["2024-01-01"], "datetime64[D]"),
    "timedelta64": lambda: np.timedelta64(5, "s"),
    "matrix": matrix,
    "masked array": lambda: np.ma.masked_array([2.5, 1.0], mask=[False, True]),
    "poly1d": lambda: np.poly1d([1.0, 2.0]),
    "Polynomial": lambda: np.polynomial.Polynomial([1.0, 2.0]),
    "Shifted": lambda: np.array([2.5, 1.0]).view(Shifted),
    "Celsius": lambda: Celsius(2.5),
    "Length": lambda: Length(2.5),
    "Samples": lambda: Samples([2.5, 1.0]),
    "Offset": lambda: Offset(2.5),
    "UserList": lambda: collections.UserList([2.5, 1.0]),
    "wb.Array": lambda: wb.ArrayManager("foreign").array([2.5, 1.0]),
}


def argument(held: Any) -> Any:
    return lambda: wb.graph(lambda x, t: x + t)(1.0, held)


def keyword(held: Any) -> Any:
    return lambda: wb.graph(lambda x, *, t: x + t)(1.0, t=held)


def only_argument(held: Any) -> Any:
    return lambda: wb.graph(lambda t: t * t)(held)


def loop_argument(held: Any) -> Any:
    def wait(t: Any) -> Any:
        while t < 100.0:
            t = t + 1.0
        return t

    return lambda: wb.graph(wait)(held)


def item_of_argument(held: Any) -> Any:
    return lambda: wb.graph(lambda x, ts: x + ts[1])(1.0, [2.0, held])


def key_of_argument(held: Any) -> Any:
    return lambda: wb.graph(lambda x, ts: x + ts["t"])(1.0, {"t": held})


def closure(held: Any) -> Any:
    return lambda: wb.graph(lambda x: x + held)(1.0)


def closure_alone(held: Any) -> Any:
    return lambda: wb.graph(lambda x: (held + held, x)[0])(1.0)


def global_name(held: Any) -> Any:
    globals()["GLOBAL"] = held

    def add(x: Any) -> Any:
        return GLOBAL + x  # type: ignore[name-defined]  # noqa: F821

    return lambda: wb.graph(add)(1.0)


def default(held: Any) -> Any:
    def add(x: Any, t: Any = held) -> Any:
        return x + t

    return lambda: wb.graph(add)(1.0)


def attribute(held: Any) -> Any:
    holder = types.SimpleNamespace(t=held)
    return lambda: wb.graph(lambda x: x + holder.t)(1.0)


def item_of_list(held: Any) -> Any:
    things = [1.0, held]
    return lambda: wb.graph(lambda x: x + things[1])(1.0)


def item_of_dict(held: Any) -> Any:
    things = {"t": held}
    return lambda: wb.graph(lambda x: x + things["t"])(1.0)


def gone_over(held: Any) -> Any:
    things = (held, held)

    def add(x: Any) -> Any:
        for thing in things:
            x = x + thing
        return x

    return lambda: wb.graph(add)(1.0)


def in_body(held: Any) -> Any:
    def count(x: Any) -> Any:
        while x < 10.0:
            x = x + held
        return x

    return lambda: wb.graph(count)(1.0)


def in_condition(held: Any) -> Any:
    def count(x: Any) -> Any:
        while held < x:
            x = x - 1.0
        return x

    return lambda: wb.graph(count)(5.0)


def in_branch(held: Any) -> Any:
    return lambda: wb.graph(lambda x: x + held if x > 0.0 else x)(5.0)


def in_helper(held: Any) -> Any:
    def helper(y: Any) -> Any:
        return y + held

    return lambda: wb.graph(lambda x: helper(x) * 2.0)(5.0)


def in_numpy_call(held: Any) -> Any:
    return lambda: wb.graph(lambda x: np.add(x, held))(5.0)


def in_list_of_call(held: Any) -> Any:
    return lambda: wb.graph(lambda x: np.sum(np.array([held, held])) + x)(5.0)


def beside_list(held: Any) -> Any:
    things = [held, held]
    return lambda: wb.graph(lambda x: x + things)(np.ones(2))


def as_number(held: Any) -> Any:
    return lambda: wb.graph(lambda x: x + float(held))(5.0)


def compared(held: Any) -> Any:
    return lambda: wb.graph(lambda x: x if held < 3 else -x)(5.0)


POSITIONS: tuple[Callable[[Any], Any], ...] = (
    *(argument, keyword, only_argument, loop_argument, item_of_argument, key_of_argument),
    *(closure, closure_alone, global_name, default, attribute, item_of_list, item_of_dict, gone_over),
    *(in_body, in_condition, in_branch, in_helper, in_numpy_call, in_list_of_call, beside_list, as_number, compared),
)
