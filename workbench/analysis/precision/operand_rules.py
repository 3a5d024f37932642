"""Rules of the ops that make NaN or infinities: the responsible operand, and the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.opspec import REGISTRY
from workbench.trace.describe import short


class Item(NamedTuple):
    """One operand: its name, its value, and the item of it that met the bad item of the result (None: many did)."""

    name: str
    value: Any
    item: Any


#: number of the operand to blame, and the reason
Blame = tuple[int, str]
Rule = Callable[[Sequence[Item]], Blame | None]

#: names of other frameworks for ops of ours
_OURS = {
    "div": "divide",
    "realdiv": "divide",
    "mul": "multiply",
    "sub": "subtract",
    "pow": "power",
    "mod": "remainder",
    "matmulinteger": "matmul",
    "reducesum": "sum",
    "reducemean": "mean",
    "floordiv": "floor_divide",
    "ln": "log",
}


def op_name(op: str) -> str:
    """``onnx:Div`` and ``divide`` alike."""
    plain = op.rpartition(":")[2].rpartition(".")[2].lower()
    return _OURS.get(plain, plain)


#: families of our ops that compute an element of the result from the elements at its place
_BY_PLACE = ("arithmetic", "functions", "comparison", "logic", "bits", "quantization", "gradients")


def by_place(op: str) -> bool:
    """True if an item of the result comes from the items at its place alone; in a product of matrices, a sum or a
    normalisation every item of an operand may be behind it."""
    name = op_name(op)
    spec = REGISTRY.get(name)
    return spec is not None and spec.family in _BY_PLACE or name in _RULES or name in ("where", "clip", "identity")


def blame(op: str, kind: str, items: Sequence[Item]) -> Blame | None:
    """The operand to blame, or None for an op without operands."""
    if not items:
        return None
    with np.errstate(all="ignore"):
        for rule in (_RULES.get(op_name(op)), _infinite, _largest if kind == "inf" else None):
            found = rule(items) if rule is not None else None
            if found is not None:
                return found
    return 0, f"{items[0].name} is {short(items[0].value if items[0].item is None else items[0].item)}"


def _number(item: Any) -> float | None:
    """The item as a real number; None where many items met."""
    if item is None:
        return None
    array = np.asarray(item)
    if array.size != 1 or array.dtype.kind not in "biufV":
        return None
    return float(array.astype(np.float64).reshape(-1)[0])


def _denominator(items: Sequence[Item]) -> Blame | None:
    last = len(items) - 1
    below = _number(items[last].item)
    if below != 0:
        return None
    above = _number(items[0].item) if last else 1.0
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
    return 0, f"{items[0].name} is {x:.9g}: " + ("the logarithm of 0 is -inf" if x == 0 else "below 0 there is none")


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
    """An operand that is not finite itself."""
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
    """The operand of the largest magnitude: the result has no room in its dtype."""
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
    return (k, f"{items[k].name} is as large as {sizes[k]:.9g}") if sizes[k] >= 0 else None


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
