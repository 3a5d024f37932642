"""Tools for many runs: sweeps of an input, and logs of finished runs."""

from __future__ import annotations

import argparse
import threading
from typing import Any

import numpy as np

from workbench.cli.log.command import clause
from workbench.cli.mcp.answers import ToolError, tool
from workbench.cli.mcp.folders import readable
from workbench.cli.mcp.held import session_of
from workbench.recorder.logs import read_log
from workbench.sweep import sweep

#: maximum points of a sweep, and maximum seconds
MOST_POINTS, SECONDS = 2_000, 60.0
#: maximum items in the answer for one point, and of each output
MOST_ITEMS = 64


@tool
def workbench_sweep(run: int, name: str, values: list, collect: list | None = None) -> Any:
    """Run the model for each value of one input, with the others fixed: outcome, iterations, small outputs by point.

    collect: additional data to keep, such as "x[-4:]" for the newest values of a variable or "label" for how it
    evolved.
    """
    session = session_of(run)
    if not 1 <= len(values) <= MOST_POINTS or not all(isinstance(v, int | float) for v in values):
        raise ToolError(f"values must be 1 to {MOST_POINTS:,} numbers.", fix="pass values=[0.1, 0.2, 0.5].")
    inputs = {given: value for given, value in session.inputs.items() if given.removesuffix(":0") != name}
    small = [output for output, ref in session.graph.outputs.items() if session.graph.type_of(ref).shape == ()]
    wanted = list(dict.fromkeys([*small, *map(str, collect or ())]))
    found = sweep(session.graph, {name: np.asarray(values)}, inputs=inputs, collect=wanted, wait=False)
    limit = threading.Timer(SECONDS, found.cancel)
    limit.daemon = True
    limit.start()
    try:
        found.wait()
    finally:
        limit.cancel()
    columns = {column: found[column] for column in found.names if found[column][:1].size <= MOST_ITEMS}
    rows = [{name: values[k], **{c: column[k] for c, column in columns.items()}} for k in range(len(values))]
    computed = [c for c in columns if c in session.graph.outputs and c != name]
    for row in rows:
        if row["outcome"] not in ("ended", "not finite"):  # a point that did not end has no outputs
            row.update(dict.fromkeys(computed))
    return {"state": found.state, "rows": rows}


@tool
def workbench_log(path: str, until: list | None = None, pattern: str | None = None) -> Any:
    """Read the log of a finished run (CSV, trainer_state.json, JSON lines, TensorBoard's events, lines of text).

    The answer has the first NaN or infinity with its step, the label of each variable, and with until, such as ["loss <
    0.1"], whether and when that was or would have been reached. pattern: a regular expression for lines of text.
    """
    try:
        clauses = dict(clause(str(text)) for text in until or [])
    except argparse.ArgumentTypeError as error:
        raise ToolError(f"until: {error}.", fix='pass until=["loss < 0.1"].') from None
    log = read_log(readable(path), until=clauses or None, pattern=pattern)
    return {"text": log.report(), **log.data()}
