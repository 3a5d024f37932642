"""Short strings for nodes and values, as plain text: views escape them before they go into HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Source
from workbench.text import apart
from workbench.text import number as words_of
from workbench.widgets.text.numerals import WHOLE, numeral

SYMBOLS = {
    "add": "+",
    "subtract": "\u2212",
    "multiply": "\u00d7",
    "divide": "\u00f7",
    "power": "^",
    "floor_divide": "//",
    "remainder": "mod",
    "less": "<",
    "less_equal": "\u2264",
    "greater": ">",
    "greater_equal": "\u2265",
    "equal": "=",
    "not_equal": "\u2260",
    "logical_and": "and",
    "logical_or": "or",
    "matmul": "@",
    "bitwise_and": "&",
    "bitwise_or": "|",
}
PREFIX = {"negative": "\u2212", "logical_not": "not "}


_BLANKS = re.compile(r"[^\S\u202f]+")


def shorten(text: str, limit: int = 26) -> str:
    """The text on one line, with its middle left out if it is longer than ``limit`` characters. The thin spaces of
    numbers stay: at others a line breaks.

    >>> shorten("k <\\n 1\u202f000\u202f000"), shorten("a long text", 7)
    ('k < 1\u202f000\u202f000', 'a l\u2026ext')
    """
    text = _BLANKS.sub(" ", text).strip(" ")
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}\u2026{text[-tail:]}"


def short_name(name: str) -> str:
    """The last part of a path-like name."""
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def source_text(source: Source) -> str:
    """``newton.py:12 `x = 0.5 * (x + a / x)` `` for the source line of a node: the folder is left out."""
    return f"{source.place} `{source.expression}`" if source.expression else str(source.place)


def expression(op: str, operands: Sequence[str]) -> str:
    """``a ÷ x`` for known operators, ``op(a, x)`` for all others."""
    if op in SYMBOLS and len(operands) == 2:
        return f"{operands[0]} {SYMBOLS[op]} {operands[1]}"
    if op in PREFIX and len(operands) == 1:
        return f"{PREFIX[op]}{operands[0]}"
    if op == "abs" and len(operands) == 1:
        return f"|{operands[0]}|"
    if op == "sqrt" and len(operands) == 1:
        return f"\u221a{operands[0]}"
    return f"{op}({', '.join(operands)})"


def number(value: Any, digits: int = 6) -> str:
    """A number in a figure or a table, as :func:`numeral` writes it: what is whole is in full up to fifteen digits."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return words_of(value, digits)
    if isinstance(value, (int, np.integer)) and WHOLE <= abs(int(value)) < 10**300:
        value = float(value)
    return numeral(value, digits).replace("infinite", "Inf")


def compared(left: Any, op: str, right: Any) -> str:
    """Two numbers as they are compared, ``5 < 3``, whether that is true or not, with digits that tell them apart."""
    whole = isinstance(left, (int, np.integer)) and isinstance(right, (int, np.integer))
    a, b = (numeral(left), numeral(right)) if whole else apart(left, right, write=number)
    return f"{a} {SYMBOLS[op]} {b}"


def value_text(value: Any, digits: int = 6) -> str:
    """A value in a few characters: the number itself, a short list, or dtype and shape."""
    if value is None:
        return "\u2013"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return f"{len(value)} item{'' if len(value) == 1 else 's'}"
    try:
        array = np.asarray(value)
    except ValueError:
        return shorten(type(value).__name__)
    if array.dtype == object and array.ndim == 0:
        return shorten(str(array[()]))
    if array.size == 1:
        text = number(array.reshape(-1)[0], digits)
        return text if array.ndim == 0 else f"{'[' * array.ndim}{text}{']' * array.ndim}"
    if array.ndim == 1 and array.size <= 4 and array.dtype != object:
        return f"[{', '.join(number(v, 4) for v in array)}]"
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"
