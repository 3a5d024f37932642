"""Dtypes of results: PyTorch's rules for combining tensors with axes, scalar tensors and Python numbers.

The kinds are, in order, bool, integer, float, complex. Scalar tensors change a dtype only if their kind is higher than
that of the tensors with axes, and numbers only if theirs is higher than that of all tensors. Source:
https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype

KINDS = "bifc"
#: kind of a number -> its dtype as a tensor
_OF_NUMBERS = {"b": "bool", "i": "int64", "f": "float32", "c": "complex64"}
_SHORT = ("float16", "bfloat16")


def kind_of(dtype: str) -> str:
    """The kind of a dtype: ``b``, ``i``, ``f`` or ``c``."""
    if dtype == "bfloat16" or dtype.startswith("float"):
        return "f"
    return {"u": "i"}.get(kind := numpy_dtype(dtype).kind, kind)


def number_kind(number: Any) -> str:
    return "b" if type(number) is bool else "i" if type(number) is int else "f" if type(number) is float else "c"


def result_dtype(operands: Sequence[Any]) -> str:
    """The dtype of an operation on tensors and numbers."""
    ranks: list[list[str]] = [[], []]
    numbers: list[str] = []
    for operand in operands:
        if isinstance(operand, Value):
            ranks[not operand.type.rank].append(operand.dtype)
        else:
            numbers.append(_OF_NUMBERS[number_kind(operand)])
    found = ""
    for group in (*ranks, numbers):
        dtype = ""
        for each in group:
            dtype = each if not dtype else common(dtype, each)
        if dtype and (not found or KINDS.index(kind_of(dtype)) > KINDS.index(kind_of(found))):
            found = _complex_of(found) if found and kind_of(dtype) == "c" and group is numbers else dtype
    return found


def common(one: str, other: str) -> str:
    """The common dtype of two tensors of equal rank in the rules."""
    if one == other:
        return one
    kinds = kind_of(one), kind_of(other)
    if kinds[0] != kinds[1]:
        higher, lower = (one, other) if KINDS.index(kinds[0]) > KINDS.index(kinds[1]) else (other, one)
        return "complex128" if kind_of(higher) == "c" and lower == "float64" else higher
    if {one, other} == set(_SHORT):
        return "float32"
    if "bfloat16" in (one, other):
        return one if other == "bfloat16" else other
    return np.promote_types(one, other).name


def _complex_of(dtype: str) -> str:
    return "complex128" if dtype == "float64" else "complex64"
