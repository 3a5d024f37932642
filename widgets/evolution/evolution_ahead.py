"""The look-ahead as lines of the evolution view, and the iteration of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.evolution.evolution_lines import curves_of, statistics_of
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.loop_names import loop_name
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.session import Session

Path = tuple[str, ...]
#: the look-ahead is drawn up to so many times the computed part, and so many iterations; beyond ``LONG`` of both only
#: if it reaches the end
NEAR, LONG = (1.5, 16), (20.0, 1000)


def ahead_of(session: Session | None, path: Path, outer: tuple[int, ...] | None, running: bool) -> Any:
    """The session's look-ahead of a loop, for the activation shown; None if there is none."""
    if session is None or running or not path or session.state == "closed":
        return None
    try:
        found = session.look_ahead(path)
    except WorkbenchError:
        return None
    return None if found is None or (len(path) > 1 and found.outer != outer) else found


def drawn_part(iterations: np.ndarray, end: int | None, last: float) -> slice:
    """The iterations drawn: all to the end, unless the computed part would shrink to a dot."""
    share, more = LONG if end is not None else NEAR
    far = share * last + more
    if len(iterations) and iterations[-1] <= far:
        return slice(None)
    return slice(0, int(np.searchsorted(iterations, NEAR[0] * last + NEAR[1], side="right")))


def with_ahead(lines: list[dict[str, Any]], found: Any, graph: Graph, statistics: bool, log: bool) -> None:
    """Add ``ahead`` (x, y) to the lines with a look-ahead."""
    last = max((float(line["x"][-1]) for line in lines if len(line["x"])), default=0.0)
    part = drawn_part(found.iterations, found.end, last)
    known: dict[str, Mapping[str, np.ndarray]] = {}
    for line in lines:
        if line["of"] not in known:
            column = None
            try:
                column = found.of(str(graph.value(line["of"])))
            except (WorkbenchError, KeyError):
                pass
            shapes = statistics_of if statistics else curves_of
            known[line["of"]] = {} if column is None else {"x": column[0][part], **shapes(column[1][part])}
        values = known[line["of"]]
        if line["suffix"] in values and len(values["x"]):
            x, y = values["x"].astype(np.float64), values[line["suffix"]]
            new = x > (line["x"][-1] if len(line["x"]) else -1.0)
            y = np.abs(y) if log else y
            line["ahead"] = (x[new], np.where(np.isfinite(y), y, np.nan)[new])


def lines_ahead(names: list[str], found: Any, graph: Graph, log: bool) -> list[dict[str, Any]]:
    """Lines with a look-ahead only, before the first step."""
    lines: list[dict[str, Any]] = []
    for name in names:
        try:
            column = found.of(str(graph.value(name)))
        except (WorkbenchError, KeyError):
            continue
        for suffix in {} if column is None else curves_of(column[1]):
            kind, own = column[1].dtype.kind, short_name(name).removesuffix(":0")
            lines.append(
                {
                    "name": own + suffix,
                    "head": own,
                    "number": len(lines),
                    "of": name,
                    "suffix": suffix,
                    "width": max(1, column[1][0].size),
                    "x": np.empty(0),
                    "y": np.empty(0),
                    "bad": None,
                    "bad_count": 0,
                    "bad_last": -1.0,
                    "bool": kind == "b",
                    "whole": kind in "iu" and suffix in ("", " max", " min"),
                    "last": None,
                    "count": 0,
                }
            )
    return lines


def now_of(snapshot: Any, path: Path, outer: tuple[int, ...] | None, lines: list[dict[str, Any]]) -> float | None:
    """The current iteration, or the last computed one; None before the first."""
    last = max((float(line["x"][-1]) for line in lines if len(line["x"])), default=None)
    counts = getattr(snapshot, "iterations", None) or {}
    at = counts.get(path, -1)
    around = tuple(counts.get(path[: k + 1], -1) for k in range(len(path) - 1))
    if at is not None and at >= 0 and (len(path) < 2 or outer == around):
        return float(at) if last is None else max(float(at), last)
    return last


def iteration_words(graph: Graph, path: Path, iteration: int, named: bool) -> str:
    """``iteration 5``, or ``inner: iteration 5`` if there are several loops; "" outside loops."""
    if not path:
        return ""
    return (f"{loop_name(graph, path)}: " if named else "") + f"iteration {numeral(iteration)}"


def end_words(end: int) -> str:
    """The label at the proved end of a loop."""
    return f"ends in iteration {numeral(end)}: proved"
