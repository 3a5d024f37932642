"""Every public question of a run, asked with good and bad arguments: methods of sessions, traces and series, analyses,
views and commands at the terminal.

:func:`of_trace` and :func:`of_session` give (text, call) pairs, drawn by a ``Random``; :func:`unexpected` asks them
and gives back what raised anything but a WorkbenchError. Names are those of all nodes of the graph and its bodies,
values that the plan left out among them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import workbench as wb
from workbench.cli.terminal.table import COMMANDS
from workbench.errors import WorkbenchError
from workbench.ir import Graph, Ref

Question = tuple[str, Callable[[], Any]]
#: names that no graph has, and texts that are no names
NO_NAMES = ("", "?", "x:9", "x:-1", ":0", "while/", "\x1b[31m", "x" * 300)
ITERATIONS: tuple[Any, ...] = (
    *("x", 1.5, (None,), (0, None), [1], np.int64(1), np.array([0, 1]), True, {}, ("a",)),
    *(None, 0, 1, 2, 5, -1, 10**9, 2**70, (), (0,), (0, 0), (1, 2, 3), (-1,), (2**40, 0)),
)
#: values for edits, updates and next values
VALUES: tuple[Any, ...] = (0, 1.5, -3, True, float("nan"), [1.0, 2.0], np.ones((2, 2)), 2**70, "text", None, 1j, [])
CONDITIONS = (
    *("value > 0", "any(value < 2)", "iteration == 1", "isnan(value)", "delta > 1", "x < 1", "value[3] > 1"),
    *("1/0 > value", "value.shape", "(", "value = 3", "__import__('os')", "iteration > 10**30", ""),
)
WORDS = (
    *("1", "0", "-1", "3", "all", "0:2", "-5:", ":", "1,2", "99999999999999999999", "nan", "if", "at", "hits", "every"),
    *("float16", "float99", "'", '"', "[", "[1, 2]", "3.5", "=", "in", "health", "inf", "op", "add", "glossary"),
)


def names_of(graph: Graph, random: Random, most: int = 12) -> list[Any]:
    """Names and references of nodes everywhere in a graph, more of those that have outputs, and some that are none."""
    nodes = list(graph.nodes.values())
    picked = random.sample(nodes, min(most, len(nodes)))
    found: list[Any] = []
    for node in picked:
        found.append(random.choice((node.name, Ref(node.name, 0), f"{node.name}:0", f"{node.name}:1")))
    found += [Ref(random.choice(nodes).name, random.choice((1, 7, -1))), random.choice(NO_NAMES)]
    return found


def of_trace(trace: wb.Trace, random: Random, folder: Path) -> Iterator[Question]:
    """Questions of a trace, live or loaded."""
    graph = trace.graph
    for name in names_of(graph, random):
        yield f"trace.ref({name!r})", lambda name=name: trace.ref(name)
        yield f"trace.firings({name!r})", lambda name=name: trace.firings(name)
        yield f"trace.coverage({name!r})", lambda name=name: trace.coverage(name)
        yield f"trace.count({name!r})", lambda name=name: trace.count(name)
        yield f"trace.last_branch({name!r})", lambda name=name: trace.last_branch(name)
        path, most = random.choice(ITERATIONS), random.choice((1, 5, 40, 0, -1))
        yield (
            f"trace.explain({name!r}, {path}, {most})",
            lambda n=name, p=path, m=most: (e := trace.explain(n, p, max_links=m), str(e), e.to_dict(), e.roots()),
        )
        yield from of_series(f"trace[{name!r}]", lambda name=name: trace[name], random)
    yield "trace.names()", trace.names
    yield "trace.coverages()", trace.coverages
    for silent in (True, False):
        yield f"trace.events({silent})", lambda s=silent: (e := trace.events(s), e.columns(), list(e), e.to_pandas())
        yield f"trace.branches({silent})", lambda s=silent: (e := trace.branches(s), e.columns(), list(e))
    yield "trace.branch_counts()", trace.branch_counts
    for frame in [*graph.frames, ("nowhere",), ()]:
        yield f"trace.recent({frame})", lambda frame=frame: trace.recent(frame, random.choice((0, 1, 8)))
    yield "trace.dropped", lambda: (trace.dropped, trace.spill, repr(trace), str(trace))
    yield "trace._repr_html_()", lambda: trace._repr_html_() if hasattr(trace, "_repr_html_") else None
    yield "trace.save", lambda: wb.Trace.load(_saved(trace, folder))
    yield "trace.to_pandas()", trace.to_pandas
    rtol, atol = (random.choice((0, 1e-6, -1, float("nan"), "x", None, 1e400)) for _ in range(2))
    yield f"wb.diff(rtol={rtol}, atol={atol})", lambda: str(wb.diff(trace, trace, rtol=rtol, atol=atol))
    yield "wb.diff", lambda: (d := wb.diff(trace, trace), str(d), repr(d), d.text())
    yield from of_run("trace", trace, random)


def of_series(text: str, series: Callable[[], Any], random: Random) -> Iterator[Question]:
    path, at = random.choice(ITERATIONS), random.choice((0, -1, 1, 10**9, -(10**9), 2**70, "x", None, 0.5))
    start, stop, step = (random.choice((0, 1, 5, -2, 2**70, None, "x")) for _ in range(3))
    yield f"{text}.values", lambda: (series().values, series().iterations, len(series()), repr(series()))
    yield f"{text}.gaps", lambda: (series().gaps, series().rows, series().conditional, series().statistics)
    yield f"{text}.measured", lambda: series().measured
    yield f"{text}.envelope(4)", lambda: series().envelope(random.choice((4, 1, 0, 1000)))
    yield f"{text}.tag({at})", lambda: series().tag(at)
    yield f"{text}[{at}]", lambda: series()[at]
    yield f"{text}[{start}:{stop}:{step}]", lambda: series()[start:stop:step]
    yield f"{text}.at({path})", lambda: series().at(path)
    yield f"{text}.window({start}, {stop})", lambda: series().window(start or 0, stop or 0)
    yield f"{text}.within({start}, {stop})", lambda: series().within(start or 0, stop or 0)
    yield f"{text}.to_pandas()", lambda: series().to_pandas()
    yield f"classify({text}.values)", lambda: str(wb.classify(series().values))


def of_run(text: str, run: Any, random: Random) -> Iterator[Question]:
    """Analyses that take a session or a trace."""
    yield f"wb.nan_origin({text})", lambda: (o := wb.nan_origin(run), str(o), repr(o))
    yield f"wb.index_faults({text})", lambda: [str(f) for f in wb.index_faults(run)]
    dtype = random.choice(("float16", "float32", "int8", "bfloat16", "float99"))
    yield f"wb.overflow_candidates({text}, {dtype})", lambda: [str(c) for c in wb.overflow_candidates(run, dtype)]
    yield f"wb.analyze({text})", lambda: (a := wb.analyze(run), a.report(), a._repr_html_())


def of_session(session: wb.Session, random: Random, folder: Path) -> Iterator[Question]:
    """Questions of a session at its present stop; those that do not move it first."""
    graph = session.graph
    for name in names_of(graph, random):
        for path in random.sample(ITERATIONS, 3):
            yield f"session.value({name!r}, {path})", lambda n=name, p=path: session.value(n, p)
            yield f"session.hold({name!r}, {path})", lambda n=name, p=path: session.hold(n, p).release()
            yield f"session.explain({name!r}, {path})", lambda n=name, p=path: str(session.explain(n, p, max_links=9))
        bounds = tuple(random.choice((0, 1, 4, -3, 2**70)) for _ in range(3))
        within = random.choice(ITERATIONS[1:])
        yield (
            f"session.values({name!r}, *{bounds}, within={within})",
            lambda n=name, b=bounds, w=within: session.values(n, *b, within=w),
        )
        value = random.choice(VALUES)
        yield f"session.next_values({name!r}, {value})", lambda n=name, v=value: session.next_values(n, v)
    for frame in [None, *graph.frames, "nowhere", ("no", "where"), 3]:
        seconds = random.choice((None, 0, 0.01, -1, float("nan")))
        yield (
            f"session.termination({frame}, {seconds})",
            lambda f=frame, s=seconds: (t := session.termination(f, s), str(t), repr(t)),
        )
        yield f"session.look_ahead({frame})", lambda f=frame: session.look_ahead(f)
    for name in ("state", "position", "stop", "version", "trace", "inputs", "plan", "dag", "outputs", "can_undo"):
        yield f"session.{name}", lambda name=name: repr(getattr(session, name))
    for name in ("shapes", "histories", "forks", "breakpoints"):
        yield f"session.{name}", lambda name=name: (repr(getattr(session, name)), list(getattr(session, name)))
    for name in ("snapshot", "memory_now", "memory", "whole_trace"):
        yield f"session.{name}()", lambda name=name: str(getattr(session, name)())
    yield from of_run("session", session, random)
    yield from of_breakpoints(session, random)


def of_breakpoints(session: wb.Session, random: Random) -> Iterator[Question]:
    points = session.breakpoints
    for name in names_of(session.graph, random, 4):
        when, path = random.choice(CONDITIONS), random.choice(ITERATIONS)
        given = {"when": when} if random.random() < 0.5 else {"iteration": path}
        if random.random() < 0.3:
            given = {"health": random.choice(("nan", "inf", "wrap", "?"))}
        if random.random() < 0.2:
            given |= {"hits": random.choice((0, 1, -1, "many"))}
        yield f"breakpoints.add({name!r}, **{given})", lambda n=name, g=given: repr(points.add(n, **g))
        yield f"breakpoints.ignore({name!r})", lambda n=name: points.ignore(n)
    yield "breakpoints.recheck", lambda: [points.recheck(p.number) for p in points]
    yield "breakpoints.recheck(99)", lambda: points.recheck(99)
    yield "breakpoints.toggle(99)", lambda: points.toggle(99)
    yield "breakpoints.recommended", lambda: session.breakpoints.recommended() if hasattr(points, "recommended") else 0
    yield "breakpoints.clear", points.clear


def moves_of(session: wb.Session, random: Random) -> Iterator[Question]:
    """Commands that move the session or change its values."""
    for name in names_of(session.graph, random, 4):
        path, value = random.choice(ITERATIONS), random.choice(VALUES)
        yield f"session.run_to({name!r}, {path})", lambda n=name, p=path: session.run_to(n, p)
        yield f"session.run_to_branch({name!r})", lambda n=name: session.run_to_branch(n, random.random() < 0.5)
        yield f"session.set_value({name!r}, {value!r})", lambda n=name, v=value: session.set_value(n, v)
    for name in ("step_into", "step_out", "step_back_out", "next_branch", "previous_branch", "undo_edit", "restart"):
        yield f"session.{name}()", getattr(session, name)
    for name in ("step", "step_back", "next_iteration", "previous_iteration"):
        n = random.choice((1, 3, 0, -1, 10**6, 2**70))
        yield f"session.{name}({n})", lambda name=name, n=n: getattr(session, name)(n)
    changes = {random.choice([*session.graph.inputs, "nothing"]): random.choice(VALUES)}
    yield f"session.update({changes})", lambda: str(session.update(changes))


def at_the_terminal(session: wb.Session, random: Random, folder: Path, lines: int = 40) -> Iterator[Question]:
    """Lines of the terminal debugger, each with drawn words; those that would end it, or write elsewhere, left out."""
    commands = [c for c in COMMANDS.values() if c.name not in ("quit", "save", "code")]
    for _ in range(lines):
        command = random.choice(commands)
        words = [_word(session.graph, random) for _ in range(random.choice((0, 1, 1, 2, 3)))]
        line = " ".join([random.choice((command.name, *command.aliases)), *words])
        yield f"terminal: {line}", lambda line=line: _typed(session, line)


def _word(graph: Graph, random: Random) -> str:
    if random.random() < 0.4:
        return random.choice(WORDS)
    name = random.choice(names_of(graph, random, 3))
    text = str(name) if not isinstance(name, Ref) else name.node
    return text + random.choice(("", "", "", "[3]", "[0]", "[:, 0]", "[x]", "[", "=3", ":1"))


def _typed(session: wb.Session, line: str) -> str:
    out = io.StringIO()
    wb.terminal(session, commands=[line], source=io.StringIO(""), out=out)
    said = out.getvalue()
    if fault := re.search(r"^error: ([A-Z]\w*(?:Error|Exception|Iteration)): .*", said, re.MULTILINE):
        raise RuntimeError(f"at the terminal: {fault[0]}")
    return said


def views_of(run: Any, random: Random) -> Iterator[Question]:
    """The views of a session or a trace, as figures and as pages."""
    from workbench import widgets

    names = ("GraphView", "EvolutionView", "TerminationView", "ControlFlowView", "FrameTimeline", "ValueInspector")
    for name in (*names, "ExplainView", "BreakpointTable", "MemoryView"):
        yield f"widgets.{name}", lambda name=name: _shown(getattr(widgets, name), run)


def _shown(view: Callable[[Any], Any], run: Any) -> None:
    shown = view(run)
    try:
        assert shown.figure is not None if hasattr(shown, "figure") else repr(shown)
    finally:
        shown.close()


def _saved(trace: wb.Trace, folder: Path) -> Path:
    trace.save(folder / "again.wbtrace")
    return folder / "again.wbtrace"


def unexpected(questions: Iterable[Question]) -> tuple[int, list[tuple[str, Exception]]]:
    """How many questions there were, and those that raised anything but a WorkbenchError."""
    asked, found = 0, []
    for text, ask in questions:
        asked += 1
        try:
            ask()
        except WorkbenchError:
            pass
        except Exception as error:
            found.append((text, error))
    return asked, found
