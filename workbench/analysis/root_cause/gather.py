"""The samples of a loop that an explanation reads: its record and the look-ahead of its condition."""

from __future__ import annotations

from typing import Any

from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.root_cause.loop_samples import LEAP, LoopSamples, look_ahead
from workbench.analysis.slicing.execution import SliceMachine, slice_of, standing
from workbench.analysis.verdict import Termination
from workbench.execution import Run
from workbench.trace import Trace
from workbench.trace.aligned_columns import AlignedColumns
from workbench.trace.tail_reader import Reading

#: number of newest firings of each value that are read from the record
RECORD = 4096


def gather(
    run: Run,
    trace: Trace,
    path: tuple[str, ...],
    answer: Termination,
    came_to: Any,
    begun: SliceMachine | None,
    seconds: float,
) -> LoopSamples | None:
    """Samples of the loop's values; None if its condition was not evaluated and cannot be.

    ``begun`` is the slice at the current iteration, if the answer was found with one.
    """
    graph = run.plan.graph
    conds = [n for n in graph.frames[path].nodes if graph.nodes[n].op == "LoopCond" and n in run.plan.needed]
    if not conds:
        return None
    cond = graph.nodes[conds[0]].inputs[0]
    numbers = [i for i, f in enumerate(run.plan.layout.frames) if f.path == path]
    number = next((i for i in numbers if i in run.active_frames()), None)
    inside = number is not None
    around = run.iteration_of(number)[:-1] if number is not None else None
    base = run.view.iteration(number) if number is not None else 0
    found = LoopSamples(LoopDependencies(graph, path), cond, max(base, 0), max(base, 0))
    entered = any(run.view.iteration(i) >= 0 for i in numbers)
    if entered:
        if not inside:  # it has ended; the last of several activations counts
            paths = Reading(trace, trace.ref(cond)).newest(1)[0]
            around = tuple(paths[-1, :-1].tolist()) if len(paths) else ()
        found.record = AlignedColumns(trace, around, firings=RECORD)
        if not found.record.latest(cond):
            found.record = None
    if answer.reason.slug == "ended" and not inside:
        return found if found.record is not None else None
    if answer.reason.slug in ("impure-slice", "draws"):
        return found if found.record is not None else None
    if run.edits:
        runner = _edited(run, path, inside, seconds, found)
    else:
        runner = begun if begun is not None else _sliced(run, path, inside, seconds)
    if runner is None:
        return found if found.record is not None else None
    if not inside or run.edits:  # with edits, a record has the current values of invariants, not the earlier ones
        found.record = None
    found.runner = runner
    left = answer.remaining if answer.outcome == "terminates" else 0
    # do not run towards an end that is too far ahead: nothing can be observed half way
    look_ahead(found, seconds, came_to, LEAP if left is not None and left <= LEAP else 0)
    return found


def _sliced(run: Run, path: tuple[str, ...], inside: bool, seconds: float) -> SliceMachine | None:
    """The slice of the condition at the current iteration; None if the loop is not entered."""
    runner = slice_of(run.plan.graph, path, run.plan, run.feeds)
    runner.patience = max(seconds, 0.05)
    return runner if runner.align(run if inside else None) else None


def _edited(run: Run, path: tuple[str, ...], inside: bool, seconds: float, found: LoopSamples) -> SliceMachine | None:
    """A copy of the run, with its iteration count, because an edit may concern values that a slice does not take over:
    a loop invariant or an inner state.
    """
    there = None if run.edits_ahead else standing(run, path, inside, max(seconds, 0.05))
    if there is None or not there[0].pure:
        return None
    found.base, found.offset = found.base + there[1], 0
    return there[0]
