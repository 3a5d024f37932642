"""Random loops that do not end, written as plain Python and as graphs, and an independent execution of them.

A loop is a line of text for each statement; the text is run by Python on NumPy scalars, iteration by iteration, and
captured as a graph. The claims of an answer are compared with the states of plain Python.
"""

from __future__ import annotations

import importlib.util
import itertools
import operator
from pathlib import Path
from typing import Any

import numpy as np

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
#: iterations that plain Python runs
MOST = 3000


class Loop:
    """``while cond`` with a body, over the variables of ``start``; ``guard`` is that of its branch."""

    def __init__(self, start: dict[str, str], cond: str, body: list[str], guard: str | None = None) -> None:
        self.start, self.cond, self.body, self.guard = start, cond, body, guard

    def source(self, name: str) -> str:
        lines = [f"def {name}():", *(f"    {k} = {v}" for k, v in self.start.items()), f"    while {self.cond}:"]
        return "\n".join([*lines, *(f"        {line}" for line in self.body), f"    return {', '.join(self.start)}"])

    def states(self) -> list[dict[str, Any]]:
        """The variables at the condition of each iteration, by plain Python."""
        scope: dict[str, Any] = {"np": np}
        with np.errstate(all="ignore"):
            exec("\n".join(f"{k} = {v}" for k, v in self.start.items()), scope)
            body, found = compile("\n".join(self.body), "body", "exec"), []
            for _ in range(MOST):
                found.append({k: scope[k] for k in self.start})
                if not eval(self.cond, scope):
                    break
                exec(body, scope)
        return found


def truth(expression: str, state: dict[str, Any]) -> bool:
    with np.errstate(all="ignore"):
        return bool(eval(expression, {"np": np, **state}))


def loops(rng: np.random.Generator) -> Loop:
    """One loop: a guard, absorption, a wrap, a bound, a neutral step, a fixed point, a cycle, or NaN."""
    kind = rng.choice(["np.float64", "np.float32"])
    a, b = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    extra = ["k = k + 1"] if rng.random() < 0.5 else []
    start = {"x": f"{kind}(0)"} | ({"k": "0"} if extra else {})
    pick = int(rng.integers(0, 8))
    if pick == 0:
        guard = f"x < {kind}({a})"
        return Loop(start, f"x < {kind}({a + 20})", [f"if {guard}:", f"    x = x + {kind}({b / 4})", *extra], guard)
    if pick == 1:
        guard = f"x < {kind}({a})"
        step = f"np.where({guard}, {kind}({b / 4}), {kind}(0))"
        return Loop(start, f"x < {kind}({a + 20})", [f"x = x + {step}", *extra], guard)
    if pick == 2:
        big = {"np.float64": 2.0**53, "np.float32": 2.0**24}[str(kind)]
        start["x"] = f"{kind}({big - 40 * b})"
        return Loop(start, f"x < {kind}({big * 4})", [f"x = x + {kind}(1)", *extra])
    if pick == 3:
        start["x"] = f"np.int16({a})"
        return Loop(start, "x != np.int16(0)", ["x = x * np.int16(3)", *extra])
    if pick == 4:
        return Loop(start, f"x < {kind}({a + 9})", [f"x = np.minimum(x + {kind}({b}), {kind}({a}))", *extra])
    if pick == 5:
        start["x"] = f"{kind}({a})"
        return Loop(start, f"x > {kind}(0.01)", [f"x = x * {kind}(0.5) + {kind}({b})", *extra])
    if pick == 6:
        start["x"] = f"{kind}({a})"
        return Loop(start, f"abs(x) > {kind}(0.5)", [f"x = x - {kind}(2) * x", *extra])
    start["x"] = f"{kind}({a})"
    return Loop(start, f"x != {kind}(-{b})", [f"x = np.sqrt(x - {kind}({a + 1}))", *extra])


_numbers = itertools.count()


def captured(loop: Loop, folder: Path) -> Any:
    """The loop as a Python function in a file of its own, so that its lines are known."""
    name = f"loop_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(f"import numpy as np\n\n\n{loop.source(name)}\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def wrong(loop: Loop, states: list[dict[str, Any]], claim: Any) -> bool | None:
    """True if plain Python contradicts a claim; None if it did not examine the subject of the claim."""
    data, last = claim.data, len(states) - 1

    def at(k: int, name: str = "x") -> Any:
        return states[k][name]

    if claim.kind == "period":
        if claim.since + 2 * claim.n > last:
            return None
        same = [
            all(_same(states[claim.since][v], states[claim.since + j][v]) for v in ("x",))
            for j in range(1, 2 * claim.n + 1)
        ]
        return not (same[claim.n - 1] and same[2 * claim.n - 1]) or any(same[: claim.n - 1])
    if claim.kind == "rests" and claim.clause.name == "x":
        span = [k for k in range(claim.first, claim.last + 1) if k <= last]
        return any(not _same(at(k), claim.value) for k in span) if span else not _same(at(last), claim.value)
    if claim.kind == "guard":
        if claim.since is None or claim.since > last:
            return None
        later = [truth(data["predicate"], states[k]) != data["holds"] for k in range(claim.since, last + 1)]
        before = claim.since > 0 and truth(data["predicate"], states[claim.since - 1]) == data["holds"]
        return any(later) or before
    if claim.kind == "first-bad":
        k = claim.iteration
        if list(claim.names) != ["x"] or k > last:
            return None
        pattern = [at(j) for j in range(last - claim.n + 1, last + 1)]
        inside = [any(_same(at(j), p) for p in pattern) for j in range(max(k - 1, 0), last + 1)]
        return not all(inside[1 if k else 0 :]) or (k > 0 and inside[0])
    if claim.kind in ("absorbed", "stalls"):
        value = claim.operand if claim.kind == "absorbed" else claim.value
        kind = type(at(0))
        return not _same(kind(value) + kind(claim.step), kind(value)) or claim.step == 0
    if claim.kind == "wraps":
        first = next((k for k in range(last) if int(at(k)) * 3 != int(at(k + 1))), None)
        return first != claim.iteration or int(at(first)) * 3 != claim.exact or int(at(first + 1)) != claim.result
    if claim.kind == "saturated":
        return not _same(at(last), claim.bound)
    if claim.kind == "fixed-point":
        return claim.value is not None and not _same(at(last), claim.value)
    if claim.kind == "nan":
        first = next(k for k, s in enumerate(states) if np.isnan(s["x"]))
        return claim.since is not None and claim.since != first
    if claim.kind == "overshoots":
        steps = np.diff([float(at(k)) for k in range(min(20, last))])
        return not bool(np.all(steps[1:] * steps[:-1] < 0))
    if claim.kind == "compared":
        k = claim.iteration
        return None if k > last else OPS[claim.op](claim.left, claim.right) != truth(loop.cond, states[k])
    return None


def _same(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b, dtype=np.asarray(a).dtype).tobytes()
