"""Tools that inspect a run: values, reasons, the first NaN, differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.diff import diff
from workbench.analysis.live.label import label_of
from workbench.analysis.precision import nan_origin
from workbench.cli.mcp.answers import ToolError, tool
from workbench.cli.mcp.held import held, session_of
from workbench.errors import TraceError
from workbench.session import Session
from workbench.text import similar_names

#: newest values of a variable in an answer
NEWEST = 40
#: rows of a comparison in an answer, and names in a refusal
ROWS, NAMED = 10, 20


@tool
def workbench_value(run: int, name: str, iteration: int | None = None) -> Any:
    """A value by name, now or in an iteration: itself if it is small, else its shape, range, NaN count.

    For a value in a loop the answer has the newest values by iteration, and the label of its evolution (CONVERGING,
    DIVERGING, OSCILLATING, STABLE, CHAOTIC, UNKNOWN) with the reason.
    """
    source = held(run)
    trace = source.trace if isinstance(source, Session) else source
    series = _series(trace, name)
    paths = series.iterations
    if not len(paths):
        raise ToolError(f"{name} has no value yet.", slug="no-value", fix="call workbench_run or workbench_step.")
    if iteration is not None:
        if isinstance(source, Session):
            try:  # also for a row that the trace dropped, which is recomputed
                return {"name": name, "iteration": iteration, **_described(source.value(name, iteration))}
            except TraceError as error:
                raise ToolError(error.message, slug=error.slug, fix=_other(series)) from None
        at = np.flatnonzero(paths.reshape(len(paths), -1)[:, -1] == iteration)
        if not len(at):
            raise ToolError(f"{name} has no value in iteration {iteration}.", slug="no-value", fix=_other(series))
        return {"name": name, "iteration": iteration, **_described(series.values[int(at[-1])])}
    answer = {"name": name, "count": len(paths), **_described(series.values[-1])}
    if paths.ndim == 2 and paths.shape[1]:
        newest = [np.asarray(v) for v in series.values[-NEWEST:]]
        answer["iteration"] = paths[-1].tolist()
        if all(v.size == 1 for v in newest):
            answer["newest"] = [
                [int(p[-1]), v.reshape(-1)[0].item()] for p, v in zip(paths[-NEWEST:], newest, strict=True)
            ]
        if newest and newest[0].dtype.kind in "biuf" and newest[0].size == 1:
            answer["evolution"] = label_of(trace, name).table()
    return answer


def _series(trace: Any, name: str) -> Any:
    """The series of a value; an unknown name is refused with a list of known names."""
    try:
        return trace[name]
    except TraceError as error:
        if error.slug != "unknown-value":
            raise
        graph = trace.graph
        known = list(dict.fromkeys([*graph.names, *graph.inputs, *graph.outputs]))[:NAMED]
        near = similar_names(name, [*known, *graph.nodes])
        fix = f"ask for one of {', '.join(dict.fromkeys([*near, *known]))}, or for a node that an answer names."
        raise ToolError(error.message, slug=error.slug, fix=fix) from None


def _other(series: Any) -> str:
    """The iterations that a refusal suggests instead of one without a value."""
    paths = series.iterations
    if paths.ndim != 2 or not paths.shape[1]:
        return "ask without an iteration: the value is not in a loop."
    ends = paths[[0, -1]].tolist()
    first, last = (", ".join(map(str, path)) for path in ends)
    return f"ask for an iteration from {first} to {last}, or run further."


def _described(value: Any) -> dict[str, Any]:
    """A value in full if it is small, and for an array also its shape, range and counts of NaN and infinities."""
    array = np.asarray(value)
    if array.size <= 16:
        return {"dtype": str(array.dtype), "shape": list(array.shape), "value": array}
    facts: dict[str, Any] = {"dtype": str(array.dtype), "shape": list(array.shape)}
    if array.dtype.kind in "fiub":
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        facts |= {"not_finite": int(array.size - finite.size), "zeros": int((array == 0).sum())}
        if finite.size:
            facts |= {"least": finite.min(), "largest": finite.max(), "mean": float(finite.mean(dtype=np.float64))}
    return facts | {"first_items": array.reshape(-1)[:16]}


@tool
def workbench_why(run: int, loop: str = "") -> Any:
    """Why a loop ends, will end, or never ends, from the current position: status, reason, proof, claims, fixes.

    PROVED answers are certain, PREDICTED ones have a confidence. Each claim was recomputed from values.
    """
    answer = session_of(run).termination(loop or None)
    return {"verdict": str(answer), **answer.table()}


@tool
def workbench_claims(run: int, loop: str = "") -> Any:
    """Only the claims about a loop: kind, sentence, and the data that each was checked with."""
    table = session_of(run).termination(loop or None).table()
    return {name: table[name] for name in ("status", "outcome", "claims")}


@tool
def workbench_nan(run: int) -> Any:
    """The node, iteration and operand that produced the first NaN so far; the first infinity if there is no NaN."""
    found = nan_origin(held(run))
    if found is None:
        return {"found": False, "text": "All recorded values are finite."}
    return {"found": True, "text": str(found), **found.to_data()}


@tool
def workbench_diff(run: int, other: int, rtol: float = 0.0, atol: float = 0.0) -> Any:
    """The first difference between two runs, by node, loop and iteration; run both first.

    The answer has the first ten values that differ as rows, and the number of the others.
    """
    labels = (f"run {run}", f"run {other}")
    found = diff(held(run), held(other), rtol=float(rtol), atol=float(atol), labels=labels)
    facts = found.to_data()
    rows = facts["rows"]
    facts["rows"] = [_lean(row) for row in rows[:ROWS]]
    return {"text": str(found), **facts, "rows_left_out": len(rows[ROWS:])}


def _lean(row: dict[str, Any]) -> dict[str, Any]:
    """A row without empty entries, and without the second of two equal names or lines."""
    same = {b for a, b in (("name", "other"), ("source", "other_source")) if row[a] == row[b]}
    return {k: v for k, v in row.items() if k not in same and v is not None and v != "" and v != []}
