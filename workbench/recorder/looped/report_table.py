"""The numbers of a report as a table, and as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.recorder.looped.courses import TokenCourse
from workbench.text import number

#: maximum rows of the table in a text
ROWS = 12


def table_of(report: Any) -> list[dict[str, Any]]:
    """A row for each state: medians over the tokens, the gate's mean, and the loss."""
    paths, rows = report.paths, []
    for k in range(len(paths.states)):
        loop = k + paths.begins
        row: dict[str, Any] = {"loop": loop, "norm": _median(paths.norms[k])}
        row["step"] = _median(paths.steps[k - 1]) if k else None
        row["cosine"] = _median(paths.cosines[k - 1]) if k else None
        row["to_end"] = _median(paths.to_end[k])
        if report.gate is not None:
            row["gate"] = float(report.gate.values[loop - 1].mean()) if 1 <= loop <= len(report.gate.values) else None
        if report.losses is not None:
            row["loss"] = float(report.losses[loop - 1]) if loop >= 1 else None
        rows.append(row)
    return rows


def vars_of(course: TokenCourse) -> dict[str, Any]:
    """A course as plain data."""
    names = ("since", "period", "rate", "turn", "left")
    return {"label": course.course.name} | {name: getattr(course, name) for name in names}


def _median(values: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float(np.median(values))


def plain_data(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain_data(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def table_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The rows as text; only the first and the last of many."""
    names = list(rows[0])
    shown: list[Any] = rows if len(rows) <= ROWS else [*rows[: ROWS // 2], None, *rows[-ROWS // 2 :]]
    cells = [
        ["..."] * len(names) if r is None else ["" if r[n] is None else number(r[n], 4) for n in names] for r in shown
    ]
    titles = [name.replace("_", " ") for name in names]
    widths = [max(len(t), *(len(row[k]) for row in cells)) for k, t in enumerate(titles)]
    return ["  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True)) for row in [titles, *cells]]
