"""A clause as a user would write it: its sides, the item of an array that is looked at, and its numbers."""

from __future__ import annotations

from workbench.analysis.root_cause.expressions import turned
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.root_cause.suspect import Suspect, sides
from workbench.analysis.text import apart


def clause_text(found: LoopSamples, worst: Suspect, ends: bool = False) -> str:
    """The clause as the graph has it, with its operands' values at the end of what is known."""
    leaf = worst.leaf
    left, right = worst.values.late_x, worst.values.late_t
    a, b = sides(found.loop, worst)
    if worst.mirrored:
        left, right, a, b = right, left, b, a
    op = turned(leaf.op, False, leaf.negated)
    c, d = apart(left[-1], right[-1])
    return f"{a} {op} {b} ({c} {op} {d})"


__all__ = ["clause_text"]
