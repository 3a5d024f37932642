"""Every public object, and an error of each kind, made of names that would do something to a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import workbench as wb
from workbench.ir.node import Source

#: colours, a title, a cursor that moves, reversed and hidden text, ends of lines of several kinds
HOST = "a\x1bc\x1b(0\x1b]0;t\x07\x9b2J\u202eb\u2066\u200f\u200b\x00\x7f\r\x08\x85\u2028\ufeff"


def graph(kind: str = "sqrt") -> wb.Graph:
    """A loop with a branch and an inner loop, all of whose names are hostile."""
    b = wb.GraphBuilder(f"g{HOST}")
    b.source = Source(f"/home/{HOST}.py", 3, f"x = {HOST}")
    a = b.placeholder(f"in{HOST}", "float64", ())
    x0 = b.placeholder(f"start{HOST}", "float64", ())
    names = {f"x{HOST}": x0, f"n{HOST}": b.constant(0, "int64", name=f"zero{HOST}")}

    def cond(**v):
        x, n = v.values()
        return (np.abs(x * x - a) > 1e-9) & (n < 60) if kind == "sqrt" else np.abs(x - a) > 0.0

    def body(**v):
        x, n = v.values()
        if kind == "endless":
            return {f"x{HOST}": x, f"n{HOST}": n + 1}
        if kind == "nan":
            return {f"x{HOST}": np.log(a - x), f"n{HOST}": n + 1}
        small = b.cond(x > 2.0, lambda: x * 1.0, lambda: x + 0.0, name=f"if{HOST}")
        return {f"x{HOST}": 0.5 * (small + a / x), f"n{HOST}": n + 1}

    last = b.while_loop(cond, body, names, name=f"loop{HOST}", max_trips=50 if kind == "nan" else None)
    return b.build({f"out{HOST}": last[f"x{HOST}"]})


def feeds(a: float = 2.0, start: float = 1.0) -> dict[str, float]:
    """Inputs of :func:`graph`."""
    return {f"in{HOST}": a, f"start{HOST}": start}


X, LOOP = f"x{HOST}", f"loop{HOST}"


def session_objects() -> Iterator[tuple[str, Any]]:
    """All that a session gives."""
    made = graph()
    yield from {
        "graph": made,
        "regions": made.regions,
        "nodes": list(made.nodes.values()),
        "references": made.cross_references(),
    }.items()
    yield from {"text": made.text(), "notes": made.notes, "first node": next(iter(made.nodes.values()))}.items()
    yield from {
        "source": next(n.source for n in made.nodes.values() if n.source),
        "noted": made.with_notes([HOST]).notes,
    }.items()
    with wb.Session(made, feeds()) as session:
        yield "first stop", session.step()
        session.breakpoints.add(f"{X}", when="iteration > 1")
        yield "hit", session.run()
        yield "stop tag", session.stop.tag
        session.breakpoints.clear()
        yield "iteration", session.run_to(X, iteration=2)
        yield "edited", session.set_value(X, 1.3)
        yield "branch", session.next_branch()
        yield "end", session.run()
        yield "update", session.update({f"in{HOST}": 3.0})
        session.run()
        for name in "position stop dag plan trace inputs outputs memory shapes histories breakpoints forks".split():
            got = getattr(session, name)
            yield f"session.{name}", got() if callable(got) else got
        yield "session", session
        yield "log", session.breakpoints.log
        yield "snapshot", session.snapshot()
        yield "explain", session.explain(f"out{HOST}")
        yield "values", session.values(X)
        yield "termination", session.termination()
        yield "claims", getattr(session.termination(), "claims", ())
        yield "fork", session.fork()
        yield "dag table", session.dag.table()
        yield "series", session.trace[X]
        yield "trace", list(session.trace)
        yield "retention", wb.Retention(names=(X,))
        yield from analysis_objects(session)


def analysis_objects(session: Any) -> Iterator[tuple[str, Any]]:
    """All that analyses of a run give."""
    yield "classify", wb.classify(session.trace[X])
    yield "analysis", wb.analyze(session)
    yield "report", wb.analyze(session).report()
    yield "findings", list(wb.analyze(session).findings)
    yield "follower", wb.Follower(session.trace)
    yield "follower evolution", wb.Follower(session.trace).evolution(X)
    yield "monitor", wb.TerminationMonitor([(X, HOST)])
    yield "to tolerance", wb.iterations_to_tolerance(session.trace[X], 1e-3)
    yield "overflow", wb.overflow_candidates(session)
    yield "index faults", wb.index_faults(session)
    with wb.Session(graph(), feeds(3.0, 1.1)) as other:
        other.run()
        found = wb.diff(session, other)
        yield from {"diff": found, "diff text": found.text(), "diff rows": found.table()}.items()
    with wb.Session(graph("endless"), feeds()) as endless:
        endless.run_to(X, iteration=3)
        yield from {"endless": endless.termination(), "endless fixes": endless.termination().fix}.items()
    with wb.Session(graph("nan"), feeds(0.5)) as nan:
        nan.run()
        yield "nan origin", wb.nan_origin(nan)
        yield "nan termination", nan.termination()


def breakpoint_objects() -> Iterator[tuple[str, Any]]:
    """Breakpoints of all kinds, their table, rules and suggestions."""
    with wb.Session(graph(), feeds()) as session:
        points = session.breakpoints
        yield "breakpoint", points.add(X)
        yield "conditioned", points.add(X, when="iteration > 3", hits=3)
        yield "logpoint", points.add(X, log=f"{HOST} {{iteration}}")
        yield "frame", points.add(frame=LOOP, iteration=2)
        yield "watched", points.add(X, watch=True)
        yield "health", points.add(X, health="nan")
        yield "rule", points.ignore(X)
        yield "recommended", points.recommended() if hasattr(points, "recommended") else ()
        points.clear()
        points.add(X, log=f"{HOST} {{iteration}}")
        yield from {"stop": session.run(), "log": points.log, "log line": str(points.log[-1])}.items()
        yield "table", points
        yield "rules", points.rules
        yield "rows", points.table()


def sweep_objects() -> Iterator[tuple[str, Any]]:
    """Sweeps over hostile inputs."""
    made = graph()
    found = wb.sweep(made, {f"in{HOST}": np.linspace(-1.0, 9.0, 11), f"start{HOST}": [0.5, 1.0]}, collect=[f"{X}[-4:]"])
    yield from {"sweep": found, "basins": found.basins(f"{X}[-4:]"), "failures": found.failures}.items()
    failing = wb.sweep(broken(), {f"n{HOST}": np.arange(-9, 9)})
    yield from {
        "failed": failing,
        "failures of nodes": failing.failures,
        "failure texts": list(failing["failure"]),
    }.items()
    yield "failure", [str(one) for one in failing.failures.values()]
    yield "boundary", wb.boundary(made, {f"in{HOST}": (-1.0, 2.0)}, inputs={f"start{HOST}": 1.0}, what="converges")
    view = found.view()
    yield "sweep view", view
    view.close()


def watch_objects() -> Iterator[tuple[str, Any]]:
    """Watches of hostile names, their outlooks, reports and views."""
    from workbench.recorder.live_list import live
    from workbench.recorder.outlook import Outlooks

    with wb.WatchReports() as reports:
        watch = wb.watch(f"w{HOST}", until={X: ("<", 1e-3)}, report=reports, show=False)
        for k in range(20):
            watch(**{X: 0.5**k, f"bad{HOST}": object()})
        yield "watch", watch
        yield "live", live()
        yield "outlook", Outlooks().look(watch)
        yield "outlook line", Outlooks().look(watch).line
        view = watch.view() if hasattr(watch, "view") else None
        if view is not None:
            yield "watch view", view
            view.close()
        watch.finish()
        yield "watch report", watch.report()
        again = watch.restart()
        again(**{X: 1.0})
        again.finish()
        yield "compare", again.compare()
        reports.wait(1)
        yield "reports", reports
        view = reports.view()
        yield "reports view", view
        view.close()


def memory_objects() -> Iterator[tuple[str, Any]]:
    """Arrays, their managers and reports."""
    with wb.ArrayManager(f"m{HOST}") as manager:
        inner = manager.new_submanager(f"s{HOST}")
        array = inner.array([1.0, 2.0])
        yield from {"manager": inner, "array": array, "arrays": inner.arrays, "memory": wb.memory()}.items()
        inner.close()
        yield "released", array
    yield from {"plan cache": wb.plan_cache, "record": wb.Record(HOST, {X: [1.0, 2.0]})}.items()


def error_makers() -> Iterator[tuple[str, Any]]:
    """Calls that fail, each with a hostile name in what it is given."""
    made = graph()
    session = wb.Session(made, feeds())
    session.run()
    yield "feed", lambda: made.run({HOST: 1.0})
    yield "missing feed", lambda: made.run({})
    yield "feed type", lambda: made.run({**feeds(), f"in{HOST}": HOST})
    yield "session feed", lambda: wb.Session(made, {HOST: 1.0})
    yield "value", lambda: session.value(HOST)
    yield "value iteration", lambda: session.value(X, 10**6)
    yield "values", lambda: session.values(HOST)
    yield "explain", lambda: session.explain(HOST)
    yield "explain iteration", lambda: session.explain(X, 10**6)
    yield "termination", lambda: session.termination(HOST)
    yield "run_to", lambda: session.run_to(HOST)
    yield "set_value", lambda: session.set_value(HOST, 1.0)
    yield "set type", lambda: session.set_value(X, HOST)
    yield "branch", lambda: session.run_to_branch(HOST)
    yield "breakpoint", lambda: session.breakpoints.add(HOST)
    yield "breakpoint frame", lambda: session.breakpoints.add(frame=HOST)
    yield "breakpoint health", lambda: session.breakpoints.add(X, health=HOST)
    yield "breakpoint iteration", lambda: session.breakpoints.add(X, iteration=HOST)
    yield "breakpoint pattern", lambda: session.breakpoints.add(f"*{HOST}")
    yield "breakpoint op", lambda: session.breakpoints.add("*", op=f"{HOST}*")
    yield "breakpoint log", lambda: session.breakpoints.add(X, log=f"{{{HOST}}}")
    yield "breakpoint number", lambda: session.breakpoints[HOST]
    yield "condition", lambda: session.breakpoints.add(X, when=f"{HOST} > 1")
    yield "log", lambda: session.breakpoints.add(X, log=f"{{{HOST}}}")
    yield "update", lambda: session.update({HOST: 1.0})
    yield "classify", lambda: wb.classify(HOST)
    yield "tolerance", lambda: wb.iterations_to_tolerance([HOST], 1e-3)
    yield "trace", lambda: session.trace[HOST]
    yield "trace file", lambda: wb.Trace.load(f"/nowhere/{HOST}".replace("\x00", ""))
    yield "load", lambda: wb.load(f"/nowhere/{HOST}".replace("\x00", ""))
    yield "parse", lambda: wb.parse(HOST)
    yield "parse line", lambda: wb.parse(f"graph g\n  x = {HOST}(1)\n")
    yield "builder op", lambda: wb.GraphBuilder(HOST).op(HOST)
    yield "builder dtype", lambda: wb.GraphBuilder(HOST).placeholder(HOST, HOST, ())
    yield "output", lambda: wb.GraphBuilder(HOST).build({HOST: 3})
    yield "sweep", lambda: wb.sweep(made, {HOST: [1.0, 2.0]})
    yield "sweep missing", lambda: wb.sweep(made, {f"in{HOST}": [1.0]})
    yield "sweep collect", lambda: wb.sweep(made, {f"in{HOST}": [1.0]}, inputs={f"start{HOST}": 1.0}, collect=[HOST])
    yield "sweep column", lambda: wb.sweep(made, {f"in{HOST}": [1.0]}, inputs={f"start{HOST}": 1.0})[HOST]
    yield (
        "sweep refine",
        lambda: wb.sweep(made, {f"in{HOST}": [1.0]}, inputs={f"start{HOST}": 1.0}).refine({HOST: (0, 1)}),
    )
    yield "watch until", lambda: wb.watch(HOST, until={X: (HOST, 1)}, show=False)
    yield "watch name", lambda: wb.watch("x", show=False)[HOST]
    yield "reports host", lambda: wb.WatchReports("nowhere.invalid\x1b")
    yield "retention", lambda: wb.Session(made, feeds(), trace=HOST)
    yield "examples", lambda: wb.example_inputs(made, **{HOST: 3})
    yield "dtype", lambda: wb.in_dtype(made, HOST)
    yield "device", lambda: wb.Device(HOST)
    yield "failing", lambda: broken().run({f"n{HOST}": 0})
    yield "released", released
    yield "apply_fix", lambda: session.apply_fix(HOST)
    with contextlib.suppress(Exception):
        yield "fork", lambda: session.fork().value(HOST)
    session.close()


def broken() -> wb.Graph:
    """A node that fails while it runs, in a frame of hostile names."""
    b = wb.GraphBuilder(f"g{HOST}")
    b.source = Source(f"/home/{HOST}.py", 3, HOST)
    n = b.placeholder(f"n{HOST}", "int64", ())

    def body(**v):
        (k,) = v.values()
        b.op("assert", k < 3, message=f"no {HOST}", name=f"small{HOST}")
        return {X: b.op("gather", b.constant([1, 2, 3, 4], "int64"), k, name=f"taken{HOST}") + k}

    last = b.while_loop(lambda **v: next(iter(v.values())) < 100, body, {X: n}, name=LOOP)
    return b.build({f"out{HOST}": last[X]})


def released() -> None:
    """A handle whose manager was closed."""
    with wb.ArrayManager(f"m{HOST}") as manager:
        array = manager.array([1.0])
    array.numpy()
