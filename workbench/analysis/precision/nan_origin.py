"""``nan_origin``: the node, iteration and operand from which the first NaN of a run originates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.analysis.precision.nan_search import NanSearch
from workbench.analysis.precision.result import NanOrigin
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.aligned_columns import trace_of

_KINDS = ("nan", "inf")


def nan_origin(source: Any, *, kind: str | None = None, ignore: str | Iterable[str] = ()) -> NanOrigin | None:
    """Find the node, iteration and operand from which the first NaN or infinity of a run originates.

    Every recorded firing is searched, a block at a time. If earlier rows were dropped, a session recomputes them: the
    first iteration in which a loop variable is bad is then found by bisection, which assumes that it stays bad.

    Parameters
    ----------
    source : Session or Trace
        The run, at any stop.
    kind : {"nan", "inf"}, optional
        Search for these only; by default for NaN, and for infinities if there is no NaN.
    ignore : str or iterable of str, default ()
        Names or patterns (``"mask*"``) of nodes, values or ops whose NaN and infinities are expected. A node that only
        passes them on is not an origin either.

    Returns
    -------
    NanOrigin or None
        None if all values are finite.

    Raises
    ------
    WorkbenchError
        For any other kind (``bad-kind``), or anything but a session or a trace (``no-trace``).

    Examples
    --------
    >>> b = wb.GraphBuilder("roots")
    >>> x = b.while_loop(lambda x: x > -3.0, lambda x: x - b.sqrt(x), {"x": b.placeholder("start")})
    >>> with wb.Session(b.build(x), {"start": 0.5}) as roots:
    ...     roots.run()
    ...     found = wb.nan_origin(roots)
    <Stop FINISHED: ...>
    >>> found.op, found.iteration, found.responsible.name
    ('sqrt', (1,), ...)
    """
    if kind is not None and kind not in _KINDS:
        raise WorkbenchError(
            f"nan_origin: kind must be 'nan' or 'inf', got {kind!r}.", slug="bad-kind", fix='give kind="nan" or "inf".'
        )
    trace = trace_of(source)
    patterns = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    session = source if hasattr(source, "value") else None
    for wanted in _KINDS if kind is None else (kind,):
        found = NanSearch(trace, wanted, patterns, session).run()
        if found is not None:
            return found
    return None


def origin_of(trace: Trace, ref: Ref) -> NanOrigin | None:
    """The origin of one value whose newest firing is NaN or infinite: the chain of :func:`nan_origin` from there."""
    found = (NanSearch(trace, kind, ()).newest(ref) for kind in _KINDS)
    return next((origin for origin in found if origin is not None), None)
