"""Effect of failing nodes on an answer about a loop: its condition is not the only way to end it.

The look-ahead for the condition omits nodes on which the condition does not depend. Nodes of the body that can fail
(:mod:`failing`) are handled here: either bounds show that they do not fail until then (:mod:`horizon`), or they are run
ahead as well. Open cases are listed, and the answer is then not a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from workbench.analysis.proof.failure_free_horizon import horizon
from workbench.analysis.proof.identities.growth import fits_for
from workbench.analysis.proof.lookahead_search import NO_RUN, CameTo, Search, fails_sentence
from workbench.analysis.proof.rays.of_slice import body_of, followed
from workbench.analysis.proof.verdicts import ends
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.slicing import work
from workbench.analysis.slicing.can_fail import failing_nodes
from workbench.analysis.slicing.dependencies import data_slice
from workbench.analysis.slicing.execution import SliceMachine, slice_of, with_effects
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.analysis.verdict import Proof, Reason, Status, Termination, unknown
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir.graph import Graph
from workbench.ir.node import Ref

#: answers that say nothing about later iterations
SETTLED = frozenset(("now", "no-iteration", "no-loop", "not-entered", "node-failed", "raw-frame"))
#: iterations that no run reaches: a later failure is not reported, and does not invalidate a proof
NEVER_REACHED = 10**15
IN_REACH = f"in the next {NEVER_REACHED:,} iterations"
#: maximum distance of an end to which nodes that can fail are run at once, with at most this part of the budget
NEAR, NEAR_PART = 1024, 0.25
#: maximum number of iterations up to the end of a period that is run with all nodes that can fail
PERIOD_RUN = 1 << 18
#: maximum number of nodes that are named
NAMED = 3
#: sentences of a proof about nodes that can fail
RUN = "The nodes of the body that can fail were run ahead with it."
FOLLOWED = "The nodes of the body that can fail were followed with it, in exact arithmetic, and do not fail."
RECUR = "The nodes of the body that can fail read only what recurs, and were run for a whole period."
BOUNDED = "Bounds of their inputs say that no node of the body fails before."


def foreseen(
    run: Run,
    path: tuple[str, ...],
    inside: bool,
    answer: Termination,
    seconds: float,
    whole: SliceMachine | None = None,
) -> Termination:
    """The answer about the loop ``path`` of a run, taking into account the nodes that can fail in it.

    If one fails, the answer is UNKNOWN with slug ``slice-failed``; its details say which ``node`` fails, and after how
    many more iterations (``fails_after``).

    ``whole`` is the run itself as a slice, if the answer is based on it. ``seconds`` limits the look-ahead.
    """
    if answer.reason.slug in SETTLED:
        return answer
    names = failing_nodes(run.plan, path)
    if not names:
        return answer
    return _foreseen(run, path, inside, answer, seconds, whole, names)


def _foreseen(
    run: Run,
    path: tuple[str, ...],
    inside: bool,
    answer: Termination,
    seconds: float,
    whole: SliceMachine | None,
    names: Sequence[str],
) -> Termination:
    graph = run.plan.graph
    tainted = behind(graph, with_effects(graph, [n for n in run.plan.needed if n in graph.nodes]))
    can = [n for n in names if n not in tainted]
    cannot = [n for n in names if n in tainted]
    runner = whole
    try:
        if runner is None and can:
            runner = slice_of(graph, path, run.plan, run.feeds, can)
            runner.patience = max(seconds, 0.05)
            if not runner.pure or not runner.align(run if inside else None):
                runner = None
    except SliceFailed as failed:
        return fails(graph, path, 0, failed, answer.blocking_clause)
    except (SliceTimeout, WorkbenchError, RuntimeError):
        runner = None
    if runner is None:
        return doubted(answer, graph, names)
    try:
        return _looked(graph, runner, answer, can, cannot, seconds, whole is not None)
    except (SliceTimeout, WorkbenchError, RuntimeError):
        return doubted(answer, graph, names)


def _looked(
    graph: Graph,
    runner: SliceMachine,
    answer: Termination,
    can: Sequence[str],
    cannot: Sequence[str],
    seconds: float,
    whole: bool,
) -> Termination:
    proved, bound = answer.status is Status.PROVED, _bound(answer)
    if proved and not cannot:
        if whole and answer.proof is not None and answer.proof.kind in ("lookahead", "recurrence"):
            return noted(answer, RUN)  # the whole graph was run ahead
        near = _run_to(graph, runner, answer, bound, seconds) if bound is not None and bound <= NEAR else None
        if near is not None:
            return near
        along = _followed(graph, runner, answer, can, bound, seconds)
        if along is not None:
            return along
        can = _outside_recurrence(graph, runner, answer, can)
        if not can:
            return noted(answer, RECUR)
        safe: int | None = 0
        body = body_of(runner, can)
        if body is not None:
            safe = fits_for(body, {n: np.asarray(v) for n, v in runner.values().items()}, can)
        known = safe is not None and safe >= (bound if bound is not None else NEVER_REACHED)
        if not known and runner.program is not None and answer.proof is not None and answer.proof.kind != "inner-loop":
            safe, can = horizon(runner.program, runner.values(), can, runner.plan.types, seconds / 2)
        if safe is None or bound is not None and safe >= bound:
            return noted(answer, BOUNDED)
        if answer.outcome == "never" and safe >= NEVER_REACHED:
            return noted(answer, f"Bounds of their inputs say that no node of the body fails {IN_REACH}.")
    if answer.outcome == "never" and proved:
        return _endless(graph, runner, answer, [*can, *cannot], bool(cannot), seconds)
    done, ended = 0, False
    deadline = work.now() + (seconds if proved else seconds / 2)
    ahead = runner.fork()
    try:
        while ahead.cond() and (bound is None or done < bound) and work.now() < deadline:
            piece = min(4096, max(64, done))
            done += ahead.advance(piece if bound is None else min(piece, bound - done))
        if ended := not ahead.cond():
            ahead.finish()
    except SliceFailed as failed:
        return fails(graph, runner.frame, done + failed.done, failed, answer.blocking_clause)
    except SliceTimeout:
        return doubted(answer, graph, [*can, *cannot], done)
    if not ended or cannot:
        return doubted(answer, graph, cannot if ended else [*can, *cannot], done)
    return _ended(runner, answer, done)


def _outside_recurrence(graph: Graph, runner: SliceMachine, answer: Termination, can: Sequence[str]) -> Sequence[str]:
    """The nodes that read other values than those that recur; the rest was run for a whole period without a failure."""
    found = answer.evidence
    if answer.outcome != "never" or not isinstance(found, CameTo) or found.at + found.period > PERIOD_RUN:
        return can
    others = [v.merge for v in graph.frames[runner.frame].variables if v.name not in found.runner.state_names]
    others_read = [n for n in can if not data_slice(graph, Ref(n)).isdisjoint(others)]
    if len(others_read) < len(can):
        ahead, left = runner.fork(), found.at + found.period
        try:
            while left and (done := ahead.advance(min(4096, left))):
                left -= done
        except SliceFailed:  # the search then finds when
            return can
        if left:
            return can
    return others_read


def _followed(
    graph: Graph, runner: SliceMachine, answer: Termination, can: Sequence[str], bound: int | None, seconds: float
) -> Termination | None:
    """The answer if all nodes that can fail are followed along rays, to the end or for ever; None if they are not.

    A node that reads only recurring values cannot fail, and another counter fails when it no longer fits its dtype.
    """
    body = body_of(runner, can)
    found = None if body is None else followed(runner, body, seconds / 2)
    if found is None or found.kind == "open":
        return None
    if found.kind == "fails" or found.full is not None and found.full < NO_RUN:
        error = SliceFailed(str(found.error), node=found.node)
        when = found.after if found.kind == "fails" else found.full or 0
        return fails(graph, runner.frame, when, error, answer.blocking_clause)
    if found.kind == "ends":
        return noted(answer, FOLLOWED) if answer.outcome == "terminates" and bound == found.after else None
    if answer.outcome != "never":
        return None
    if found.full is None or found.node is None:
        return noted(answer, FOLLOWED)
    if found.full >= NEVER_REACHED:
        return noted(answer, f"{FOLLOWED[:-1]} {IN_REACH}.")
    more = (
        f"Python's ints have no limit; those of this graph have 64 bits, and {_named(graph, [found.node])} no longer "
        f"fits them after {found.full:,} more iterations."
    )
    details = {**answer.details, "fails_after": found.full, "beyond": more}
    return replace(
        noted(answer, FOLLOWED), reason=Reason(answer.reason.slug, f"{answer.reason.sentence} {more}"), details=details
    )


def _run_to(graph: Graph, runner: SliceMachine, answer: Termination, bound: int, seconds: float) -> Termination | None:
    """The answer after a run to a near end, which takes less time than bounds of the inputs of all nodes that can fail.

    None if the end is not reached with a small part of the budget.
    """
    ahead, deadline, done = runner.fork(), work.now() + NEAR_PART * seconds, 0
    try:
        while ahead.cond():
            if done >= bound or work.now() > deadline:
                return None
            done += ahead.advance(min(64, bound - done))
        ahead.finish()
    except SliceFailed as failed:
        return fails(graph, runner.frame, done + failed.done, failed, answer.blocking_clause)
    except SliceTimeout:
        return None
    return _ended(runner, answer, done)


def _ended(runner: SliceMachine, answer: Termination, done: int) -> Termination:
    """The answer about a loop that was run without a failure to its end, after ``done`` iterations."""
    if answer.remaining == done:
        return noted(answer, RUN)
    return replace(noted(ends(runner, done, None), RUN), root=answer.root, evidence=answer.evidence)


def _endless(
    graph: Graph, runner: SliceMachine, answer: Termination, names: Sequence[str], open_: bool, seconds: float
) -> Termination:
    """The answer about a loop that its condition never ends, by whether the state of nodes that can fail recurs."""
    search = Search(runner, seconds / 2, 1 << 27, None)
    kind = search.run()
    if kind == "recurs" and not open_:
        return noted(answer, "The state of the nodes of the body that can fail returns as well, without a failure.")
    if search.fails_after is not None:
        return fails(graph, runner.frame, search.fails_after, search.failure, answer.blocking_clause)
    return doubted(answer, graph, names, search.count)


def _bound(answer: Termination) -> int | None:
    """Iterations after which the loop has ended at the latest, according to the answer."""
    if answer.reason.slug == "slice-failed":
        return int(answer.details.get("fails_after", 0)) + 1
    if answer.outcome != "terminates":
        return None
    if answer.status is not Status.PROVED:
        return None
    return answer.remaining if answer.remaining is not None else answer.interval[1] if answer.interval else None


def fails(
    graph: Graph, path: tuple[str, ...], iterations: int, error: Exception | None, clause: str | None = None
) -> Termination:
    """The answer that a node of the loop fails after so many whole iterations, instead of a regular end."""
    failed = error if error is not None else RuntimeError("it raises an error")
    answer = unknown("slice-failed", fails_sentence(failed, iterations), blocking_clause=clause)
    answer.details["fails_after"] = iterations
    node = getattr(failed, "node", None)
    if isinstance(node, str) and node in graph.nodes:
        loop = LoopDependencies(graph, path)
        answer.details["node"] = node
        answer.root = loop.reads(Ref(node))
        if answer.root:
            answer.chain = loop.chain(answer.root[0])
    return answer


def noted(answer: Termination, more: str) -> Termination:
    """The answer with another sentence about the basis of its proof."""
    proof = answer.proof
    return answer if proof is None else replace(answer, proof=Proof(proof.kind, f"{proof.checked} {more}"))


def doubted(answer: Termination, graph: Graph, names: Sequence[str], done: int = 0) -> Termination:
    """The answer as a prediction, which holds unless one of these nodes fails."""
    if answer.reason.slug == "slice-failed":
        sooner = f"{answer.reason.sentence} Another node of the body may fail sooner ({_named(graph, names)})."
        details = {k: v for k, v in answer.details.items() if k != "fails_after"}
        return replace(answer, reason=Reason(answer.reason.slug, sooner), details=details)
    if answer.status is not Status.PROVED:
        return answer
    far = f", which was run ahead {done:,} iterations only" if done else ", which could not be run ahead"
    unless = f"unless a node of the body fails before ({_named(graph, names)})"
    sentence = f"{answer.reason.sentence} That is {unless[:-1]}{far})."
    return replace(
        answer,
        status=Status.PREDICTED,
        proof=None,
        confidence=0.9,
        reason=Reason(answer.reason.slug, sentence),
        details={**answer.details, "unless": unless},
    )


def _named(graph: Graph, names: Sequence[str]) -> str:
    """Nodes by op and source line, such as ``multiply (model.py:4)``."""
    places = []
    for name in names:
        node = graph.nodes[name]
        places.append(f"{node.op} ({node.source.place})" if node.source is not None else name)
    places = list(dict.fromkeys(places))
    return ", ".join(places[:NAMED]) + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")


def behind(graph: Graph, names: Iterable[str]) -> set[str]:
    """These nodes and all nodes that depend on them."""
    found = set(names)
    todo = list(found)
    while todo:
        more = set(graph.consumers(todo.pop())) - found
        found |= more
        todo += more
    return found
