"""FlatBuffer bytes -> :class:`FlatGraph`: variables, nodes with their arguments, losses, training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.flatbuffers.tables import FlatError, FlatReader
from workbench.frontends.samediff.arrays import array_of
from workbench.frontends.samediff.layout import class_now, layout_of
from workbench.frontends.samediff.schema import DTYPES, PLACEHOLDER, schema
from workbench.frontends.tf.tensor_proto import MAX_RANK, Budget

#: key of a value: number of the node or variable, and index of the output
Key = tuple[int, int]
#: (FlatArray message, dtype of its variable, budget, name for messages) -> array
ReadArray = Callable[[Mapping[str, Any], "str | None", Budget, str], np.ndarray]


@dataclass(frozen=True, slots=True)
class FlatVariable:
    """A variable as SameDiff wrote it. ``dtype`` is None for an unsupported type, ``shape`` for an unknown one;
    ``control`` names the variables that must be computed before it.
    """

    name: str
    kind: int
    dtype: str | None
    shape: tuple[int | None, ...] | None
    array: np.ndarray | None
    control: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlatNode:
    """An op as SameDiff wrote it: ``inputs`` and ``outputs`` are keys of values, ``properties`` plain values."""

    id: int
    name: str
    op: str
    op_class: int
    number: int
    inputs: tuple[Key, ...]
    outputs: tuple[str, ...]
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    bools: tuple[bool, ...] = ()
    dimensions: tuple[int, ...] = ()
    scalar: np.ndarray | None = None
    control: tuple[str, ...] = ()
    extra_types: tuple[int, ...] = ()
    extra_strings: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlatGraph:
    """``names`` are the variables of keys; ``training`` is a JSON string, ``updater`` names the variables with an
    updater state.
    """

    variables: Mapping[str, FlatVariable]
    nodes: Sequence[FlatNode]
    names: Mapping[Key, str]
    losses: tuple[str, ...] = ()
    training: str = ""
    updater: tuple[str, ...] = ()


def read_flatgraph(data: bytes, read_array: ReadArray = array_of, budget: Budget | None = None) -> FlatGraph:
    """Read a FlatGraph. Raises LoadError: ``empty``, ``truncated``, ``too-large``, ``not-samediff``,
    ``samediff-before-2019``, ``duplicate-name``, or a slug for a defect of an array."""
    if not data:
        raise LoadError("The SameDiff file has no bytes.", slug="empty", fix="write the file again; it is empty.")
    try:
        layout = layout_of(data)
        message = FlatReader(data, schema(layout)).root("FlatGraph")
    except FlatError as error:
        if error.slug == "too-large":
            raise
        if error.slug == "truncated":
            raise LoadError(
                f"The SameDiff file is cut off: {error.message}", slug="truncated", fix="fetch or write the file again."
            ) from error
        raise not_samediff(error.message) from error
    return graph_of(message, layout, read_array, budget or Budget())


def graph_of(message: Mapping[str, Any], layout: str, read_array: ReadArray, budget: Budget) -> FlatGraph:
    """The graph of a FlatGraph message."""
    if not message.get("variables") and not message.get("nodes"):
        raise not_samediff("it has neither variables nor nodes.")
    variables: dict[str, FlatVariable] = {}
    names: dict[Key, str] = {}
    for raw in message.get("variables", ()):
        variable = _variable(raw, read_array, budget)
        if variable.name in variables:
            raise LoadError(f"Two variables are named {variable.name!r}.", slug="duplicate-name")
        variables[variable.name] = variable
        pair = raw.get("id", {})
        names.setdefault((pair.get("first", 0), pair.get("second", 0)), variable.name)
    of_nodes: dict[int, list[tuple[int, str]]] = {}
    for (number, index), label in names.items():
        of_nodes.setdefault(number, []).append((index, label))
    nodes = [_node(raw, layout, of_nodes, read_array, budget) for raw in message.get("nodes", ())]
    for node in nodes:
        names.update({(node.id, i): name for i, name in enumerate(node.outputs)})
    return FlatGraph(
        variables,
        nodes,
        names,
        tuple(message.get("losses", ())),
        message.get("training", ""),
        tuple(state.get("name", "") for state in message.get("updater", ())),
    )


def _variable(raw: Mapping[str, Any], read_array: ReadArray, budget: Budget) -> FlatVariable:
    name = raw.get("name", "")
    if not name:
        raise not_samediff("a variable has no name.")
    dtype, array, shape = DTYPES.get(raw.get("dtype", 0)), raw.get("array"), raw.get("shape")
    if shape is not None and (len(shape) > MAX_RANK or any(d < -1 for d in shape)):
        raise LoadError(f"Variable {name!r} has the shape {shape[:20]}, of rank {len(shape)}.", slug="bad-shape")
    kind = raw.get("kind", 0)
    return FlatVariable(
        name,
        kind,
        dtype,
        None if shape is None else tuple(None if d == -1 else d for d in shape),
        None
        if array is None
        else read_array(array, dtype, budget, f"{'Placeholder' if kind == PLACEHOLDER else 'Variable'} {name!r}"),
        tuple(raw.get("control", ())),
    )


def _node(
    raw: Mapping[str, Any],
    layout: str,
    of_nodes: Mapping[int, list[tuple[int, str]]],
    read_array: ReadArray,
    budget: Budget,
) -> FlatNode:
    number, name = raw.get("id", 0), raw.get("name", "")
    pairs = [(p.get("first", 0), p.get("second", 0)) for p in raw.get("inputs", ())]
    what = f"An argument of op {name!r}"
    scalar = raw.get("scalar")
    return FlatNode(
        number,
        name,
        raw.get("op", ""),
        class_now(raw.get("class", 0), layout),
        raw.get("number", 0),
        tuple(pairs or [(i, 0) for i in raw.get("input", ())]),
        _outputs(name, raw.get("output_names", ()), of_nodes.get(number, ())),
        tuple(raw.get("ints", ())),
        tuple(raw.get("floats", ())),
        tuple(raw.get("bools", ())),
        tuple(raw.get("dimensions", ())),
        None if scalar is None else read_array(scalar, None, budget, what),
        (*raw.get("control_ops", ()), *raw.get("control_variables", ())),
        tuple(raw.get("extra_types", ())),
        tuple(raw.get("extra_strings", ())),
        {p.get("name", ""): _property(p) for p in raw.get("properties", ())},
    )


def _outputs(name: str, stored: Sequence[str], variables: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Names of a node's outputs: those that it lists, otherwise those of the variables with its number, otherwise its
    own.
    """
    return tuple(stored) or tuple(variable for _, variable in sorted(variables)) or (name,)


def _property(raw: Mapping[str, Any]) -> Any:
    """The value of a property: a number, bool or string, or a list of these; None for arrays, which are also in the
    arguments.
    """
    for key in ("strings", "bools", "longs", "ints", "doubles"):
        if raw.get(key):
            values = raw[key]
            return values[0] if len(values) == 1 else values
    return None


def not_samediff(reason: str) -> LoadError:
    return LoadError(
        f"This is no SameDiff file: {reason}",
        slug="not-samediff",
        fix="give a file that SameDiff's save or asFlatFile wrote.",
    )
