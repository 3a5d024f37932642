"""The firings of a trace that have changed since the last call: after new inputs, an edit, or steps back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.trace.incremental_reader import IncrementalReader

if TYPE_CHECKING:
    from workbench.trace import Trace


class Rewritten:
    """Keeps the state of the rows of a trace at the last call of ``since``."""

    def __init__(self) -> None:
        self._known: tuple[Any, int, tuple[Any, ...]] | None = None

    def since(self, trace: Trace | None, series: Sequence[Any], reached: float) -> float:
        """The first iteration, up to ``reached``, in which series of a loop may have other values than at the last
        call; 0 for nested loops, whose firings are numbered consecutively, and infinity if nothing was rewritten.
        """
        if trace is None:
            return math.inf
        source, edits = trace.source, tuple(trace.edits())
        revision = source.revision
        known, self._known = self._known, (source, revision, edits)
        if known is None:
            return math.inf
        if known[0] is not source:
            return 0.0
        same = len(edits) == len(known[2]) and all(a is b for a, b in zip(edits, known[2], strict=True))
        if same and revision == known[1]:
            return math.inf
        if any(len(s.frame) != 1 for s in series):
            return 0.0
        rows = [IncrementalReader(trace, trace.ref(s.name)).changed_from(known[1]) for s in series]
        # row 0 leads into the loop, and an edited value belongs to the iteration in progress
        return max(0.0, min([*(row - 2 for row in rows), math.inf if same else reached - 2]))
