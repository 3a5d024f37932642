"""The first NaN of a run: which op made it, in which iteration, out of which operand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.analysis.columns import trace_of
from workbench.analysis.origins.nan_search import Search
from workbench.analysis.origins.told import NanOrigin
from workbench.errors import WorkbenchError

_KINDS = ("nan", "inf")


def nan_origin(source: Any, *, kind: str | None = None, ignore: str | Iterable[str] = ()) -> NanOrigin | None:
    """Where the first NaN of a run came from; the first infinity if there is no NaN; None if all is finite.

    Parameters
    ----------
    source:
        A session or a trace, at any stop.
    kind:
        ``"nan"`` or ``"inf"``, to look for that alone.
    ignore:
        Names or patterns (``"mask*"``) of nodes, values or ops whose NaN and infinities are expected. What only passes
        theirs on is no origin either.

    Every recorded firing is looked at, a block at a time. Where what came before is no longer kept, a session
    recomputes it: the first iteration in which a loop variable is bad is found by halving, taken that it stays so.

    >>> found = wb.nan_origin(session)
    >>> found.node, found.iteration, found.guilty
    """
    if kind is not None and kind not in _KINDS:
        raise WorkbenchError(
            f"nan_origin looks for 'nan' or 'inf', {kind!r} came.", slug="bad-kind", fix='give kind="nan" or "inf".'
        )
    trace = trace_of(source)
    patterns = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    session = source if hasattr(source, "value") else None
    for wanted in _KINDS if kind is None else (kind,):
        found = Search(trace, wanted, patterns, session).run()
        if found is not None:
            return found
    return None
