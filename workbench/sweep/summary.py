"""A sweep in words and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import TraceError
from workbench.libraries import needed
from workbench.sweep.chunk import OUTCOME_ORDER
from workbench.text import facts_html

if TYPE_CHECKING:
    from workbench.sweep.result import Sweep

#: maximum number of failures in the text
FAILURES = 3


def counts_of(sweep: Sweep) -> dict[str, int]:
    """Number of points of each outcome that occurs."""
    outcome = sweep["outcome"]
    wanted = outcome[sweep.wanted]
    counts = {name: int((wanted == name).sum()) for name in OUTCOME_ORDER}
    return {name: n for name, n in counts.items() if n}


def facts(sweep: Sweep) -> list[tuple[str, str]]:
    """(label, value) pairs of a sweep."""
    found = [("state", sweep.state)]
    for name, column in sweep.points.items():
        found.append((name, span(column)))
    for name, n in counts_of(sweep).items():
        found.append((name, f"{n:,} of {int(sweep.wanted.sum()):,} points"))
    ended = sweep["outcome"] == "ended"
    if sweep.problem.loop is not None and ended.any():
        counts = sweep["iterations"][ended]
        found.append(("iterations", f"{counts.min():,} to {counts.max():,}, median {np.median(counts):,.0f}"))
    for name, column in sweep.columns.all.values.items():
        alive = ended & sweep.columns.all.alive[name]
        if column.ndim == 1 and column.dtype.kind in "iuf" and alive.any():
            found.append((name, span(column[alive])))
    for k, failure in list(sweep.failures.items())[:FAILURES]:
        found.append((f"point {k:,} failed", str(failure)))
    return found


def span(column: np.ndarray) -> str:
    """The range of a column of numbers, and the number of non-finite ones."""
    if column.ndim > 1 or column.dtype.kind not in "biuf":
        return f"{column.dtype}{list(column.shape[1:])}"
    with np.errstate(all="ignore"):
        finite = column[np.isfinite(column.astype(np.float64))]
    if not len(finite):
        return "no finite number"
    bad = len(column) - len(finite)
    return f"{finite.min():.6g} to {finite.max():.6g}" + (f", {bad:,} not finite" if bad else "")


def summary_text(sweep: Sweep) -> str:
    """The whole summary as lines of text."""
    lines = facts(sweep)
    width = max(len(name) for name, _ in lines)
    return "\n".join([repr(sweep).strip("<>"), *(f"  {name:<{width}}  {value}" for name, value in lines)])


def summary_html(sweep: Sweep) -> str:
    """The whole summary as a table."""
    return facts_html(repr(sweep).strip("<>"), facts(sweep))


def arrow_table(sweep: Sweep) -> Any:
    """All columns as a pyarrow Table. Items of arrays and series are lists of fixed size; numbers that were not
    computed are null."""
    pyarrow, compute = needed("pyarrow", error=TraceError), needed("pyarrow.compute", error=TraceError)
    made = {}
    for name in sweep.names:
        column = arrow_column(sweep[name])
        if column_of_numbers(column) and name not in sweep.points:
            column = compute.if_else(pyarrow.array(sweep.computed(name)), column, None)
        made[name] = column
    return pyarrow.table(made)


def column_of_numbers(column: Any) -> bool:
    """True if an Arrow column, one of single numbers, can have null entries."""
    pyarrow = needed("pyarrow", error=TraceError)
    kinds = (pyarrow.types.is_integer, pyarrow.types.is_floating, pyarrow.types.is_boolean)
    return any(kind(column.type) for kind in kinds)


def arrow_column(column: np.ndarray) -> Any:
    """One column for Arrow. Numbers that Arrow lacks become their bytes."""
    pyarrow = needed("pyarrow", error=TraceError)
    if column.dtype.kind == "O":
        return pyarrow.array([v if v is None or isinstance(v, str) else str(v) for v in column], pyarrow.string())
    if column.dtype.kind == "U":
        return pyarrow.array(column.tolist(), pyarrow.string())
    if column.dtype.kind not in "biuf":
        raw = np.ascontiguousarray(column).reshape(len(column), -1).view(np.uint8)
        return pyarrow.array([row.tobytes() for row in raw], pyarrow.binary(raw.shape[1] if len(raw) else -1))
    if column.ndim == 1:
        return pyarrow.array(column)
    flat = pyarrow.array(np.ascontiguousarray(column).reshape(-1))
    return pyarrow.FixedSizeListArray.from_arrays(flat, int(np.prod(column.shape[1:])))
