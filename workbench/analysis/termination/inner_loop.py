"""Detection of an inner loop that never ends: checked before the outer loop if its condition is not reached."""

from __future__ import annotations

from workbench.analysis.root_cause.explain import explained
from workbench.analysis.slicing import work
from workbench.analysis.slicing.can_fail import failing_nodes
from workbench.analysis.slicing.execution import slice_of
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.analysis.termination.query import termination_of
from workbench.analysis.text import loop_named
from workbench.analysis.verdict import Proof, Reason, Status, Termination
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.plan import ExecutionPlan

#: Minimum seconds of a reference core for which a loop is followed to the inner loop that hangs.
LEAST = 0.2


def inner_hangs(run: Run, path: tuple[str, ...], seconds: float) -> Termination | None:
    """The answer about the loop ``path`` if an inner loop is proved never to end; None otherwise.

    The slice of the outer condition is run until the time is over, which leaves it in the inner loop; that loop is then
    analysed from its current state. A proof for it also holds for the outer loop, which will run the same iterations on
    the way, because the slice is pure. The nodes of the body that can fail are run with it.
    """
    if run.edits:
        return None  # the slice has the loop variables of the run, but not its edited invariants
    number = next((i for i in run.active_frames() if run.plan.layout.frames[i].path == path), None)
    can_fail = failing_nodes(run.plan, path)
    try:
        runner = slice_of(run.plan.graph, path, run.plan, run.feeds, can_fail)
    except WorkbenchError:
        return None
    if not runner.pure:
        return None
    runner.patience = max(0.5 * seconds, 0.05)
    try:
        if not runner.align(run if number is not None else None):
            return None
        begin, most = work.now(), max(2.0 * seconds, LEAST)
        while runner.cond():
            if work.now() - begin > most:
                return None  # the loop itself keeps running
            runner.advance(1)
        return None
    except SliceFailed:
        return None  # the loop fails before anything hangs
    except (SliceTimeout, RuntimeError):
        open_frames = runner.run.active_frames()
    frames = runner.plan.layout.frames
    inner = frames[open_frames[-1]].path if open_frames else ()
    if len(inner) <= len(path) or inner[: len(path)] != path:
        return None
    if any(_before(run.plan, name, inner) and not _before(runner.plan, name, inner) for name in can_fail):
        return None  # the run itself may fail at a node that the slice has not reached
    found = termination_of(runner.run, runner.run.trace, inner, seconds)
    if found.status is not Status.PROVED or found.outcome != "never" or found.proof is None:
        return None
    proof = found.proof
    at_start = None
    if number is None and runner.run.view.iteration(runner.number) <= 0 and len(inner) == len(path) + 1:
        # it hangs in its first activation, which can be analysed from its beginning
        at_start = termination_of(run, run.trace, inner, seconds)
    if at_start is not None and at_start.outcome == "never":
        found = explained(run, run.trace, inner, at_start, seconds)
    else:
        found = explained(runner.run, runner.run.trace, inner, found, seconds)
    name, iteration = "/".join(inner), max(runner.run.view.iteration(runner.number), 0)
    base = max(run.view.iteration(number), 0) if number is not None else 0
    called, at = loop_named(name), base + iteration
    sentence = f"The {called} inside never ends, in iteration {at} of this one: {found.reason.sentence}"
    found.details.update(inner=name, cause=found.reason.slug)
    return Termination(
        Status.PROVED,
        "never",
        None,
        None,
        Reason("inner-hangs", sentence),
        found.root,
        found.blocking_clause,
        1.0,
        proof=Proof("inner-loop", f"of the {called}, by {proof.kind}: {proof.checked}"),
        gap=found.gap,
        chain=found.chain,
        first_bad=at,
        details=found.details,
        claims=found.claims,
    )


def _before(plan: ExecutionPlan, name: str, path: tuple[str, ...]) -> bool:
    """True if a plan runs a node before it enters a loop."""
    enters = min(f.start for f in plan.layout.frames if f.path == path)
    return any(n.name == name and n.ip < enters for n in plan.layout.nodes)
