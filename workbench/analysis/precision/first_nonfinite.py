"""``first_nonfinite``: the answer about NaN and infinities that card, pane, terminal and report share.

It is :func:`~workbench.analysis.precision.nan_origin` with a headline, cached for each state of a trace, so that it is
computed once and all screens show the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.analysis.diff.trace_side import TraceSide
from workbench.analysis.precision.block_scan import bad_firings
from workbench.analysis.precision.nan_origin import nan_origin
from workbench.analysis.precision.result import NanOrigin
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.aligned_columns import trace_of

_State = tuple[Any, ...]
_known: WeakKeyDictionary[Trace, tuple[_State, NanOrigin | None]] = WeakKeyDictionary()


def first_nonfinite(source: Any, *, recompute: bool = True) -> NanOrigin | None:
    """Find the origin of the first NaN, or of the first infinity if there is no NaN, with its ``headline``.

    Parameters
    ----------
    source : Session or Trace
        The run.
    recompute : bool, default True
        Whether a session may recompute values that are no longer kept; not while it runs in another thread.

    Returns
    -------
    NanOrigin or None
        None if all values are finite.
    """
    trace = trace_of(source)
    state = trace.source.revision, len(trace.edits()), trace.source.partial
    known = _known.get(trace)
    if known is not None and known[0][:3] == state and (known[0][3] or not recompute or source is trace):
        return known[1]
    found = nan_origin(source if recompute else trace)
    if found is not None and not found.headline:
        found = replace(found, headline=_headline(trace, found))
    if trace.source.revision == state[0]:  # else the run has continued in the meantime
        _known[trace] = (*state, recompute and source is not trace), found
    return found


def _headline(trace: Trace, found: NanOrigin) -> str:
    """A sentence such as ``loss has been NaN since iteration 2``, about the first bad loop variable, scalars first."""
    side, test = TraceSide(trace, "run"), np.isnan if found.kind == "nan" else np.isinf
    best: tuple[tuple[bool, tuple[int, ...]], str, tuple[int, ...]] | None = None
    for path, frame in trace.graph.frames.items():
        for name, variable in zip((v.name for v in frame.variables), frame.variables, strict=True):
            ref = Ref(variable.merge, 0)
            column = side.column(ref)
            at = None if column is None else next(bad_firings(column, test), None)
            if column is None or at is None:
                continue
            its = column.iterations()
            iteration = () if its is None else tuple(its[at].tolist())
            key = bool(trace.graph.nodes[ref.node].types[0].shape), column.order(iteration)
            if path and (best is None or key < best[0]):
                best = key, name, iteration
    kind = "NaN" if found.kind == "nan" else "infinite"
    if best is not None:
        return f"{best[1]} has been {kind} since iteration {', '.join(map(str, best[2]))}"
    if not found.iteration:
        return ""
    return f"{found.name} is {kind} in iteration {', '.join(map(str, found.iteration))}"


__all__ = ["first_nonfinite"]
