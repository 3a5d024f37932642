"""Termination of a session's loop: by the prover if the slice can be executed, else from the recorded operands."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.analysis.claims import checked
from workbench.analysis.ends.end_claims import AboutToBegin, end_claims
from workbench.analysis.ends.how_it_ended import Ending, ended, ending_of_record
from workbench.analysis.forecast.monitor import TerminationMonitor
from workbench.analysis.proof.lookahead_search import when_it_fails
from workbench.analysis.proof.prover import analyze_loop
from workbench.analysis.slicing.can_fail import failing_nodes
from workbench.analysis.slicing.clauses import find_clauses
from workbench.analysis.slicing.execution import SliceMachine, slice_of, standing
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.analysis.standing import LoopEnd, Standing
from workbench.analysis.termination.by_draws import ends_by_draws
from workbench.analysis.termination.predicted_failures import fails, foreseen
from workbench.analysis.text import count, loop_named
from workbench.analysis.verdict import Gap, Proof, Reason, Termination, proved_end, trend_of, unknown
from workbench.analysis.verdict import after as after_more
from workbench.errors import SessionError, WorkbenchError
from workbench.execution import Run
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.subnormals import arithmetic_of
from workbench.ir.types import numpy_dtype
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading, newest_of

#: placeholder for a missing value of a recorded loop
ABSENT: Any = object()
#: number of recorded iterations that the forecast reads
OBSERVED = 512
#: maximum number of bytes read of a variable that is a large array, but at least so many values
STATE_BYTES, LEAST_STATES = 1 << 24, 4


def termination_of(
    run: Run, trace: Trace, frame: Any = None, seconds: float = 0.2, failed: Exception | None = None
) -> Termination:
    """The answer whether the loop ``frame`` (name, path, or None: the innermost open one) ends from the run's position.

    ``seconds`` limits the look-ahead. After the loop has ended, the answer is PROVED with 0 remaining. If a node
    ``failed``, it is UNKNOWN, because the loop cannot reach later evaluations of its condition; also if a node fails on
    the way, with ``first_bad`` as the iteration.
    """
    with arithmetic_of(run.plan.graph):
        answer = _answer(run, trace, frame, seconds, failed)
    path = loop_of(run, frame)
    if answer.final is not None and path is not None:
        answer.ahead, answer.final = _end_ahead(run, path, answer), None
    if path is not None and "fails_after" in answer.details:
        here = (i for i, f in enumerate(run.plan.layout.frames) if f.path == path and f.start < run.view.ip < f.stop)
        begun = max((run.view.iteration(i) for i in here), default=0)
        answer.first_bad = answer.details["fails_after"] + max(begun, 0)
    return answer


def _answer(run: Run, trace: Trace, frame: Any, seconds: float, failed: Exception | None) -> Termination:
    graph = run.plan.graph
    path = loop_of(run, frame)
    if path is None:
        return unknown("no-loop", "This run has no loop.")
    frames = run.plan.layout.frames
    mine = [i for i, f in enumerate(frames) if f.path == path]  # several if a frame is scheduled in parts
    number = next((i for i in mine if frames[i].start < run.view.ip < frames[i].stop), run.plan.numbers[path])
    entered = any(run.view.iteration(i) >= 0 for i in mine)
    inside = frames[number].start < run.view.ip < frames[number].stop
    iteration = run.view.iteration(number) if entered else 0
    if entered and not inside and (len(mine) == 1 or run.finished):
        return over(path, left_frame(iteration) if path in run.plan.raw else ending_of_record(trace, path))
    if inside and path not in run.plan.raw and _evaluated(run, trace, path) is False:
        return over(path, ended(trace, path, run.iteration_of(number)))
    if run.finished and not inside:
        missed = f"The {loop_named(path)} was not entered in this run."
        return replace(unknown("not-entered", missed), end=LoopEnd(Standing.NOT_ENTERED, 0))
    if failed is not None and inside:
        return unknown(
            "node-failed", f"A node failed, so the loop cannot continue: {getattr(failed, 'message', failed)}"
        )
    around = next((p for k in range(len(path)) if (p := path[: k + 1]) in run.plan.raw), None)
    if around is not None:
        return unknown(
            "raw-frame", f"The frame {'/'.join(around)} is not ended by one condition: {run.plan.raw[around]}."
        )
    # the record of an earlier activation says nothing about the current one
    observed = observe(trace, graph, path, around=run.iteration_of(number)[:-1]) if inside else None
    try:
        missing = unknown("not-entered", f"The {loop_named(path)} is not entered from here on the path that was tried.")
        if run.edits:
            return _edited(run, path, inside, seconds, missing) if len(mine) == 1 else unknown(*EDITED)
        runner = slice_of(graph, path, run.plan, run.feeds)
        runner.patience = max(seconds, 0.05)
        if not runner.align(run if inside else None):
            return missing
        if runner.draws:
            return ends_by_draws(run, path, inside, seconds, runner.impure_nodes)
        answer = analyze_loop(runner, seconds=seconds, iteration=iteration, observed=observed)
        if answer.reason.slug == "ended":
            answer.reason = _at_once(path, iteration, inside)
        answer = foreseen(run, path, inside, answer, seconds)
        answer.begun = runner
        return answer
    except SliceTimeout as slow:
        return unknown("slice-slow", str(slow))
    except SliceFailed as error:  # on the way to the current condition
        return fails(graph, path, 0, error)
    except WorkbenchError as error:
        return unknown("slice-failed", f"The slice of the condition cannot be run: {error.message}")
    except RuntimeError as error:
        return unknown("slice-failed", f"The slice of the condition cannot be run: {error}")


EDITED = (
    "edited",
    "Values were edited, and the condition cannot be run ahead with them: the graph has effects, or the loop "
    "is scheduled in parts.",
)


def _edited(run: Run, path: tuple[str, ...], inside: bool, seconds: float, missing: Termination) -> Termination:
    """The answer for a run with edits: the whole graph is run ahead on a copy, because any value may be edited."""
    if run.edits_ahead:
        return unknown("edit-ahead", "A value is edited later in this history, which decides about the loop.")
    found = standing(run, path, inside, max(seconds, 0.05), failing_nodes(run.plan, path))
    if found is None:
        return missing
    runner, gone = found
    if not runner.pure:
        return unknown(*EDITED)
    answer = analyze_loop(runner, seconds=seconds)
    if answer.reason.slug == "ended":
        here = place_in(run, path)
        answer.reason = _at_once(path, gone + (max(here[-1], 0) if here is not None else 0), inside)
    return later(foreseen(run, path, inside, answer, seconds, runner), -gone)


def _at_once(path: tuple[str, ...], iteration: int, inside: bool) -> Reason:
    """The reason for a condition that will be false at its next evaluation, so that no iteration follows."""
    if not inside:
        sentence = f"The condition of the {loop_named(path)} is false from the beginning, so that it runs no iteration."
        return Reason("no-iteration", sentence)
    return Reason("now", f"The condition is false in iteration {iteration:,}, where it is evaluated next.")


def _evaluated(run: Run, trace: Trace, path: tuple[str, ...]) -> bool | None:
    """The condition in the run's current iteration; None until it is evaluated there."""
    here, cond = place_in(run, path), run.plan.graph.frames[path].loop_cond
    if here is None or cond is None or (cond, 0) not in trace.layout.values:
        return None
    paths, going = newest_of(trace, Ref(cond))
    if not len(paths) or tuple(int(i) for i in paths[-1]) != here:
        return None
    return bool(np.asarray(going[-1]).reshape(-1)[0])


def _end_ahead(run: Run, path: tuple[str, ...], answer: Termination) -> LoopEnd | None:
    """How the loop will end, from the slice at its end; iterations are those of the run."""
    final, here = answer.final, place_in(run, path)
    if not isinstance(final, SliceMachine) or answer.remaining is None:
        return None
    n = answer.remaining + (max(here[-1], 0) if here is not None else 0)
    if _plain_end(final):
        return LoopEnd(Standing.ENDED, n)
    there = final.run.iteration_of(final.number)
    found = ended(final.run.trace, path, there).end
    by, still = (
        None if side is None else replace(side, iteration=side.iteration + n - there[-1])
        for side in (found.by, found.still)
    )
    return replace(found, iterations=n, by=by, still=still)


def _plain_end(final: SliceMachine) -> bool:
    """True if the condition is one comparison of two numbers that are not NaN, which needs no further analysis."""
    if final.logic != "single" or len(final.clauses) != 1:
        return False
    ((left, _, right),) = final.clause_values()
    if isinstance(right, (bool, np.bool_)) or np.size(left) != 1 or np.size(right) != 1:
        return False
    return bool(np.all(np.equal(left, left) & np.equal(right, right)))


def about_to_begin(run: Run, trace: Trace, path: tuple[str, ...]) -> AboutToBegin:
    """The claim that the condition of a loop that the run has entered was not evaluated yet."""
    return AboutToBegin(loop="/".join(path), evidence=lambda: _evaluated(run, trace, path))


def standing_of(
    run: Run, trace: Trace, path: tuple[str, ...], failed: BaseException | None = None, running: bool = False
) -> LoopEnd:
    """The state of an unfinished loop in a run."""
    here = place_in(run, path)
    if here is None:
        return LoopEnd(Standing.NOT_ENTERED, 0)
    n = max(here[-1], 0)
    if failed is not None:
        return LoopEnd(Standing.FAILED, n, how=str(getattr(failed, "message", failed)))
    if running:
        return LoopEnd(Standing.RUNNING, n)
    if n == 0 and path not in run.plan.raw and _evaluated(run, trace, path) is None:
        return LoopEnd(Standing.ABOUT_TO_BEGIN, 0)
    return LoopEnd(Standing.PAUSED, n)


def over(path: tuple[str, ...], ending: Ending) -> Termination:
    """The answer about a loop that has ended, read only from the record."""
    end, values, leaf = ending
    slug = end.standing.slug
    proof = Proof("observed", "the condition's value and its operands when it was evaluated last.")
    reason = Reason(slug, end.sentence("/".join(path)))
    answer = proved_end(0, (0, 0), reason, proof, end=end)
    answer.claims = checked(end_claims(path, ending))
    if values is None or leaf is None or end.by is None:
        return answer
    answer.blocking_clause = str(end.by)
    answer.details.update(clause=end.by.node, clause_iteration=end.by.iteration)
    threshold = values.threshold(leaf, end.iterations)
    if threshold is not None:
        answer.details["threshold"] = threshold
    answer.root = values.reads(leaf)
    if answer.root:
        answer.chain = values.loop.chain(answer.root[0])
    iterations, gaps = values.gaps(leaf, end.iterations)
    if gaps:
        answer.gap = Gap(trend_of(gaps), gaps, iterations)
    return answer


def left_frame(iteration: int) -> Ending:
    """The end of a frame without a single condition: no value entered a next iteration."""
    return Ending(LoopEnd(Standing.OVER, iteration, how="nothing went on to a next iteration"))


def later(answer: Termination, iterations: int) -> Termination:
    """The answer adjusted to ``iterations`` later (negative: earlier) in the same activation, without edits."""
    remaining = None if answer.remaining is None else max(answer.remaining - iterations, 0)
    interval = answer.interval
    if interval is not None:
        low, high = interval
        interval = max(low - iterations, 0), None if high is None else max(high - iterations, 0)
    reason, clause = answer.reason, answer.blocking_clause
    far = count(abs(iterations), "iteration")
    when = f"{far} ago" if iterations > 0 else f"{far} further on"
    if remaining is not None and remaining != answer.remaining:
        before = after_more(answer.remaining or 0)
        counted = reason.sentence.replace(before, after_more(remaining))
        reason = Reason(reason.slug, counted if before in reason.sentence else f"Found {when}: {reason.sentence}")
    dated = "clause_iteration" in answer.details  # else its operands are those of the time of the answer
    if iterations and not dated and clause is not None and clause.endswith(")"):
        clause = f"{clause[:-1]}, {when})"
    details = answer.details
    if "fails_after" in details:
        before, after = details["fails_after"], max(details["fails_after"] - iterations, 0)
        details = {**details, "fails_after": after}
        sentence = reason.sentence.replace(when_it_fails(before), when_it_fails(after), 1)
        reason = Reason(reason.slug, sentence)
    return replace(
        answer, remaining=remaining, interval=interval, reason=reason, blocking_clause=clause, details=details
    )


def observe(
    trace: Trace, graph: Graph, path: tuple[str, ...], last: int = OBSERVED, around: tuple[int, ...] | None = None
) -> TerminationMonitor:
    """A monitor that has observed the last recorded iterations of a loop's current activation.

    ``around`` are the iterations of the outer loops of that activation; by default it is the one in which a loop
    variable fired last. The monitor has observed nothing until the condition is evaluated in it.
    """
    cond = next(n.name for n in trace.layout.nodes if n.op == "LoopCond" and graph.frame_of(n.name) == path)
    clauses, logic, operands = find_clauses(graph, Ref(cond))
    monitor = TerminationMonitor([(a, b) for a, _, b in clauses])
    names = [(a, b) for a, _, b in clauses]
    reading = Reading(trace, Ref(cond))
    paths, conds = reading.newest(last)
    if len(paths) == 0:
        return TerminationMonitor(names)
    mine = (paths[:, :-1] == paths[-1, :-1]).all(axis=1)
    variables = [v for v in graph.frames[path].variables if (v.merge, 0) in trace.layout.values]
    begun = [tuple(p[-1, :-1]) for v in variables if len(p := Reading(trace, Ref(v.merge)).newest(1)[0])]
    if tuple(paths[-1, :-1]) != (max(begun, default=tuple(paths[-1, :-1])) if around is None else tuple(around)):
        return TerminationMonitor(names)  # all evaluations are of earlier activations

    def column(ref: Ref, most: int = last) -> list[Any]:
        found = Reading(trace, ref)
        if found.frame != reading.frame:  # a loop invariant
            return [found.last()] * len(conds)
        at, values = found.newest(most)
        late = len(at) > 0 and tuple(at[-1]) > tuple(paths[-1])  # it fired again, but the condition not yet
        known = list(values[:-1] if late else values)
        n = len(known)
        if not n or n <= len(paths) and (at[0] == paths[-n]).all() and (at[n - 1] == paths[-1]).all():
            return known
        return _in_place(paths, dict(zip(map(tuple, at.tolist()), known, strict=False)))

    def state(ref: Ref) -> list[Any]:
        size = _bytes_of(trace, ref)
        most = max(LEAST_STATES, STATE_BYTES // size) if size else last
        if most >= last:
            return column(ref)
        known = column(ref, most)
        # older values are not read: each is replaced by a unique one, so that no false recurrence is found
        return [np.array([k, -1]) for k in range(len(conds) - len(known))] + known

    states = {v.name: _carried(state(Ref(v.merge))) for v in variables}
    sides = [(column(a), op, column(b) if isinstance(b, Ref) else None, b) for a, op, b in operands]
    count = min([len(conds), *(len(s) for s in states.values()), *(len(a) for a, *_ in sides)])
    first = next((k for k in range(-count, 0) if mine[k]), 0)
    monitor = TerminationMonitor(names, start=int(paths[first, -1]) if first else 0)
    seen = []
    for k in range(-count, 0):
        if mine[k]:
            values = [(a[k], op, b[k] if b is not None and len(b) >= count else fixed) for a, op, b, fixed in sides]
            if not any(a is ABSENT or b is ABSENT for a, _, b in values):
                monitor.observe({n: s[k] for n, s in states.items()}, bool(conds[k]), values, logic)
                seen.append(k)
    if len(seen) > 1:
        monitor.apart = max(round((seen[-1] - seen[0]) / (len(seen) - 1)), 1)
        monitor.behind = -1 - seen[-1]
    return monitor


def _in_place(paths: np.ndarray, known: dict[tuple[int, ...], Any]) -> list[Any]:
    """Values in the order of ``paths``; ABSENT for iterations in which a recorded loop gave none."""
    return [known.get(path, ABSENT) for path in map(tuple, paths.tolist())]


def _carried(values: list[Any]) -> list[Any]:
    """The values of a variable, with missing ones replaced by the last known value."""
    found: list[Any] = []
    for value in values:
        found.append(found[-1] if value is ABSENT and found else value)
    return [None if value is ABSENT else value for value in found]


def _bytes_of(trace: Trace, ref: Ref) -> int:
    """Bytes of one value by its type; 0 if the type does not determine them."""
    type_ = trace[ref].type
    if not type_.is_static or type_.shape is None:
        return 0
    return math.prod(d or 1 for d in type_.shape) * np.dtype(numpy_dtype(type_.dtype)).itemsize


def seen_only(run: Run, trace: Trace, path: tuple[str, ...]) -> Termination:
    """The forecast from the last iterations of the record alone, which is cheap."""
    if run.view.iteration(run.plan.numbers[path]) < 0:
        return unknown("few", f"The {loop_named(path)} has not begun.")
    here = place_in(run, path)
    with arithmetic_of(run.plan.graph):
        return observe(trace, run.plan.graph, path, around=None if here is None else here[:-1]).prediction()


def place_in(run: Run, path: tuple[str, ...]) -> tuple[int, ...] | None:
    """Iterations of the outer loops and of the loop itself, if the run is in it; else None."""
    frames = run.plan.layout.frames
    number = next((i for i, f in enumerate(frames) if f.path == path and f.start < run.view.ip < f.stop), None)
    return None if number is None else run.iteration_of(number)


def loop_of(run: Run, frame: Any) -> tuple[str, ...] | None:
    """The path of the loop ``frame`` (name, path, or None for the innermost open one) in this run.

    None without loops; SessionError with slug ``no-such-frame`` for an unknown name.
    """
    loops = list(dict.fromkeys(f.path for f in run.plan.layout.frames if f.path))
    if frame is None:
        open_frames = [i for i in run.active_frames() if i]
        if open_frames:
            return run.plan.layout.frames[open_frames[-1]].path
        waiting = [p for p in loops if len(p) == 1 and run.view.iteration(run.plan.numbers[p]) < 0]
        ended = [p for p in loops if len(p) == 1 and p not in waiting]
        if run.finished and ended:
            return ended[-1]
        return waiting[0] if waiting else ended[-1] if ended else None
    path = (
        tuple(frame)
        if isinstance(frame, (tuple, list))
        else next((p for p in loops if p[-1] == frame or "/".join(p) == frame), None)
    )
    if path not in loops:
        raise SessionError(
            f"There is no loop {frame!r} in this run.",
            slug="no-such-frame",
            fix=f"its loops are {', '.join('/'.join(p) for p in loops) or 'none'}.",
        )
    return path
