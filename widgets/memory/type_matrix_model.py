"""The type rules of one family as a matrix, as plain data: which pair of types gives what, and why."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.kernels import types
from workbench.kernels.types.dtypes import NAMES, TYPES, common
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.profiles import Instance, resolve
from workbench.kernels.types.select import instance_set

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

#: name of the pseudo-profile that stands for what this build compiled
THIS_BUILD = "this build"
STATES = ("compiled", "accepted", "rejected")
#: what the axes of a family's matrix are: rows, columns; with one operand the columns are results
AXES = {"indexing": ("data", "index"), "select": ("condition", "both branches")}
_SHORT = {"bool": "b", "string": "str", "bfloat16": "bf16"}


def short(name: str) -> str:
    """``float16`` as ``f16``, for a cell."""
    return _SHORT.get(name) or f"{name[0]}{''.join(c for c in name if c.isdigit())}"


def families() -> dict[str, str]:
    """Family -> what it computes, in table order."""
    return {name: about for name, (_, about) in types.families.items()}


def profiles() -> list[str]:
    """Choices of the menu: this build, and the named profiles."""
    return [THIS_BUILD, *types.profiles]


def type_matrix(family: str, profile: str = THIS_BUILD, used: Iterable[Instance] = ()) -> dict[str, Any]:
    """The matrix of a family under a profile (a value of the build option, or ``this build``).

    ``types`` are the rows and the columns; ``rows`` and ``columns`` say what they are. ``cells`` holds, row by row, a
    dict of ``row``, ``column``, ``state`` (compiled, accepted, rejected), ``text`` (short name of the result; + if
    there are more), ``results`` (all accepted results with their rules), ``rule`` and ``sentence`` (that decided),
    ``ops`` (compiled ops), ``used`` (whether one of the instances ``used`` is in the cell) and ``words`` (sentences).
    ValueError for an unknown family, ProfileError for a bad profile.
    """
    if family not in types.families:
        raise ValueError(f"unknown family {family!r}: expected one of {', '.join(types.families)}")
    has = types.compiled() if profile == THIS_BUILD else instance_set(resolve(profile))
    own = {i for i in has if OPS[i[0]].family == family}
    fired = {(i[1], i[2]) for i in used if OPS[i[0]].family == family}
    single = types.families[family][0] == 1
    rows, columns = ("operand", "result") if single else AXES.get(family, ("first operand", "second operand"))
    by_place: dict[tuple[str, str], list[Instance]] = {}
    for instance in own:
        place = _place(family, instance[1], instance[2])
        if place is not None:
            by_place.setdefault(place, []).append(instance)
    cells = [
        {
            **cell,
            **_presence(cell, sorted(by_place.get((cell["row"], cell["column"]), ())), profile),
            "used": any(_place(family, i, o) == (cell["row"], cell["column"]) for i, o in fired),
        }
        for cell in _verdicts(family)
    ]
    counts = {state: sum(cell["state"] == state for cell in cells) for state in STATES}
    return {
        "family": family,
        "about": types.families[family][1],
        "profile": profile,
        "types": list(NAMES),
        "rows": rows,
        "columns": columns,
        "cells": cells,
        "counts": counts,
    }


def cell_of(graph: Graph, name: str) -> tuple[str, str, str] | None:
    """(family, row, column) of what a node, or the node of a value, computes; None for what has no place here."""
    try:
        node = graph.nodes[graph.value(name).node]
    except WorkbenchError:
        return None
    op = OPS.get(node.op)
    if op is None or not node.types:
        return None
    inputs = tuple(str(graph.type_of(ref).dtype) for ref in node.inputs)
    place = _place(op.family, inputs, str(node.types[0].dtype))
    return None if place is None or not set(place) <= set(NAMES) else (op.family, *place)


def _place(family: str, inputs: tuple[str, ...], output: str) -> tuple[str, str] | None:
    """Row and column of a combination; chains and operations with other operands than the family's usual have none."""
    arity = types.families[family][0]
    if len(inputs) != arity:
        return None
    return (inputs[0], output if arity == 1 else inputs[1])


@lru_cache(maxsize=32)
def _verdicts(family: str) -> tuple[dict[str, Any], ...]:
    """Content of every cell by the rules alone."""
    return tuple(_verdict(family, row, column) for row in NAMES for column in NAMES)


def _verdict(family: str, row: str, column: str) -> dict[str, Any]:
    arity = types.families[family][0]
    inputs = {1: (row,), 2: (row, column), 3: (row, column, column)}[arity]
    outputs = (column,) if arity == 1 else NAMES
    results = [(z, d) for z in outputs if (d := types.decide(family, inputs, z)).accepted]
    likely = _likely(family, inputs, column)
    results.sort(key=lambda pair: pair[0] != likely)
    decision = results[0][1] if results else types.decide(family, inputs, likely)
    return {
        "row": row,
        "column": column,
        "results": {z: d.rule for z, d in results},
        "text": short(results[0][0]) + ("+" if len(results) > 1 else "") if results else "",
        "result": results[0][0] if results else likely,
        "rule": decision.rule,
        "sentence": decision.sentence,
        "accepted": bool(results),
    }


def _likely(family: str, inputs: tuple[str, ...], column: str) -> str:
    """The result that one would expect: NumPy's where it has one, else the first operand's type."""
    if len(inputs) == 1:
        return column
    if family in ("comparison", "logical"):
        return "bool"
    if family == "indexing":
        return inputs[0]
    meeting = common(tuple(TYPES[t] for t in (inputs[1:] if family == "select" else inputs)))
    if meeting is None:
        return inputs[0]
    if family == "division" and meeting.kind in "biu":
        return "float64"
    return meeting.name


def _presence(cell: dict[str, Any], instances: list[Instance], profile: str) -> dict[str, Any]:
    """State and sentences of a cell under a profile."""
    ops = sorted({op for op, _, _ in instances}, key=list(OPS).index)
    state = "rejected" if not cell["accepted"] else "compiled" if ops else "accepted"
    words = [f"Rule {cell['rule']}: {cell['sentence']}"]
    more = [f"{z} ({rule})" for z, rule in cell["results"].items() if z != cell["result"]]
    if more:
        words.append(f"Also admitted: {', '.join(more)}.")
    where = "this build" if profile == THIS_BUILD else f"profile {profile}"
    if ops:
        shown = ", ".join(ops[:8]) + (f" and {len(ops) - 8} more" if len(ops) > 8 else "")
        words.append(f"Compiled in {where}: {shown}.")
    elif state == "accepted":
        words.append(f"Not compiled in {where}; NumPy computes it.")
    return {"state": state, "ops": ops, "words": words}
