"""Formatting of tensors as text, for printing."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.text import lines

FAMILY = "text"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def shown(value: np.ndarray, summarize: int, depth: int = 0) -> str:
    """A tensor as TensorFlow prints it: nested brackets, separated by blanks, with the middle of long axes left out."""
    if value.ndim == 0:
        return _number(value[()])
    few = summarize >= 0 and len(value) > 2 * summarize
    parts = [shown(v, summarize, depth + 1) for v in map(np.asarray, value[:summarize] if few else value)]
    if few:
        parts += ["...", *(shown(np.asarray(v), summarize, depth + 1) for v in value[len(value) - summarize :])]
    # rows are on separate lines, indented by their nesting depth
    between = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + " " * (depth + 1)
    return "[" + between.join(parts) + "]"


def _number(item: Any) -> str:
    if isinstance(item, (bytes, str)):
        return '"' + (item.decode("utf-8", "replace") if isinstance(item, bytes) else item) + '"'
    if isinstance(item, (bool, np.bool_)):
        return str(int(item))
    if isinstance(item, (np.integer, int)):
        return str(int(item))
    if isinstance(item, (complex, np.complexfloating)):
        return "?"
    double = isinstance(item, np.float64)
    exact = item if double else np.float32(item)
    # the lower of two precisions if it reads back as the same number
    text = f"{float(exact):.{15 if double else 6}g}"
    same = np.isnan(exact) or type(exact)(float(text)) == exact
    return text if same else f"{float(exact):.{17 if double else 9}g}"


def _format(arrays, attrs):
    template, mark = attrs.get("template", "%s"), attrs.get("placeholder") or "%s"
    pieces = template.split(mark)
    texts = [shown(np.asarray(a), int(attrs.get("summarize", 3))) for a in arrays]
    out = np.empty((), object)
    out[()] = "".join(p + t for p, t in zip(pieces, [*texts, *[""] * len(pieces)], strict=False)).encode()
    return out


def _write(arrays, attrs):
    item = np.asarray(arrays[0])[()]
    text = item.decode("utf-8", "replace") if isinstance(item, bytes) else item
    print(lines(text), end=lines(attrs.get("end", "\n")))
    return ()


define(
    "string_format",
    "*tensors",
    lambda types, attrs, values: TensorType("string", ()),
    _format,
    "The `template` with each `placeholder` replaced by a tensor, of whose axes the first and last `summarize` "
    "entries are shown.",
    FAMILY,
    attrs={"template": "%s", "placeholder": "%s", "summarize": 3},
    source=TF + "strings/format",
)
define(
    "print_text",
    "text",
    lambda types, attrs, values: (),
    _write,
    "Prints a text.",
    FAMILY,
    outputs="",
    attrs={"end": "\n"},
    pure=False,
    source=TF + "raw_ops/PrintV2",
)
