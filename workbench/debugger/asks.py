"""What the machine asks by itself, so that only hits come back to Python (kernels: asks.h).

Compiled are conditions on a number that compute with + - * / % and compare, the simple checks of health, of arrays of
known shape in rows "some item is (not) ..." and "it changed"; iterations and hits to let pass always. All else is asked
in Python, each time that the node fires. The machine filters and never decides: what it lets through is asked again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.debugger.breakpoints import Armed
from workbench.debugger.health import GROWTH, STRIDE
from workbench.debugger.language import Term
from workbench.execution import Run
from workbench.kernels.layout import NodeLayout, ValueLayout

#: dtypes of which the machine reads numbers, by NumPy's letters
LETTERS = {"float64": "d", "float32": "f", "int64": "q", "int32": "i", "int16": "h", "int8": "b", "bool": "?",
           "uint8": "B", "uint16": "H", "uint32": "I"}  # fmt: skip
#: operations of one ask
MOST_CODE = 200
#: entries of the stack
DEPTH = 20
Code = list[tuple[str, float]]
_SIMPLE = {"value": 0, "previous": 0, "iteration": 0}
_MAPS = ("abs", "isnan", "isinf", "isfinite", "sqrt")
_SAME = ("min", "max", "mean", "sum", "any", "all")


def ask_of(run: Run, node: NodeLayout, armed: Armed, known: dict[Any, Any]) -> tuple[dict[str, Any], bool]:
    """(what the machine is to ask of a firing, whether that is all there is to be asked).

    ``known`` keeps what was made of a breakpoint for each dtype: a pattern may fit many nodes.
    """
    point, layout = armed.point, run.plan.layout
    value = layout.values.get(tuple(armed.ref))  # type: ignore[call-overload]
    chain = frames_of(run, node.frame)
    steps = [(f, i) for f, i in zip(chain, point.iteration or (), strict=False) if i is not None]
    ask: dict[str, Any] = {"ip": node.ip, "front": not point.after, "kind": "always", "frame": node.frame}
    ask["steps"] = steps
    if point.flips and not node.guard:
        pred = layout.values.get(tuple(run.plan.graph.nodes[node.name].inputs[1]))
        if pred is not None and pred.frame == node.frame and _locate(run, pred, ask):
            ask["kind"] = "flip"
        return ask, False
    if not point.after or value is None:
        return ask, point.probe is None and not point.entry
    if value.guard:
        ask["guard"] = [(*layout.operand(c.place), c.expect) for c in value.guard]
    if armed.health == ("pattern",) and point.when is None:
        ask["stride"] = STRIDE
    parts = (bool(armed.health), point.watch is not None, point.when is not None)
    if sum(parts) != 1:
        return ask, not any(parts)
    return ask, _compiled(run, value, node, armed, ask, known)


def _compiled(
    run: Run, value: ValueLayout, node: NodeLayout, armed: Armed, ask: dict[str, Any], known: dict[Any, Any]
) -> bool:
    """Let the machine ask what a breakpoint does; False where it cannot."""
    if not _locate(run, value, ask) or value.frame != node.frame:
        return False
    back = armed.point.looks_back > 0
    if back and (value.guard or node.first):
        return False  # what stood in the row before may be nothing
    number = value.place is not None and value.place.shape == ()
    if number:
        key = armed.point.number, armed.health, value.place.dtype  # type: ignore[union-attr]
        if key not in known:
            known[key] = _of_number(armed, str(value.place.dtype))  # type: ignore[union-attr]
        ask |= known[key] or {}
        return known[key] is not None
    if armed.point.watch is not None:
        ask["kind"] = "changed"
        return ask["letter"] not in "HI"
    items = _items_of(armed)
    if armed.health == ("unchanged",):
        ask["kind"] = "same"
        return ask["letter"] not in "HI"
    if items is None or ask["letter"] not in "df":
        return False
    ask |= {"kind": "items", "items": [("value", *items)]}
    return True


def _locate(run: Run, value: ValueLayout, ask: dict[str, Any]) -> bool:
    """Where the machine finds a value; False for what is no number or array of numbers in rows."""
    place = value.place
    if value.kind != "slot" or place is None or place.base == 0 or place.dtype not in LETTERS:
        return False
    ask |= {
        "now": run.plan.layout.operand(place), "store": place.base - 1, "place": place.offset, "shift": place.shift,
        "letter": LETTERS[place.dtype], "n": math.prod(place.shape) if place.shape else 1,
    }  # fmt: skip
    return True


def frames_of(run: Run, frame: int) -> list[int]:
    """Numbers of the frames around, the outermost loop first."""
    found = []
    while frame > 0:
        found.append(frame)
        frame = run.plan.layout.frames[frame].parent
    return found[::-1]


def _of_number(armed: Armed, dtype: str) -> dict[str, Any] | None:
    """What is asked of a number of this dtype; None where the machine cannot."""
    compares = dtype not in ("uint16", "uint32")
    if compares and (armed.point.watch is not None or armed.health == ("unchanged",)):
        return {"kind": "changed" if armed.point.watch is not None else "same"}
    if armed.health and set(armed.health) == {"nan", "inf"} and dtype.startswith("float"):
        return {"kind": "quick", "items": [("value", "isfinite", False, 0.0)]}
    code = code_of(armed, dtype)
    if code is None:
        return None
    quick = _quick(code)
    return {"kind": "code", "code": code} if quick is None else {"kind": "quick", "items": quick}


# -- one number ------------------------------------------------------------------------------------------------------
def code_of(armed: Armed, dtype: str) -> Code | None:
    """What is asked of a number, in postfix order; None where the machine cannot."""
    point = armed.point
    if point.watch is not None:
        return [*_same(dtype), ("not", 0.0), *_there(), ("and", 0.0)]
    if armed.health:
        codes = [_health(name, dtype) for name in armed.health]
        if any(c is None for c in codes):
            return None
        found: Code = []
        for k, one in enumerate(codes):
            found += one or []
            found += [("or", 0.0)] if k else []
        return found
    assert point.when is not None
    code: Code = []
    if not _write(point.when.tree, code) or len(code) > MOST_CODE or _depth(code) > DEPTH:
        return None
    return code


def _there() -> Code:
    """Whether there is an iteration before: what is missing compares with nothing."""
    return [("previous", 0.0), ("isnan", 0.0), ("previous", 0.0), ("isnan", 0.0), ("not", 0.0), ("or", 0.0)]


def _same(dtype: str) -> Code:
    """Whether the value is that of the iteration before; NaN equals NaN."""
    same: Code = [("value", 0.0), ("previous", 0.0), ("==", 0.0)]
    if dtype.startswith("float"):
        same += [("value", 0.0), ("isnan", 0.0), ("previous", 0.0), ("isnan", 0.0), ("both", 0.0), ("or", 0.0)]
    return same


def _size(of: str) -> Code:
    return [(of, 0.0), ("abs", 0.0)]


def _health(name: str, dtype: str) -> Code | None:
    value: Code = [("value", 0.0)]
    floats = dtype.startswith("float")
    if name in ("nan", "inf"):
        return [*value, (f"is{name}", 0.0)] if floats else [("number", 0.0), ("isnan", 0.0)]
    if name == "zero":
        return [*value, ("number", 0.0), ("==", 0.0)]
    if name == "unchanged":
        return _same(dtype)
    if name == "overflow" and floats:
        return [*_size("value"), ("number", float(np.finfo(dtype).max) / 16), (">", 0.0)]
    if name == "underflow" and floats:
        tiny = float(np.finfo(dtype).smallest_normal)
        small: Code = [*_size("value"), ("number", tiny), ("<", 0.0)]
        return [*small, *_size("value"), ("number", 0.0), (">", 0.0), ("and", 0.0)]
    if name == "exploding":
        grown: Code = [*_size("value"), *_size("previous"), ("number", GROWTH), ("*", 0.0), (">", 0.0)]
        return [*grown, *_size("previous"), ("number", 0.0), (">", 0.0), ("and", 0.0)]
    if name == "vanishing":
        return [*_size("value"), ("number", GROWTH), ("*", 0.0), *_size("previous"), ("<", 0.0)]
    return None


def _quick(code: Code) -> list[tuple[str, str, bool, float]] | None:
    """Comparisons that must all hold: (of what, op, whether of its magnitude, number); None for all else."""
    found: list[tuple[str, str, bool, float]] = []
    at = 0
    while at < len(code):
        ops = [op for op, _ in code[at : at + 5]]
        of = "delta" if ops[:3] == ["value", "previous", "-"] else ops[0]
        at += 3 if of == "delta" else 1
        magnitude = at < len(code) and code[at][0] == "abs"
        at += magnitude
        if of not in ("value", "previous", "delta", "iteration") or at >= len(code):
            return None
        if code[at][0] in ("isnan", "isinf"):
            found.append((of, code[at][0], False, 0.0))
            at += 1
        elif code[at][0] == "number" and at + 1 < len(code) and code[at + 1][0] in ("<", "<=", ">", ">=", "==", "!="):
            found.append((of, code[at + 1][0], magnitude, code[at][1]))
            at += 2
        else:
            return None
        if len(found) > 1:
            if at >= len(code) or code[at][0] != "and":
                return None
            at += 1
    return found


def _write(term: Term, code: Code) -> bool:
    """Append a tree in postfix order; False for what the machine does not know."""
    kind, what = term.kind, term.what
    if kind == "number":
        number = float(what)
        if isinstance(what, int) and int(number) != what:
            return False
        code.append(("number", number))
        return True
    if kind == "name":
        if what == "delta":
            code += [("value", 0.0), ("previous", 0.0), ("-", 0.0)]
        elif what in _SIMPLE:
            code.append((what, 0.0))
        else:
            return False
        return True
    if kind == "neg":
        if not _write(term.parts[0], code):
            return False
        code += [("neg", 0.0)] if what == "-" else []
        return True
    if kind == "call":
        if what not in (*_MAPS, *_SAME) or not _write(term.parts[0], code):
            return False
        if what in ("any", "all"):
            code += [("number", 0.0), ("!=", 0.0)]
        elif what in _MAPS:
            code.append((what, 0.0))
        return True
    if kind == "binary":
        if what not in ("+", "-", "*", "/", "%") or not all(_write(p, code) for p in term.parts):
            return False
        code.append((what, 0.0))
        return True
    if kind in ("and", "or"):
        for k, part in enumerate(term.parts):
            if not _write(part, code):
                return False
            code += [(kind, 0.0)] if k else []
        return True
    if kind == "not":
        if not _write(term.parts[0], code):
            return False
        code.append(("not", 0.0))
        return True
    if kind == "compare":
        for k, sign in enumerate(what):
            if not all(_write(p, code) for p in term.parts[k : k + 2]):
                return False
            code.append((sign, 0.0))
            code += [("both", 0.0)] if k else []
        return True
    return False


def _depth(code: Code) -> int:
    depth = most = 0
    for op, _ in code:
        if op in ("value", "previous", "iteration", "number"):
            depth += 1
        elif op not in ("neg", "not", *_MAPS):
            depth -= 1
        most = max(most, depth)
    return most


# -- arrays ----------------------------------------------------------------------------------------------------------
def _items_of(armed: Armed) -> tuple[str, bool, float] | None:
    """(op, whether of the magnitude, number): what some item of an array is to meet; None where it is not as simple."""
    point = armed.point
    if armed.health:
        asked = set(armed.health)
        if asked == {"nan", "inf"}:
            return "isfinite", False, 0.0
        return (f"is{armed.health[0]}", False, 0.0) if asked <= {"nan", "inf"} else None
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

