"""Rules of ops that produce NaN or infinities: the responsible operand, and the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.op_names import bare_op
from workbench.ir.opspec import REGISTRY
from workbench.trace.describe import short


class Item(NamedTuple):
    """One operand: its name, its value, and its item that produced the bad item of the result (None: several did)."""

    name: str
    value: Any
    item: Any


#: index of the responsible operand, and the reason
Blame = tuple[int, str]
Rule = Callable[[Sequence[Item]], Blame | None]

#: names of ops in other frameworks -> our names
_OURS = {
    "div": "divide",
    "realdiv": "divide",
    "mul": "multiply",
    "sub": "subtract",
    "pow": "power",
    "mod": "remainder",
    "matmulinteger": "matmul",
    "mm": "matmul",
    "bmm": "matmul",
    "reducesum": "sum",
    "reducemean": "mean",
    "floordiv": "floor_divide",
    "ln": "log",
}


def op_name(op: str) -> str:
    """The plain name of an op: ``divide`` for ``onnx:Div``, ``torch:aten.div_.Tensor`` and ``divide``."""
    plain = bare_op(op).lower().rstrip("_")  # add_ is add in place
    return _OURS.get(plain, plain)


#: families of elementwise ops
_BY_PLACE = ("arithmetic", "functions", "comparison", "logic", "bits", "quantization", "gradients")


def by_place(op: str) -> bool:
    """True if an item of the result depends only on the items at its index; in a matrix product, a sum or a
    normalisation, it may depend on every item of an operand.
    """
    name = op_name(op)
    spec = REGISTRY.get(name)
    return spec is not None and spec.family in _BY_PLACE or name in _RULES or name in ("where", "clip", "identity")


def are_whole(op: str, call: str, shapes: Sequence[tuple[int | None, ...] | None]) -> bool:
    """True if a node computes with its operands unchanged.

    A PyTorch call reads views of storages, with separate strides, and numbers that are not operands: items of a storage
    are items of the tensor only if the tensor is the whole storage.
    """
    if not call or not op.startswith("torch:"):
        return True
    described = json.loads(call)
    if described.get("whole"):
        return True
    tensors = [arg["tensor"] for arg in described["args"] if isinstance(arg, dict) and "tensor" in arg]
    if [k for k, *_ in tensors] != list(range(len(shapes))):
        return False
    for (_, _, sizes, strides, offset), shape in zip(tensors, shapes, strict=True):
        standard = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
        if (
            offset
            or tuple(sizes) != shape
            or any(n > 1 and a != b for n, a, b in zip(sizes, strides, standard, strict=True))
        ):
            return False
    return True


def blame(op: str, kind: str, items: Sequence[Item]) -> Blame | None:
    """The responsible operand, or None for an op without operands."""
    if not items:
        return None
    with np.errstate(all="ignore"):
        name = op_name(op)
        alone = name in _OF_TWO and len(items) < 2  # the other operand is a number in the call
        for rule in (None if alone else _RULES.get(name), _infinite, _largest if kind == "inf" else None):
            found = rule(items) if rule is not None else None
            if found is not None:
                return found
    name, value, item = items[0]
    number = _number(item)
    return 0, f"{name} is {short(value if item is None else item) if number is None else f'{number:.9g}'}"


def _number(item: Any) -> float | None:
    """The item as a real number; None if many items contribute."""
    if item is None:
        return None
    array = np.asarray(item)
    if array.size != 1 or array.dtype.kind not in "biufV":
        return None
    return float(array.astype(np.float64).reshape(-1)[0])


def _denominator(items: Sequence[Item]) -> Blame | None:
    last = len(items) - 1
    below = _number(items[last].item)
    above = _number(items[0].item) if last else 1.0
    if below and above is not None and np.isfinite(above) and abs(above) * abs(below) < 1:  # else the numerator is
        return last, f"{items[last].name} is as small as {below:.9g}"
    if below != 0:
        return None
    what = "0 is divided by 0" if above == 0 else "something is divided by 0"
    return last, f"{items[last].name} is 0: {what}"


def _below(limit: float, words: str) -> Rule:
    def rule(items: Sequence[Item]) -> Blame | None:
        x = _number(items[0].item)
        if x is None or not x < limit:
            return None
        return 0, f"{items[0].name} is {x:.9g}, {words}"

    return rule


def _logarithm(items: Sequence[Item]) -> Blame | None:
    x = _number(items[0].item)
    if x is None or x > 0:
        return None
    what = "0 is -inf" if x == 0 else "a negative number is NaN"
    return 0, f"{items[0].name} is {x:.9g}: the logarithm of {what}"


def _outside(low: float, high: float) -> Rule:
    def rule(items: Sequence[Item]) -> Blame | None:
        x = _number(items[0].item)
        if x is None or low < x < high:
            return None
        return 0, f"{items[0].name} is {x:.9g}, and must be between {low:g} and {high:g}"

    return rule


def _power(items: Sequence[Item]) -> Blame | None:
    base, exponent = (_number(i.item) for i in items[:2])
    if base is None or exponent is None:
        return None
    if base < 0 and exponent != int(exponent) if np.isfinite(exponent) else False:
        return 0, f"{items[0].name} is {base:.9g}: a negative number has no power {exponent:.9g}"
    if base == 0 and exponent < 0:
        return 0, f"{items[0].name} is 0: it has no power {exponent:.9g}"
    return None


def _product(items: Sequence[Item]) -> Blame | None:
    numbers = [_number(i.item) for i in items[:2]]
    if None not in numbers and 0 in numbers and any(np.isinf(n) for n in numbers if n is not None):
        at = next(k for k, n in enumerate(numbers) if n is not None and np.isinf(n))
        return at, f"{items[at].name} is infinite and {items[1 - at].name} is 0"
    return None


def _opposites(items: Sequence[Item]) -> Blame | None:
    numbers = [_number(i.item) for i in items[:2]]
    if len(numbers) == 2 and all(n is not None and np.isinf(n) for n in numbers):
        return 1, f"{items[0].name} and {items[1].name} are both infinite, and cancel"
    return None


def _infinite(items: Sequence[Item]) -> Blame | None:
    """An operand that is itself not finite."""
    for k, (name, value, item) in enumerate(items):
        given = value if item is None else item
        if not isinstance(given, np.ndarray | np.generic) or np.asarray(given).dtype.kind not in "fc":
            continue
        array = np.asarray(given)
        if not np.isfinite(array).all():
            word = "NaN" if np.isnan(array).any() else "infinite"
            return k, f"{name} is {word}" + ("" if array.size == 1 else " in some items")
    return None


def _largest(items: Sequence[Item]) -> Blame | None:
    """The operand of the largest magnitude above 1: the result overflows its dtype."""
    sizes = []
    for _, value, item in items:
        array = np.asarray(value if item is None else item)
        plain = array.size and array.dtype.kind in "iufc"
        sizes.append(
            float(np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)).max())
            if plain
            else -1.0
        )
    k = int(np.argmax(sizes))
    return (k, f"{items[k].name} is as large as {sizes[k]:.9g}") if sizes[k] > 1 else None


#: ops whose rules compare two operands
_OF_TWO = frozenset("divide floor_divide remainder fmod truncate_divide power multiply add subtract".split())
_RULES: dict[str, Rule] = {
    "divide": _denominator,
    "floor_divide": _denominator,
    "remainder": _denominator,
    "fmod": _denominator,
    "reciprocal": _denominator,
    "truncate_divide": _denominator,
    "sqrt": _below(0, "and has no square root"),
    "rsqrt": lambda i: _below(0, "and has no square root")(i) or _denominator(i),
    "log": _logarithm,
    "log2": _logarithm,
    "log10": _logarithm,
    "log1p": _outside(-1, np.inf),
    "asin": _outside(-1, 1),
    "acos": _outside(-1, 1),
    "atanh": _outside(-1, 1),
    "acosh": _below(1, "and must be 1 or more"),
    "power": _power,
    "multiply": _product,
    "add": _opposites,
    "subtract": _opposites,
}
