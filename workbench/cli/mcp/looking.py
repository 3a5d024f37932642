"""Tools that look at a run: values, reasons, the first NaN, differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.diff import diff
from workbench.analysis.live.label import label_of
from workbench.analysis.precision import nan_origin
from workbench.cli.mcp.answers import ToolError, tool
from workbench.cli.mcp.held import held, session_of
from workbench.session import Session

#: newest values of a variable in an answer
NEWEST = 40


@tool
def workbench_value(run: int, name: str, iteration: int | None = None) -> Any:
    """A value by name, now or in an iteration: itself if it is small, else its shape, range, NaN count.

    For a value in a loop the answer has the newest values by iteration, and the label of its evolution (CONVERGING,
    DIVERGING, OSCILLATING, STABLE, CHAOTIC, UNKNOWN) with the reason.
    """
    source = held(run)
    trace = source.trace if isinstance(source, Session) else source
    series = trace[name]
    if iteration is not None and isinstance(source, Session):
        return {"name": name, "iteration": iteration, **_described(source.value(name, iteration))}
    paths = series.iterations
    if not len(paths):
        raise ToolError(f"{name} has no value yet.", slug="no-value", fix="call workbench_run or workbench_step.")
    if iteration is not None:
        at = np.flatnonzero(paths.reshape(len(paths), -1)[:, -1] == iteration)
        if not len(at):
            raise ToolError(
                f"{name} has no value in iteration {iteration}.", slug="no-value", fix="ask for another one."
            )
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


def _described(value: Any) -> dict[str, Any]:
    """A value: itself where it is small, and of an array its shape, range and what is not finite."""
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
    """The claims about a loop alone: kind, sentence, and the data from which each was checked."""
    told = session_of(run).termination(loop or None).table()
    return {name: told[name] for name in ("status", "outcome", "claims")}


@tool
def workbench_nan(run: int) -> Any:
    """The node, iteration and operand that made the first NaN of what was run so far, or the first infinity."""
    found = nan_origin(held(run))
    if found is None:
        return {"found": False, "text": "All recorded values are finite."}
    return {"found": True, "text": str(found), **found.to_data()}


@tool
def workbench_diff(run: int, other: int, rtol: float = 0.0, atol: float = 0.0) -> Any:
    """The first difference between two runs, by node, loop and iteration; run both first."""
    found = diff(held(run), held(other), rtol=float(rtol), atol=float(atol))
    return {"text": str(found), **found.to_data()}
