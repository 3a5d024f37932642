"""Ops on arrays of strings. Strings are bytes in object arrays; ops that count characters expect UTF-8.

Source of the semantics: https://www.tensorflow.org/api_docs/python/tf/strings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.ir.types import STRING, TensorType
from workbench.ops.define import define
from workbench.ops.result_size import allowed
from workbench.ops.rules import WRONG_ATTR, WRONG_DTYPE, RuleError, broadcast, need_kinds

FAMILY = "text"
TF = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"
#: white space by C's isspace, which StringStrip removes
_SPACE = b" \t\n\v\f\r"


def as_bytes(item: Any) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode()


def need_room(size: int) -> None:
    """Raise an error if ``size`` bytes of text are more than allowed for one result."""
    if size > allowed():
        raise RuleError("too-large", f"would make {size:,} bytes of text.", "Give fewer or shorter strings.")


def map_strings(array: Any, function: Callable[[bytes], Any], dtype: Any = object) -> np.ndarray:
    """The results of a function on each string, in an array of the same shape."""
    array = np.asarray(array)
    out = np.empty(array.shape, dtype)
    flat = out.reshape(-1)
    for k, item in enumerate(array.ravel().tolist()):
        flat[k] = function(as_bytes(item))
    return out


def _decoded(item: bytes, what: str) -> str:
    try:
        return item.decode()
    except UnicodeDecodeError as error:
        raise RuleError("wrong-value", f"{what} text in UTF-8, but got {item[:40]!r}.", "Give valid UTF-8.") from error


def one_string(types, attrs, values):
    need_kinds(types[0], "S", "input", "strings", "Give it a tensor of strings.")
    return TensorType(STRING, types[0].shape)


def _cased(change: Callable[[str], str], plain: Callable[[bytes], bytes]):
    def evaluate(arrays, attrs):
        if str(attrs.get("encoding") or "").lower() == "utf-8":
            return map_strings(arrays[0], lambda s: change(_decoded(s, "takes")).encode())
        return map_strings(arrays[0], plain)

    return evaluate


def _length(arrays, attrs):
    if attrs.get("unit", "BYTE") == "UTF8_CHAR":
        # as TensorFlow counts: every byte that is not a continuation byte begins a character
        return map_strings(arrays[0], lambda s: sum(b & 0xC0 != 0x80 for b in s), np.int32)
    return map_strings(arrays[0], len, np.int32)


def _length_type(types, attrs, values):
    return TensorType("int32", one_string(types, attrs, values).shape)


def _join_type(types, attrs, values):
    for x in types:
        need_kinds(x, "S", "input", "strings", "Give it tensors of strings.")
    if not types:
        raise RuleError("wrong-arity", "takes one or more inputs, but got none.", "Give it tensors of strings.")
    return TensorType(STRING, broadcast(*(x.shape for x in types)))


def _join(arrays, attrs):
    separator = as_bytes(attrs.get("separator") or b"")
    parts = np.broadcast_arrays(*map(np.asarray, arrays))
    sizes = [
        sum(map(len, np.asarray(a).ravel().tolist())) * (p.size // max(np.size(a), 1))
        for a, p in zip(arrays, parts, strict=True)
    ]
    need_room(sum(sizes) + len(separator) * (len(parts) - 1) * parts[0].size)
    out = np.empty(parts[0].shape, object)
    flat = out.reshape(-1)
    for k, items in enumerate(zip(*(p.ravel().tolist() for p in parts), strict=True)):
        flat[k] = separator.join(map(as_bytes, items))
    return out


def _to_number_type(types, attrs, values):
    dtype = attrs.get("dtype", "float32")
    if dtype not in ("float32", "float64", "int32", "int64"):
        raise RuleError(WRONG_ATTR, f"cannot make {dtype!r}.", "Give float32, float64, int32 or int64.")
    return TensorType(dtype, one_string(types, attrs, values).shape)


def _to_number(arrays, attrs):
    kind = np.dtype(attrs.get("dtype", "float32"))

    def read(item: bytes) -> Any:
        text = item.strip(_SPACE)
        try:
            if b"_" in text:  # digit grouping that only Python accepts
                raise ValueError
            if kind.kind == "f":
                with np.errstate(over="ignore"):
                    return kind.type(float(text))
            value = int(text)
            if not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
                raise ValueError
            return value
        except ValueError:
            raise RuleError(
                "wrong-value", f"cannot read {item[:60]!r} as {kind}.", "Give texts that are numbers of that type."
            ) from None

    return map_strings(arrays[0], read, kind)


def _as_string_type(types, attrs, values):
    need_kinds(types[0], "biufcS", "input", "numbers, booleans or strings")
    if types[0].dtype in ("complex64", "complex128"):
        raise RuleError(WRONG_DTYPE, "does not write complex numbers.", "Write real and imag on their own.")
    return TensorType(STRING, types[0].shape)


def _as_string(arrays, attrs):
    """A number in the format of C's printf: %f, %e or %g for floats, %d for integers."""
    array = np.asarray(arrays[0])
    precision, width = int(attrs.get("precision", -1)), int(attrs.get("width", -1))
    fill = str(attrs.get("fill") or "")
    if len(fill) > 1 or fill not in ("", " ", "0", "-", "+"):
        raise RuleError(WRONG_ATTR, f"has the fill {fill!r}.", "Give '', ' ', '0', '+' or '-'.")
    if max(precision, width) > 4096:
        raise RuleError(WRONG_ATTR, "has a width or precision of more than 4096.", "Give a smaller one.")
    form = "e" if attrs.get("scientific") else "g" if attrs.get("shortest") else "f"
    flags = f"%{fill}{width if width > -1 else ''}"
    if array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        pattern = f"{flags}{f'.{precision}' if precision > -1 else ''}{form}"
        # Python pads infinities with 0, C does not
        rare = pattern.replace("%0", "%", 1)
        values = array.astype(np.float64).ravel().tolist()
        items = [((pattern if math.isfinite(x) else rare) % x).encode() for x in values]
    elif array.dtype.kind == "b":
        items = [b"true" if x else b"false" for x in array.ravel().tolist()]
    elif array.dtype.kind in "iu":
        items = [(f"{flags}d" % x).encode() for x in array.ravel().tolist()]
    else:
        items = [as_bytes(x) for x in array.ravel().tolist()]
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = np.array([*items, None], object)[:-1]
    return out


define(
    "string_lower",
    "x",
    one_string,
    _cased(str.lower, bytes.lower),
    "Lower case: of ASCII letters, or of all letters with the `encoding` utf-8.",
    FAMILY,
    attrs={"encoding": ""},
    source=TF + "StringLower",
)
define(
    "string_upper",
    "x",
    one_string,
    _cased(str.upper, bytes.upper),
    "Upper case: of ASCII letters, or of all letters with the `encoding` utf-8.",
    FAMILY,
    attrs={"encoding": ""},
    source=TF + "StringUpper",
)
define(
    "string_strip",
    "x",
    one_string,
    lambda arrays, attrs: map_strings(arrays[0], lambda s: s.strip(_SPACE)),
    "Strings without white space at both ends.",
    FAMILY,
    source=TF + "StringStrip",
)
define(
    "string_length",
    "x",
    _length_type,
    _length,
    "Lengths in bytes, or in characters (`unit` UTF8_CHAR).",
    FAMILY,
    attrs={"unit": "BYTE"},
    source=TF + "StringLength",
)
define(
    "string_join",
    "*parts",
    _join_type,
    _join,
    "The strings of all inputs put together, `separator` between.",
    FAMILY,
    attrs={"separator": ""},
    source=TF + "StringJoin",
)
define(
    "string_to_number",
    "x",
    _to_number_type,
    _to_number,
    "The numbers that strings are, as `dtype`.",
    FAMILY,
    attrs={"dtype": "float32"},
    source=TF + "StringToNumber",
)
define(
    "as_string",
    "x",
    _as_string_type,
    _as_string,
    "Numbers and booleans as text, as C's printf writes them.",
    FAMILY,
    attrs={"precision": -1, "scientific": False, "shortest": False, "width": -1, "fill": ""},
    source=TF + "AsString",
)
