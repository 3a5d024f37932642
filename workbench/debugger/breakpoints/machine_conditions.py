"""Compiles breakpoint conditions for the executor, so that only candidates return to Python (executor/conditions.h).

Conditions on a number are compiled (see ``scalar_compiler``); for arrays of known shape also "some item is (not) ..."
and "it changed"; iterations and hits to skip always are. Everything else is evaluated in Python each time the node
fires. The executor only filters: Python evaluates the candidates that it reports again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.debugger.breakpoints.armed import ArmedBreakpoint
from workbench.debugger.breakpoints.scalar_compiler import compile_number
from workbench.debugger.conditions.grammar import Term
from workbench.debugger.conditions.value_checks import STRIDE
from workbench.debugger.replay.locate import frames_around
from workbench.execution import Run
from workbench.kernels.layout import NodeLayout, ValueLayout

#: dtypes that the executor can read -> NumPy's letters
LETTERS = {
    "float64": "d",
    "float32": "f",
    "int64": "q",
    "int32": "i",
    "int16": "h",
    "int8": "b",
    "bool": "?",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
}
#: (index of the condition, instruction, base and offset of the present value, its store, its offset in any row)
Site = tuple[int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class MachineCondition:
    """A condition that the executor evaluates at one or more nodes; if ``sure``, Python does not evaluate it again."""

    number: int
    spec: dict[str, Any]
    sure: bool


class ConditionCompiler:
    """Compiles the conditions of all breakpoints, each only once for all nodes of a pattern, and lists their sites."""

    def __init__(self, run: Run) -> None:
        self._run, self._layout = run, run.plan.layout
        self._by_key: dict[Any, MachineCondition] = {}
        self.conditions: list[MachineCondition] = []
        self.sites: list[Site] = []

    def add(self, node: NodeLayout, armed: ArmedBreakpoint) -> bool:
        """Compile the condition of a breakpoint at a node; True if the executor can decide it exactly."""
        value = self._layout.values.get(armed.ref)
        key: Any = armed.point.number, armed.health, node.frame, node.first
        if value is not None:
            key = *key, value.frame, value.kind, value.guard
            if value.place is not None:
                key = *key, value.place.base == 0, value.place.dtype, value.place.shape, value.place.shift
        found = None if armed.point.flips else self._by_key.get(key)
        if found is None:
            found = MachineCondition(len(self.conditions), *self._condition(node, value, armed))
            self._by_key[key] = found
            self.conditions.append(found)
        looked = self._predicate_of(node) if armed.point.flips else value
        if looked is None or looked.place is None or looked.place.base == 0:
            self.sites.append((found.number, node.ip, 0, 0, -1, 0))
        else:
            place = looked.place
            self.sites.append((found.number, node.ip, *self._layout.operand(place), place.base - 1, place.offset))
        return found.sure

    # -- one condition ---------------------------------------------------------------------------------------------
    def _condition(
        self, node: NodeLayout, value: ValueLayout | None, armed: ArmedBreakpoint
    ) -> tuple[dict[str, Any], bool]:
        point = armed.point
        steps = zip(frames_around(self._run, node.frame), point.iteration or (), strict=False)
        spec: dict[str, Any] = {"front": not point.after, "kind": "always", "frame": node.frame}
        spec["steps"] = [(f, i) for f, i in steps if i is not None]
        if point.flips and not node.guard:
            pred = self._predicate_of(node)
            if pred is not None and pred.frame == node.frame and _locate(pred, spec):
                spec["kind"] = "flip"
            return spec, False
        if not point.after or value is None:
            return spec, point.probe is None and not point.entry
        if value.guard:
            spec["guard"] = [(*self._layout.operand(c.place), c.expect) for c in value.guard]
        if armed.health == ("pattern",) and point.when is None:
            spec["stride"] = STRIDE
        parts = (bool(armed.health), point.watch is not None, point.when is not None)
        if sum(parts) != 1:
            return spec, not any(parts)
        return spec, _compiled(value, node, armed, spec)

    def _predicate_of(self, node: NodeLayout) -> ValueLayout | None:
        """The predicate of a Switch."""
        return self._layout.values.get(self._run.plan.graph.nodes[node.name].inputs[1])


def _compiled(value: ValueLayout, node: NodeLayout, armed: ArmedBreakpoint, spec: dict[str, Any]) -> bool:
    """Compile the condition on a value into ``spec``; False if the executor cannot evaluate it."""
    if not _locate(value, spec) or value.frame != node.frame or value.place is None:
        return False
    if armed.point.looks_back > 0 and (value.guard or node.first):
        return False  # the previous row may contain no value
    if value.place.shape == ():
        found = compile_number(armed, str(value.place.dtype))
        spec |= found or {}
        return found is not None
    if armed.point.watch is not None:
        spec["kind"] = "changed"
        return spec["letter"] not in "HI"
    if armed.health == ("unchanged",):
        spec["kind"] = "same"
        return spec["letter"] not in "HI"
    items = _items_of(armed)
    if items is None or spec["letter"] not in "df":
        return False
    spec |= {"kind": "items", "items": [("value", *items)]}
    return True


def _locate(value: ValueLayout, spec: dict[str, Any]) -> bool:
    """Write the location of a value into ``spec``; False unless it is a number or an array of numbers in rows."""
    place = value.place
    if value.kind != "slot" or place is None or place.base == 0 or place.dtype not in LETTERS:
        return False
    spec |= {"shift": place.shift, "letter": LETTERS[place.dtype], "n": math.prod(place.shape) if place.shape else 1}
    return True


# -- arrays ----------------------------------------------------------------------------------------------------------
def _items_of(armed: ArmedBreakpoint) -> tuple[str, bool, float] | None:
    """(op, True for the magnitude, number) of the comparison that some item must meet; None for other conditions."""
    point = armed.point
    if armed.health:
        kinds = set(armed.health)
        if kinds == {"nan", "inf"}:
            return "isfinite", False, 0.0
        return (f"is{armed.health[0]}", False, 0.0) if kinds <= {"nan", "inf"} else None
    if point.when is None:
        return None
    term = point.when.tree
    if term.kind == "call" and term.what == "any":
        term = term.parts[0]
    if term.kind == "call" and term.what in ("isnan", "isinf") and _is_value(term.parts[0]):
        return term.what, False, 0.0
    if term.kind != "compare" or len(term.what) != 1 or term.what[0] not in ("<", "<=", ">", ">="):
        return None
    left, right = term.parts
    sign = term.what[0]
    if _number(left) is not None:
        left, right, sign = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[sign]
    number = _number(right)
    if number is None:
        return None
    if left.kind == "call" and left.what == "abs" and _is_value(left.parts[0]):
        return sign, True, number
    return (sign, False, number) if _is_value(left) else None


def _is_value(term: Term) -> bool:
    return term.kind == "name" and term.what == "value"


def _number(term: Term) -> float | None:
    if term.kind == "number":
        return float(term.what)
    if term.kind == "neg" and term.parts[0].kind == "number":
        number = float(term.parts[0].what)
        return -number if term.what == "-" else number
    return None
