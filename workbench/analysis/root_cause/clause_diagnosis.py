"""One comparison that keeps a loop running, seen from the side that moves, with its known values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.root_cause.attribution import BlockingComparison
from workbench.analysis.root_cause.expressions import expression, written
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.ir.node import Node, Ref

if TYPE_CHECKING:
    from workbench.analysis.root_cause.clause_view import Cause

#: flags that the capture of Python functions creates, not the user
SYNTHETIC = frozenset(("break", "continue", "returned", "asserted"))


@dataclass
class ClauseValues:
    """Operands of ``x op t``: ``early`` from the first known evaluation on, ``late`` at the end of the look-ahead."""

    early_x: np.ndarray
    early_t: np.ndarray
    late_x: np.ndarray
    late_t: np.ndarray


@dataclass
class ClauseDiagnosis:
    """One clause as ``moving op still``, seen from the side that moves, with the facts known about it.

    ``item`` is the index of the diagnosed item if arrays are compared; ``swinger`` the variable with a step that
    depends on itself, and ``factor`` the factor of that step. ``look`` finds the cause on demand.
    """

    leaf: BlockingComparison
    moving: Ref
    still: Any
    op: str
    mirrored: bool
    root: list[str]
    values: ClauseValues
    iterations: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    factor: Node | None = None
    swinger: str | None = None
    item: tuple[int, ...] | None = None
    look: Callable[[ClauseDiagnosis], Cause] | None = None

    @cached_property
    def cause(self) -> Cause:
        assert self.look is not None
        return self.look(self)

    @property
    def ends_in_nan(self) -> bool:
        """True if a side is NaN in the last known iteration."""
        return any(isinstance(v, np.floating) and np.isnan(v) for v in (self.values.late_x[-1], self.values.late_t[-1]))

    @property
    def approaches(self) -> bool:
        """True if the distance between the sides never grows in the known values, and is smaller at their end."""
        v = self.values
        gaps = [np.abs(x.astype(np.float64) - t) for x, t in ((v.early_x, v.early_t), (v.late_x, v.late_t))]
        return bool(np.all(np.diff(np.concatenate(gaps)) <= 0) and gaps[0][0] > gaps[1][-1])

    def at_the_end(self, found: LoopSamples) -> np.ndarray:
        """Iterations of the late values."""
        its = found.at_the_end(self.moving)[0] if isinstance(self.moving, Ref) else self.iterations
        if isinstance(self.still, Ref):
            its = np.intersect1d(its, found.at_the_end(self.still)[0])
        return its if len(its) == len(self.values.late_x) else self.iterations[-len(self.values.late_x) :]

    def factor_value(self, found: LoopSamples) -> float | None:
        """The factor of the step as a number, if it is a constant or an input."""
        if self.factor is None:
            return None
        value = self.factor.attrs.get("value") if self.factor.op == "Const" else None
        if value is None and found.runner is not None:
            value = found.runner.feeds.get(self.factor.name)
        return float(np.asarray(value).reshape(-1)[0]) if value is not None and np.size(value) == 1 else None


def is_written(flag: str) -> bool:
    """True if the user named the flag."""
    return flag.split("/")[-1].rstrip("'0123456789_") not in SYNTHETIC


def sides(loop: LoopDependencies, diagnosis: ClauseDiagnosis) -> tuple[str, str]:
    """The side that moves and the other side, as a user would write them."""
    source = written(loop, diagnosis.leaf.node)
    if source is not None:
        x, t = (source[2], source[0]) if diagnosis.mirrored else (source[0], source[2])
    else:
        x, t = expression(loop, diagnosis.moving), expression(loop, diagnosis.still)
    return item_text(loop, diagnosis, diagnosis.moving, x), item_text(loop, diagnosis, diagnosis.still, t)


def item_text(loop: LoopDependencies, diagnosis: ClauseDiagnosis, ref: Any, text: str) -> str:
    """The diagnosed item of an array, as in ``v[2]``; any other text unchanged."""
    shape = loop.graph.type_of(ref).shape if isinstance(ref, Ref) else None
    if not shape or diagnosis.item is None or len(shape) != len(diagnosis.item):
        return text
    whole = text if text.isidentifier() or text.endswith((")", "]")) and " " not in text else f"({text})"
    return f"{whole}[{', '.join(map(str, diagnosis.item))}]"


__all__ = ["ClauseValues", "ClauseDiagnosis", "is_written", "item_text", "sides"]
