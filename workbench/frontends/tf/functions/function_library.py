"""The function library of a GraphDef: functions with arguments, a body of nodes, and results.

Inside a body an input is ``argument``, ``node:output:index`` (a named output and an index within it) or ``^node``.
Source: tensorflow/core/framework/{function,op_def}.proto.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.tf.tensor_proto import AttrName, Budget, DTypeAttr, Function, attr_of

#: maximum call depth of functions
MAX_DEPTH = 48
#: maximum number of values in a list argument of a function
MAX_COUNT = 65_536


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or result: a single tensor, ``number_attr`` tensors of one dtype, or one tensor for each dtype of a
    list.
    """

    name: str
    dtype: DTypeAttr | None = None
    type_attr: str = ""
    number_attr: str = ""
    type_list_attr: str = ""

    def dtypes(self, attrs: Mapping[str, Any], where: str) -> list[DTypeAttr | None]:
        """One dtype for each tensor, given the attributes of a call; None if it is not known."""
        if self.type_list_attr:
            found = attrs.get(self.type_list_attr)
            if not isinstance(found, list):
                raise _bad(f"{where} gives no list of types {self.type_list_attr!r} for {self.name!r}.")
            return [d if isinstance(d, DTypeAttr) else None for d in found]
        single = attrs.get(self.type_attr) if self.type_attr else self.dtype
        count = attrs.get(self.number_attr) if self.number_attr else 1
        if not isinstance(count, int) or not 0 <= count <= MAX_COUNT:
            raise _bad(f"{where} gives {count!r} as the number {self.number_attr!r} of {self.name!r}.")
        return [single if isinstance(single, DTypeAttr) else None] * count


@dataclass(frozen=True, slots=True)
class BodyNode:
    """A node of a body; its inputs are the names of tensors in the body."""

    name: str
    op: str
    inputs: tuple[str, ...]
    attrs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionDef:
    """One function. ``results`` maps ``outputs`` to tensors of the body, ``effects`` names the nodes of the body that
    must run even if no result depends on them.
    """

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    nodes: Mapping[str, BodyNode]
    results: Mapping[str, str]
    effects: tuple[str, ...]
    defaults: Mapping[str, Any]


def functions_of(library: Mapping[str, Any], budget: Budget) -> dict[str, FunctionDef]:
    """The functions of a FunctionDefLibrary message; LoadError with slug ``bad-function`` or ``duplicate-name``."""
    found: dict[str, FunctionDef] = {}
    for raw in library.get("function", ()):
        function = _function(raw, budget)
        if function.name in found:
            raise LoadError(f"Two functions of the GraphDef are named {function.name!r}.", slug="duplicate-name")
        found[function.name] = function
    return found


def _function(raw: Mapping[str, Any], budget: Budget) -> FunctionDef:
    signature = raw.get("signature", {})
    name = signature.get("name", "")
    if not name:
        raise _bad("A function of the GraphDef has no name.")
    nodes: dict[str, BodyNode] = {}
    for entry in raw.get("node_def", ()):
        label, op = entry.get("name", ""), entry.get("op", "")
        if not label or not op or label in nodes:
            raise _bad(
                f"The function {name!r} has a node of the name {label!r} and the op {op!r}"
                + (" twice." if label in nodes else ".")
            )
        what = f"{op} {label!r} of {name!r}"
        attrs = {e.get("key", ""): attr_of(e.get("value", {}), budget, what) for e in entry.get("attr", ())}
        nodes[label] = BodyNode(label, op, tuple(entry.get("input", ())), attrs)
    defaults = {
        a.get("name", ""): attr_of(a["default_value"], budget, f"The function {name!r}")
        for a in signature.get("attr", ())
        if "default_value" in a
    }
    return FunctionDef(
        name,
        _arguments(signature.get("input_arg", ())),
        _arguments(signature.get("output_arg", ())),
        nodes,
        {e.get("key", ""): e.get("value", "") for e in raw.get("ret", ())},
        tuple(e.get("value", "") for e in raw.get("control_ret", ())),
        defaults,
    )


def _arguments(raw: Sequence[Mapping[str, Any]]) -> tuple[Argument, ...]:
    return tuple(
        Argument(
            a.get("name", ""),
            DTypeAttr(a["type"]) if a.get("type") else None,
            a.get("type_attr", ""),
            a.get("number_attr", ""),
            a.get("type_list_attr", ""),
        )
        for a in raw
    )


def weigh(functions: Mapping[str, FunctionDef], nodes: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[int, int]:
    """Number of nodes, and bytes of constants, after all calls are inlined, computed without inlining.

    ``nodes`` are ops with their attributes. A recursive function, or one deeper than :data:`MAX_DEPTH`, counts as 0,
    because these are reported separately.
    """
    known: dict[str, tuple[int, int] | None] = {}

    def of_function(name: str, depth: int) -> tuple[int, int]:
        if name not in known and name in functions and depth < MAX_DEPTH:
            known[name] = None
            known[name] = of_nodes([(n.op, n.attrs) for n in functions[name].nodes.values()], depth + 1)
        return known.get(name) or (0, 0)

    def of_nodes(given: Sequence[tuple[str, Mapping[str, Any]]], depth: int) -> tuple[int, int]:
        total, held = len(given), 0
        for op, attrs in given:
            called = [op] if op in functions else []
            for value in attrs.values():
                held += value.nbytes if isinstance(value, np.ndarray) else 0
                called += [f.name for f in (value if isinstance(value, list) else [value]) if isinstance(f, Function)]
            for name in called:
                more, larger = of_function(name, depth)
                total, held = total + more, held + larger
        return total, held

    return of_nodes(nodes, 0)


def substituted(value: Any, attrs: Mapping[str, Any], where: str) -> Any:
    """An attribute of a body's node, with references replaced by the attributes of the call."""
    if isinstance(value, AttrName):
        if value.name not in attrs:
            raise _bad(f"{where} takes the attribute {value.name!r} of its call, which does not give it.")
        return attrs[value.name]
    if isinstance(value, Function):
        return Function(value.name, {k: substituted(v, attrs, where) for k, v in value.attrs.items()})
    if isinstance(value, list):
        return [substituted(v, attrs, where) for v in value]
    return value


def _bad(message: str) -> LoadError:
    return LoadError(message, slug="bad-function", fix="write the GraphDef again with TensorFlow.")
