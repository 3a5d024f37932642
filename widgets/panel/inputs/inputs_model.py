"""The inputs of a graph as rows of a table, and values as typed by users."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.execution import prepare_feeds
from workbench.ir.graph import Graph
from workbench.ir.types import TensorType
from workbench.plan import signature_of
from workbench.text import printable
from workbench.widgets.text.labels import shorten, value_text
from workbench.widgets.values.typed_value import typed_value

#: maximum items of an array that is written out, and characters of a typed one
MOST_ITEMS, MOST_CHARS = 64, 20_000
WORDS = {"b": "yes or no", "i": "integer", "u": "integer", "f": "number", "c": "complex number"}


def inputs_model(graph: Graph, feeds: dict[str, Any]) -> list[dict[str, Any]]:
    """``name``, ``type`` in words, ``value`` as text, ``editable`` and ``tip`` of each input."""
    return [_row(graph, name, feeds.get(name)) for name in graph.inputs]


def _row(graph: Graph, name: str, value: Any) -> dict[str, Any]:
    array = np.asarray(value) if value is not None else None
    row = {"name": name, "shown": shorten(printable(name), 40), "type": "", "value": "", "editable": False, "tip": ""}
    if array is None:
        return row | {"type": str(graph.type_of(graph.inputs[name])), "tip": "This input has no value."}
    row["type"] = type_in_words(array)
    if array.dtype.kind not in WORDS or array.dtype.kind == "c" and array.ndim:
        return row | {"value": value_text(value), "tip": "Change it in code: session.update."}
    if array.size > MOST_ITEMS:
        with np.errstate(all="ignore"):
            low, high = (value_text(found) for found in (array.min(), array.max()))
        return row | {"value": f"{low} to {high}", "tip": "An array of this size is changed in code: session.update."}
    return row | {"value": typed(array), "editable": True, "tip": "A list of its items" if array.ndim else "Its value"}


def type_in_words(array: np.ndarray) -> str:
    """``integer``, ``number, 3 × 4``."""
    word = WORDS.get(array.dtype.kind, str(array.dtype))
    shape = " \u00d7 ".join(map(str, array.shape))
    return f"{word}, {shape}" if array.ndim else word


def typed(array: np.ndarray) -> str:
    """The text by which a value is typed; reading it returns the same bits."""
    return str(array.tolist()) if array.ndim else str(array.item())


def changed(graph: Graph, feeds: dict[str, Any], texts: dict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """(values of the inputs whose text is a new value, errors by name for invalid texts)."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, words in texts.items():
        now = feeds.get(name)
        if now is None or name not in graph.inputs:
            continue
        now = np.asarray(now)
        if words.strip() == typed(now):
            continue
        try:
            value = prepare_feeds(graph, {name: _read(words, now)})[name]
            given = {**feeds, name: value}
            signature_of(graph, {n: TensorType.of(a) for n, a in given.items()})  # FeedError if a shape does not fit
        except WorkbenchError as error:
            errors[name] = f"{error.message} {error.fix or ''}".strip()
            continue
        if value.shape != now.shape or value.dtype != now.dtype or value.tobytes() != now.tobytes():
            values[name] = value
    return values, errors


def _read(words: str, now: np.ndarray) -> Any:
    """The value of a text, in the dtype of the present value; nothing is evaluated."""
    if now.ndim == 0 and not words.strip().startswith("["):
        return typed_value(words, now.dtype)
    try:
        array = np.array(json.loads(_json(words[:MOST_CHARS])))
        if array.dtype.kind not in WORDS:
            raise ValueError
        fitting = array.astype(now.dtype)
        if now.dtype.kind in "iub" and not np.array_equal(fitting, array):
            raise ValueError
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise WorkbenchError(
            f"{shorten(words, 40)!r} is not a list of {now.dtype} items.",
            slug="bad-value",
            fix=f"type a list such as {shorten(typed(np.ones(now.shape, now.dtype)), 60)}.",
        ) from None
    return fitting


def _json(words: str) -> str:
    """A list in Python's notation, as JSON."""
    for word, other in (("inf", "Infinity"), ("nan", "NaN"), ("True", "true"), ("False", "false")):
        words = re.sub(rf"\b{word}\b", other, words)
    return words.replace("\u2212", "-")
