"""All questions about a random program at random points of its run; each proof is compared with a run to the end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import workbench as wb
from tests.analysis.proof.random_formulas import RandomFormulas
from workbench.analysis import Status, Termination, cancellations
from workbench.analysis.proof.failure_free_horizon import horizon
from workbench.analysis.proof.symbolic import prove
from workbench.analysis.slicing.can_fail import failing_nodes
from workbench.analysis.slicing.execution import slice_of
from workbench.analysis.slicing.protocol import SliceFailed
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.ir.subnormals import arithmetic_of

#: iterations that are run to know the truth, and events of an inner loop
LIMIT, EVENTS = 3000, 400
RETENTIONS: tuple[Any, ...] = (
    "all",
    "carried",
    "stats",
    "off",
    wb.Retention("none"),
    wb.Retention("carried", every=3),
    wb.Retention("all"),
    wb.Retention("window", window=5),
    wb.Retention("statistics"),
    wb.Retention("all", memory=40_000),
)
OUTER = ("while",)
#: errors that a question may raise
ALLOWED = (WorkbenchError,)


def truth(session: wb.Session, frame: tuple[str, ...]) -> tuple[str, int]:
    """("ends" | "fails" | "open", further iterations of the session's current activation), from a run with the
    session's edits; "open" if the activation continues after many.
    """
    with session.fork() as fork:
        run, frames = fork._run, session.plan.layout.frames
        number = next(i for i in run.active_frames() if frames[i].path == frame)
        begun = run.iteration_of(number)
        if frame == OUTER:
            cond = session.graph.frames[frame].loop_cond
            fork.run_to(cond, begun[-1] + LIMIT)
            found = {"failed": "fails", "finished": "ends"}.get(fork.state, "open")
            return found, fork._run.view.iteration(number) - begun[-1]
        for _ in range(EVENTS):
            fork.step()
            if fork.state == "failed":
                return "fails", fork._run.view.iteration(number) - begun[-1]
            if number not in fork._run.active_frames() or fork._run.iteration_of(number)[:-1] != begun[:-1]:
                return "ends", -1
        return "open", fork._run.view.iteration(number) - begun[-1]


def hold(session: wb.Session, frame: tuple[str, ...], answer: Termination, counts: Counter[str]) -> None:
    """Compare the answer with the run itself."""
    details, told = answer.details, str(answer)
    if answer.status is not Status.PROVED and "fails_after" not in details:
        return
    frames = [session.plan.layout.frames[i].path for i in session._run.active_frames()]
    if frame not in frames:
        return
    outcome, more = truth(session, frame)
    counts[f"{answer.status.name} {answer.outcome}"] += 1
    if answer.status is not Status.PROVED:
        assert outcome == "fails" and more == details["fails_after"] or outcome == "open", (outcome, more, told)
    elif answer.outcome == "never":
        assert outcome == "open", (outcome, more, told)
    elif frame == OUTER:
        low, high = answer.interval if answer.interval is not None else (0, None)
        if outcome == "open":
            assert (answer.remaining or LIMIT) >= more and (high is None or high >= more), (outcome, more, told)
        else:
            assert outcome == "ends" and answer.remaining in (None, more), (outcome, more, told)
            assert low <= more and (high is None or more <= high), (outcome, more, told)
    else:
        assert outcome == "ends" or (answer.remaining or LIMIT) * 2 > more, (outcome, more, told)


def hold_formulas(session: wb.Session, counts: Counter[str]) -> None:
    """Checks the proofs by formulas alone (the look-ahead is mostly faster), of the end and of nodes that fail."""
    run, plan = session._run, session.plan
    if run.edits or OUTER not in [plan.layout.frames[i].path for i in run.active_frames()]:
        return
    outcome, more = truth(session, OUTER)
    names = failing_nodes(plan, OUTER)
    try:
        here = slice_of(session.graph, OUTER, plan, run.feeds)
        if not here.align(run) or not here.cond():
            return
        found = prove(here.program, here.values(), lambda: [], 1.0)
        wide = slice_of(session.graph, OUTER, plan, run.feeds, names)
        fine = wide.align(run) and wide.pure
    except SliceFailed:
        return
    if found is not None and outcome != "fails":
        counts["argued"] += 1
        counts["argued exactly"] += found.exact or found.after is None
        assert outcome == "open" or found.after is not None and found.after <= more, (outcome, more, found)
        assert found.within is None or found.within >= more, (outcome, more, found)
    if names and fine:
        safe, _ = horizon(wide.program, wide.values(), names, plan.types, 1.0)
        counts["horizons"] += 1
        counts["horizons beyond"] += safe is None or safe > 0
        assert outcome != "fails" or safe is not None and safe <= more, (outcome, more, safe)


def questions(session: wb.Session, r: random.Random) -> dict[str, Callable[[], Any]]:
    """Queries of a session, by name."""
    trace = session.trace
    names = [session.graph.name_of(Ref(*key)) for key in session.plan.layout.values]
    name = r.choice(names)
    loops = [f.path for f in session.plan.layout.frames if f.path]
    place = r.choice([None, (r.randint(0, 9),), (r.randint(0, 9), r.randint(0, 3))])

    def told(source: Any) -> None:
        found = wb.analyze(source)
        found.report(), found.report(ascii=True), found.data(), found._repr_html_()
        for variable in found.variables.classified:
            variable.part, variable.line, variable.convergence(1e-6)

    def again() -> None:
        with session.apply_fix(at=r.choice(["start", "here"])) as fork:
            fork.next_iteration(3)

    return {
        "analyze": lambda: told(session),
        "of the trace": lambda: told(trace),
        "nan": lambda: str(wb.nan_origin(session)),
        "inf of the trace": lambda: str(wb.nan_origin(trace, kind="inf")),
        "cancellations": lambda: list(map(str, cancellations(trace))),
        "overflow": lambda: list(map(str, wb.overflow_candidates(session))),
        "explain": lambda: str(session.explain(name, place)),
        "value": lambda: session.value(name, place),
        "classify": lambda: str(wb.classify(trace[name].values)),
        "table": lambda: (session.termination(r.choice(loops), seconds=0.02).table(), trace.branches(), trace.events()),
        "fix": again,
        "memory": lambda: str(session.memory()),
        "diff": lambda: str(wb.diff(trace, trace)),
        "tolerance": lambda: wb.iterations_to_tolerance(trace[name].values, 1e-3),
        "variable": lambda: str(wb.analyze(session).variables[name]),
    }


def move(session: wb.Session, r: random.Random) -> None:
    """One random command."""
    kind = r.choice("next next next step step back previous edit edit restart reverse out to".split())
    names = [session.graph.name_of(Ref(*key)) for key in session.plan.layout.values]
    commands: dict[str, Callable[[], Any]] = {
        "next": lambda: session.next_iteration(r.choice([1, 1, 2, 7, 40])),
        "step": lambda: session.step(r.randint(1, 9)),
        "back": lambda: session.step_back(r.choice([1, 2, 9, 40])),
        "previous": lambda: session.previous_iteration(),
        "edit": lambda: session.set_value(r.choice(names), r.choice([0, 1, 3, -1, 0.5, float("nan"), 100])),
        "restart": session.restart,
        "reverse": session.reverse_continue,
        "out": lambda: session.next_branch(),
        "to": lambda: session.run_to(r.choice(names), r.choice([0, 1, 5])),
    }
    try:
        commands[kind]()
    except ALLOWED:
        pass


def asked(seed: int, moves: int = 3, ask: float = 0.4, flushed: bool = False) -> Counter[str]:
    """One program: at a few positions the termination of every open loop and some other questions."""
    r, counts = random.Random(seed), Counter[str]()
    program = RandomFormulas(seed, flushed)
    with wb.Session(program.graph, program.feeds, trace=r.choice(RETENTIONS)) as session:
        for iteration in range(LIMIT + 1000, LIMIT + 9000, 1000):  # no command runs for ever
            session.breakpoints.add(program.graph.frames[OUTER].loop_cond, iteration=(iteration,))
        session.next_iteration(r.choice([1, 1, 1, 2, 4, 11, 60]))
        for _ in range(moves):
            for number in session._run.active_frames()[1:] or [None]:
                frame = None if number is None else session.plan.layout.frames[number].path
                answer = session.termination(frame, seconds=0.03)
                counts[answer.status.name] += 1
                if frame is not None and session.state == "paused":
                    hold(session, frame, answer, counts)
            if session.state == "paused" and r.random() < 0.7:
                with arithmetic_of(session.graph):
                    hold_formulas(session, counts)
            if r.random() < ask:
                table = questions(session, r)
                kind = r.choice(list(table))
                counts["asked"] += 1
                try:
                    table[kind]()
                except ALLOWED as error:
                    assert error.slug, error
                    counts["refused"] += 1
            move(session, r)
        counts[session.state] += 1
    return counts
