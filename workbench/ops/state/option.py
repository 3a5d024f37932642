"""TensorFlow optionals: some tensors, or none; what a branch keeps for the gradient where it is taken or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.ir.types import ANY, OPAQUE, Opaque, TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_DTYPE, RuleError
from workbench.ops.state.stored_elements import failed, owned
from workbench.text import harmless

FAMILY = "options"
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/experimental/Optional"
_OPTION = TensorType(OPAQUE, None)


@dataclass(frozen=True, slots=True, eq=False)
class Option(Opaque):
    """``items`` is None where there is no value."""

    items: tuple[Any, ...] | None = None

    @harmless
    def __repr__(self) -> str:
        return "<Option of nothing>" if self.items is None else f"<Option of {len(self.items)}>"


def _checked(types) -> None:
    if types[0].dtype not in (OPAQUE, ANY):
        raise RuleError(WRONG_DTYPE, f"takes an optional, but got {types[0]}.", "Begin with option_of or option_none.")


def _has_type(types, attrs, values):
    _checked(types)
    return TensorType("bool", ())


def _get_type(types, attrs, values):
    _checked(types)
    dtypes = attrs.get("dtypes") or ()
    shapes = attrs.get("shapes") or (None,) * len(dtypes)
    return tuple(TensorType(d, None if s is None else tuple(s)) for d, s in zip(dtypes, shapes, strict=True))


def _get(arrays, attrs):
    items, count = arrays[0].items, len(attrs.get("dtypes") or ())
    if items is None or len(items) != count:
        raise failed(
            "no-value",
            "An optional without a value was asked for it."
            if items is None
            else f"An optional of {len(items)} values was asked for {count}.",
            "Ask option_has_value first.",
        )
    return items


define(
    "option_none",
    "",
    lambda types, attrs, values: _OPTION,
    lambda arrays, attrs: Option(),
    "No value.",
    FAMILY,
    outputs="optional",
    source=SOURCE,
)
define(
    "option_of",
    "*items",
    lambda types, attrs, values: _OPTION,
    lambda arrays, attrs: Option(tuple(owned(a) for a in arrays)),
    "The values, as one optional.",
    FAMILY,
    outputs="optional",
    source=SOURCE,
)
define(
    "option_has_value",
    "optional",
    _has_type,
    lambda arrays, attrs: np.asarray(arrays[0].items is not None),
    "Whether there is a value.",
    FAMILY,
    source=SOURCE,
)
define(
    "option_get",
    "optional",
    _get_type,
    _get,
    "The values, of `dtypes` and `shapes`; fails where there is none.",
    FAMILY,
    outputs="*items",
    attrs={"dtypes": (), "shapes": None},
    source=SOURCE,
)
