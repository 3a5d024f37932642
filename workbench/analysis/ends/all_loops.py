"""The state of all loops of a run, and the exit status of the command that ran them."""

from __future__ import annotations

from typing import Any

from workbench.analysis.ends.how_it_ended import end_of_record
from workbench.analysis.standing import LoopEnd
from workbench.ir.frames.frame_tree import FramePath


def loop_ends(source: Any) -> dict[FramePath, LoopEnd]:
    """The end of each loop with a condition of a session or trace by its path, outer ones first."""
    trace = getattr(source, "trace", source)
    paths = dict.fromkeys(f.path for f in trace.layout.frames if f.path)
    with_condition = [p for p in sorted(paths, key=lambda p: (len(p), p)) if trace.graph.frames[p].loop_cond]
    return {path: end_of_record(trace, path) for path in with_condition}


def exit_status(ends: dict[FramePath, LoopEnd]) -> int:
    """The status of a command whose run finished: the worst of the loops that are not inside another one."""
    return max((end.standing.exit_status for path, end in ends.items() if len(path) == 1), default=0)
