"""The state of all loops of a run, and the exit status of the command that ran them."""

from __future__ import annotations

from typing import Any

from workbench.analysis.ends.how_it_ended import end_of_record
from workbench.analysis.standing import LoopEnd
from workbench.ir.frames.frame_tree import FramePath


def loop_ends(source: Any) -> dict[FramePath, LoopEnd]:
    """The state of each loop of a session or trace that has a condition, by path, outer loops first."""
    trace = getattr(source, "trace", source)
    paths = dict.fromkeys(f.path for f in trace.layout.frames if f.path)
    with_condition = [p for p in sorted(paths, key=lambda p: (len(p), p)) if trace.graph.frames[p].loop_cond]
    return {path: end_of_record(trace, path) for path in with_condition}


def exit_status(ends: dict[FramePath, LoopEnd]) -> int:
    """The exit status of a command whose run has finished: the worst one of the outermost loops."""
    return max((end.standing.exit_status for path, end in ends.items() if len(path) == 1), default=0)
