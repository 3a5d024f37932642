"""Cause of a recurring loop: root variables, the blocking clause, and a fix computed from its states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.analysis.fix import fixes
from workbench.analysis.forecast.laws.exact_continuation import NAMES, OPS
from workbench.analysis.proof.lookahead_search import Search
from workbench.analysis.slicing.protocol import SliceRunner


def blame(runner: SliceRunner, search: Search) -> tuple[list[str], str | None, list[str]]:
    """Root variables, the blocking clause with its values inside the cycle, and fixes from the numbers on the way."""
    at_cycle = search.ahead
    clauses, values = list(runner.clauses), at_cycle.clause_values()
    before, inside = runner.values(), at_cycle.values()
    names = list(runner.state_names)
    if not clauses or len(values) != len(clauses):
        return names, None, []
    i = _blocking(values, runner.logic)
    lhs, op, rhs = clauses[i]
    left_value, _, right_value = values[i]
    text = f"{lhs} {op} {rhs} ({left_value} {op} {right_value})"
    root = [n for n in (lhs, rhs) if n in names] + [n for n in names if n not in (lhs, rhs)]
    slug, more = _trouble(runner, search, before, inside, i)
    try:
        numbers = float(left_value), float(right_value)
    except (TypeError, ValueError):
        return root, text, []
    name, threshold, other, sign = lhs, numbers[1], rhs, op
    if lhs not in names and rhs in names:
        mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        name, threshold, other, sign = rhs, numbers[0], lhs, mirror.get(op, op)
    # a step of the counter is only seen before it stalled, so it is taken from the first watched iterations
    dtype = str(getattr(inside.get(name), "dtype", ""))
    limit = float(numbers[0] if name == lhs else numbers[1])
    return (
        root,
        text,
        fixes(slug, name=name, op=sign, threshold=threshold, other=other, dtype=dtype, limit=limit, **more),
    )


def _trouble(
    runner: SliceRunner, search: Search, before: Mapping[str, Any], inside: Mapping[str, Any], i: int
) -> tuple[str, dict[str, Any]]:
    """Slug of the kind of recurrence, with the numbers its fix needs."""
    left_value, op, right_value = search.ahead.clause_values()[i]
    if left_value != left_value or right_value != right_value:
        return "nan", {}
    if search.period > 1 and op == "!=" and isinstance(left_value, (int, np.integer)):
        xs = [int(v) for v in list(search.monitor.clauses[i].lhs)[:9]]
        steps = {b - a for a, b in zip(xs, xs[1:], strict=False)}
        if len(steps) == 1:
            return "steps-over", {"step": float(steps.pop())}
    if search.period > 1:
        return "cycle", {"period": float(search.period)}
    if search.slot_at == 0:
        return _stuck(runner, i)
    clause = search.monitor.clauses[i]
    for values, moving in ((clause.lhs, left_value), (clause.rhs, right_value)):
        xs = [float(v) for v in values if v is not None]
        steps = [b - a for a, b in zip(xs, xs[1:], strict=False) if b != a]
        if len(steps) >= 3 and max(map(abs, steps)) <= 1.5 * min(map(abs, steps)) and min(steps) * max(steps) > 0:
            if np.asarray(moving).dtype.kind == "f":
                return "absorbed", {"step": steps[0]}
    return "floor", {}


def _stuck(runner: SliceRunner, i: int) -> tuple[str, dict[str, Any]]:
    """A clause that does not change from the start: is the variable never updated, or does its update do nothing?

    A runner that knows its graph says so in ``steps``: variable -> the constant that each iteration adds, or None for
    an update of another form; variables that are not updated are missing.
    """
    steps: Mapping[str, float | None] | None = getattr(runner, "steps", None)
    sides = [n for n in (runner.clauses[i][0], runner.clauses[i][2]) if n in runner.state_names]
    if steps and not sides:
        return "floor", {}  # the clause compares what is made of updated variables that have come to rest
    if steps is None or not any(n in steps for n in sides):
        return "clause-invariant", {}
    step = next(steps[n] for n in sides if n in steps)
    return ("absorbed", {"step": step}) if step else ("no-effect", {})


def _blocking(values: list[tuple[Any, str, Any]], logic: str) -> int:
    """Index of the clause that keeps the condition true."""
    for i, (lhs, op, rhs) in enumerate(values):
        sign = NAMES.get(op, op)
        try:
            if sign in OPS and bool(OPS[sign](lhs, rhs)) != (logic == "not"):
                return i
        except ValueError:
            continue
    return 0
