"""Ops that match strings with regular expressions of RE2. The pattern is an attr, or an input with one string."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_ARITY, WRONG_SHAPE, RuleError, need_kinds
from workbench.ops.strings.basic import FAMILY, TF, as_bytes, map_strings, one_string
from workbench.ops.strings.regex import Room, compiled


def _setting(attrs: Any, arrays: Any, key: str, index: int) -> bytes:
    if index < len(arrays):
        given = np.asarray(arrays[index])
        if given.size != 1:
            raise RuleError(WRONG_SHAPE, f"takes one string as {key}, but got {given.size}.", "Give one.")
        return as_bytes(given.reshape(-1)[0])
    return as_bytes(attrs.get(key) or b"")


def _inputs(types, attrs, settings: tuple[str, ...]) -> None:
    if len(types) not in (1, 1 + len(settings)):
        raise RuleError(
            WRONG_ARITY,
            f"takes strings alone, or with {' and '.join(settings)}, but got {len(types)} inputs.",
            "Give all of them.",
        )
    for x, what in zip(types[1:], settings, strict=False):
        need_kinds(x, "S", what, "a string")
    if len(types) == 1:
        compiled(as_bytes(attrs.get("pattern") or b""))  # an invalid pattern is reported when the graph is built


def _match_type(types, attrs, values):
    _inputs(types, attrs, ("pattern",))
    return TensorType("bool", one_string(types, attrs, values).shape)


def _match(arrays, attrs):
    regex = compiled(_setting(attrs, arrays, "pattern", 1))
    return map_strings(arrays[0], regex.fullmatch, np.bool_)


def _replace_type(types, attrs, values):
    _inputs(types, attrs, ("pattern", "rewrite"))
    return one_string(types, attrs, values)


def _replace(arrays, attrs):
    regex, rewrite = compiled(_setting(attrs, arrays, "pattern", 1)), _setting(attrs, arrays, "rewrite", 2)
    every, room = bool(attrs.get("every", True)), Room()
    return map_strings(arrays[0], lambda s: regex.replace(s, rewrite, every, room))


define(
    "regex_full_match",
    "x pattern?",
    _match_type,
    _match,
    "Whether each string as a whole matches `pattern`.",
    FAMILY,
    attrs={"pattern": ""},
    source=TF + "RegexFullMatch",
)
define(
    "regex_replace",
    "x pattern? rewrite?",
    _replace_type,
    _replace,
    "Strings with the first or `every` match of `pattern` replaced by `rewrite`, where \\1 is the text of a group.",
    FAMILY,
    attrs={"pattern": "", "rewrite": "", "every": True},
    source=TF + "RegexReplace",
)
