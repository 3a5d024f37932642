"""The first value of a run that is NaN or infinite, or an index out of range, as plain data for the toolbar's card."""

from __future__ import annotations

from typing import Any

from workbench.analysis.precision import IndexFault, NanOrigin, first_nonfinite, index_faults
from workbench.analysis.precision.wraps import Wrap, first_wrap
from workbench.errors import WorkbenchError
from workbench.text import printable
from workbench.trace.aligned_columns import MAX_FIRINGS
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.numerals import numeral, spaced
from workbench.widgets.values.nan_chain import chain_of

#: an infinity with which a run starts, as in a search for a minimum, is intended
STARTS = ("Const", "Placeholder", "Enter")
#: errors that may occur while reading a trace to which the session still writes
TROUBLE = (WorkbenchError, LookupError, ValueError, TypeError, ArithmeticError)


def health_model(session: Any) -> dict[str, Any]:
    """``text``, ``title``, ``operands``, ``node``, ``frame`` and ``iteration`` of the first value that is not finite,
    with the ``chain`` from its cause on; without one, of an index out of range, which JAX silently moves or drops, or
    of an integer that wrapped; without these, ``finite`` names the values that were searched. ``starts`` says that a
    run starts from an infinity, or that unsigned integers wrapped. Later infinities of such a run are not reported,
    because they may follow from the first one. Empty while nothing is known.

    Only recorded values are read, for each node the newest; without a record the result is empty.
    """
    try:
        origin = first_nonfinite(session, recompute=False)
        faults = index_faults(session, most=1) if origin is None else []
        wrap = first_wrap(session) if origin is None and not faults else None
        most = max(session.snapshot().iterations.values(), default=0)
    except TROUBLE:
        return {}
    whole = most < MAX_FIRINGS
    if faults:
        return _fault_model(faults[0])
    if wrap is not None:
        return _wrap_model(wrap)
    if origin is None:
        return {"finite": "in the recorded values" if whole else "in the newest recorded values"}
    if origin.kind == "inf" and origin.op in STARTS and not origin.edited:
        return {"starts": "The run starts from an infinity"}
    chain = chain_of(origin, session.graph)
    return {
        "text": health_text(origin, whole=whole),
        "title": spaced(printable(origin.headline.replace(origin.name, _name(origin.name)))),
        "operands": chain[-1]["formula"] + _where(origin),
        "chain": chain,
        "note": spaced(printable(origin.note)),
        "node": origin.node,
        "frame": list(origin.frame),
        "iteration": [int(i) for i in origin.iteration],
    }


def _wrap_model(wrap: Wrap) -> dict[str, Any]:
    """A wrap of a signed integer; those of unsigned ones are often intended, and reported without an alarm."""
    where = f" in iteration {numeral(wrap.iteration[-1])}" if wrap.iteration else ""
    operands = spaced(wrap.formula)
    if not wrap.signed:
        return {"starts": f"{_name(wrap.name)} wrapped in {wrap.dtype}{where}"}
    return {
        "text": f"First wrap of {wrap.dtype}: {_name(wrap.name)}{where}, {operands}",
        "operands": operands,
        "node": wrap.node,
        "frame": list(wrap.frame),
        "iteration": list(wrap.iteration),
    }


def _fault_model(fault: IndexFault) -> dict[str, Any]:
    where = f" in iteration {numeral(fault.iteration[-1])}" if fault.iteration else ""
    operands = spaced(f"{fault.index} where 0 to {fault.limit} are allowed: {fault.otherwise}")
    return {
        "text": f"Index out of range: {_name(fault.node)}{where}, {operands}",
        "operands": operands,
        "node": fault.node,
        "frame": list(fault.frame),
        "iteration": list(fault.iteration),
    }


def health_text(origin: NanOrigin, whole: bool = True) -> str:
    """``y has been NaN since iteration 9. First NaN: sqrt in iteration 8, sqrt(x = −0.35)``; not ``whole``: older
    values were dropped.
    """
    headline = f"{origin.headline}. " if origin.headline else ""
    return spaced(printable(headline + origin.short)) + ("" if whole or origin.edited else "; older ones are not kept")


def _where(origin: NanOrigin) -> str:
    """The iteration of the operands, after a headline with another one."""
    return f" in iteration {numeral(origin.iteration[-1])}" if origin.headline and origin.iteration else ""


def _name(name: str) -> str:
    return short_name(name).removesuffix(":0")
