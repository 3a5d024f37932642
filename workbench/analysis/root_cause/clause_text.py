"""A clause as a user would write it: its sides, the item of an array that is looked at, and its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.root_cause.blocking_clauses import Suspect
from workbench.analysis.root_cause.expressions import expression, turned, written
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.text import shown
from workbench.ir.node import Ref


def clause_text(found: LoopSamples, worst: Suspect, ends: bool = False) -> str:
    """The clause as the graph has it, with its operands' values at the end of what is known."""
    leaf = worst.leaf
    left, right = worst.facts.late_x, worst.facts.late_t
    a, b = sides(found, worst)
    if worst.mirrored:
        left, right, a, b = right, left, b, a
    op = turned(leaf.op, False, leaf.negated)
    c, d = shown(left[-1]), shown(right[-1])
    if c == d and op in ("!=", "<", ">") and isinstance(left[-1], np.floating) and left[-1] != right[-1]:
        c, d = str(left[-1]), str(right[-1])  # they differ in a digit that is not shown else
    return f"{a} {op} {b} ({c} {op} {d})"


def sides(found: LoopSamples, worst: Suspect) -> tuple[str, str]:
    """The side that moves and the other one, as a user would write them."""
    source = written(found.loop, worst.leaf.node)
    if source is not None:
        x, t = (source[2], source[0]) if worst.mirrored else (source[0], source[2])
    else:
        x, t = expression(found.loop, worst.moving), expression(found.loop, worst.still)
    return _item_of(found, worst, worst.moving, x), _item_of(found, worst, worst.still, t)


def _item_of(found: LoopSamples, worst: Suspect, ref: Any, text: str) -> str:
    """The item of an array that is looked at, ``v[2]``; anything else as it is."""
    shape = found.loop.graph.type_of(ref).shape if isinstance(ref, Ref) else None
    if not shape or worst.item is None or len(shape) != len(worst.item):
        return text
    whole = text if text.isidentifier() or text.endswith((")", "]")) and " " not in text else f"({text})"
    return f"{whole}[{', '.join(map(str, worst.item))}]"


__all__ = ["clause_text", "sides"]
