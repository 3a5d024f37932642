"""Inputs of a comparison: a session, a trace, the path of a saved trace, a record, or arrays by value name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from workbench.analysis.diff.external_record import Record, RecordSide
from workbench.analysis.diff.side import Side
from workbench.analysis.diff.trace_side import TraceSide
from workbench.errors import WorkbenchError
from workbench.trace import Trace


def side_of(source: Any, label: str) -> Side:
    """One side of a comparison; WorkbenchError (slug ``not-comparable``) for anything else."""
    if isinstance(source, str | os.PathLike):
        return TraceSide(Trace.load(source), label)
    if isinstance(source, Record):
        return RecordSide(source)
    if isinstance(source, Mapping):
        return RecordSide(Record(label, source))
    whole = getattr(source, "whole_trace", None)  # a session recomputes values that its trace has dropped
    found = getattr(source, "trace", source) if whole is None else whole()
    if isinstance(found, Trace):
        return TraceSide(found, label)
    raise WorkbenchError(
        f"A {type(source).__name__} cannot be compared with a run.",
        slug="not-comparable",
        fix="give a session, a trace, the path of a saved trace, a record of wb.run_with, or a mapping of value names "
        "to arrays.",
    )
