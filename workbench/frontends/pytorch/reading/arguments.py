"""Arguments and results of calls: names of values, plain Python values, and graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.frontends.pytorch.reading.archive import refused
from workbench.frontends.pytorch.reading.fields import as_kind, field, tagged
from workbench.frontends.pytorch.reading.tensors import dtype_of

#: maximum nesting of lists
MAX_LEVELS = 20


@dataclass(frozen=True, slots=True)
class ValueName:
    """A result of a call or an input: a tensor, or a number (``sym_int``, ``sym_float``, ``sym_bool``)."""

    name: str
    kind: str = "tensor"


@dataclass(frozen=True, slots=True)
class Dtype:
    name: str


@dataclass(frozen=True, slots=True)
class Other:
    """A device, layout or memory format, which does not change values."""

    kind: str
    text: str


class InnerGraph:
    """Base of the graphs that are arguments: branches and bodies of loops."""

    __slots__ = ()


#: JSON -> graph
GraphOf = Callable[[dict[str, Any]], InnerGraph]
Argument = None | bool | int | float | complex | str | ValueName | Dtype | Other | InnerGraph | list[Any]
_PLAIN: dict[str, type] = {"as_int": int, "as_bool": bool, "as_string": str}
_LISTS: dict[str, str] = {
    "as_tensors": "tensor",
    "as_ints": "as_int",
    "as_floats": "as_float",
    "as_bools": "as_bool",
    "as_strings": "as_string",
    "as_sym_ints": "as_sym_int",
    "as_sym_floats": "as_sym_float",
    "as_sym_bools": "as_sym_bool",
    "as_optional_tensors": "union",
    "as_nested_tensors": "as_tensors",
    "as_int_lists": "as_ints",
    "as_float_lists": "as_floats",
}
_OTHERS = ("as_layout", "as_memory_format", "as_device")


def parse_argument(node: Any, graph_of: GraphOf) -> Argument:
    """An argument; refused if its kind is not supported."""
    tag, content = tagged(node, "arg")
    return _parsed(tag, content, graph_of, 0)


def _parsed(tag: str, content: Any, graph_of: GraphOf, level: int) -> Argument:
    if level > MAX_LEVELS:
        raise refused(f"it has an argument of more than {MAX_LEVELS} lists in each other")
    if tag in _LISTS:
        inner = _LISTS[tag]
        items = as_kind(content, list, tag)
        return [
            _parsed(*tagged(i, tag), graph_of, level + 1)
            if inner == "union"
            else _parsed(inner, i, graph_of, level + 1)
            for i in items
        ]
    if tag in _PLAIN:
        found: Argument = as_kind(content, _PLAIN[tag], tag)
        return found
    if tag == "as_float":
        return _float(content)
    if tag in ("as_tensor", "tensor"):
        return ValueName(field(as_kind(content, dict, tag), "name", str))
    if tag in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        inner, value = tagged(content, tag)
        kind = tag.removeprefix("as_")
        return (
            ValueName(as_kind(value, str, tag), kind)
            if inner == "as_name"
            else _parsed(inner, value, graph_of, level + 1)
        )
    if tag == "as_none":
        return None
    if tag == "as_optional_tensor":
        return _parsed(*tagged(content, tag), graph_of, level + 1)
    if tag == "as_scalar_type":
        return Dtype(dtype_of(content))
    if tag == "as_complex":
        as_kind(content, dict, tag)
        return complex(_float(content.get("real")), _float(content.get("imag")))
    if tag in _OTHERS:
        return Other(tag.removeprefix("as_"), str(content)[:100])
    if tag == "as_graph":
        return graph_of(field(as_kind(content, dict, tag), "graph", dict))
    raise refused(f"it has an argument of the kind {tag[:40]!r}, which is not read")


def _float(content: Any) -> float:
    if type(content) is str and content in ("Infinity", "-Infinity", "NaN"):
        return float(content)
    return float(content) if type(content) in (int, float) else as_kind(content, float, "as_float")
