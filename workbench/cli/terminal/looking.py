"""Commands that inspect the run: variables, frames, the graph around a node, why a loop ends."""

from __future__ import annotations

import numpy as np

from workbench.analysis.live.label import label_of
from workbench.analysis.text import count
from workbench.analysis.verdict import Termination
from workbench.cli.explain import ALL_LINKS, LINKS
from workbench.cli.neighbours import neighbourhood
from workbench.cli.output import path_text, value_text
from workbench.cli.terminal.printing import ROWS, split_name
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import command
from workbench.cli.terminal.where import firing, show_stop, value_of
from workbench.cli.terminal.words import iteration
from workbench.errors import SessionError
from workbench.ir.node import Ref

_GROUP = "Inspecting"
#: maximum firings in the sparkline of a variable
COURSE = 20_000


@command("where w bt", _GROUP, "where", "the current position and its enclosing loops")
def where(terminal: Terminal, words: list[str], line: str) -> None:
    show_stop(terminal, terminal.session.stop)
    frames(terminal, [], "")


@command("variables v vars", _GROUP, "variables [all]", "the loop variables and how they change; all: every value")
def variables(terminal: Terminal, words: list[str], line: str) -> None:
    session, trace = terminal.session, terminal.session.trace
    frame = session.position.frame
    every = words[:1] == ["all"]
    # loops that enclose the present frame, or are in it
    near = [p for p in session.graph.frames if p[: len(frame)] == frame[: len(p)]]
    carried = [v.name for path in near for v in session.graph.frames[path].variables]
    names = [n for n in dict.fromkeys(carried if carried and not every else trace.names()) if n in trace]
    rows = []
    for name in names[: 4 * ROWS]:
        series = trace[name]
        if not len(series):
            rows.append((name, "", "not run", "", ""))
            continue
        tag = series.tag(-1)
        newest = series[-1]
        change = ""
        if series.type.shape == () and len(series) > 1 and np.asarray(newest).dtype.kind in "iuf":
            change = f"{float(newest) - float(series[-2]):+.3g}"
        course = terminal.screen.spark(series[-COURSE:]) if series.type.shape == () and len(series) > 1 else ""
        rows.append((name, path_text(tag.frame, tag.iteration), value_text(newest), change, course))
    heads = ("name", "iteration", "value", "change", "course")
    terminal.screen.table(heads, rows, right=("change",), optional=("course", "change"))
    _more(terminal, len(names) - 4 * ROWS)


@command("frames", _GROUP, "frames", "all loops, outermost first, with their iterations")
def frames(terminal: Terminal, words: list[str], line: str) -> None:
    session = terminal.session
    position, snapshot = session.position, session.snapshot()
    open_ = {position.frame[: i + 1] for i in range(len(position.frame))}
    rows = []
    for path, frame in session.graph.frames.items():
        if not path:
            rows.append(("►" if not position.frame else "", "top level", "", ""))
            continue
        number = snapshot.iterations.get(path, -1)
        mark = "►" if path == position.frame else "│" if path in open_ else ""
        carried = ", ".join(v.name for v in frame.variables[:6])
        rows.append((mark, "  " * len(path) + path[-1], f"iteration {number:,}" if number >= 0 else "closed", carried))
    terminal.screen.table(("", "frame", "", "carries"), rows[: 2 * ROWS])
    _more(terminal, len(rows) - 2 * ROWS)


def _more(terminal: Terminal, left_out: int) -> None:
    """Print the number of rows that a table leaves out, if any."""
    if left_out > 0:
        terminal.screen.say(f"... {left_out:,} more", "quiet")


@command("list l", _GROUP, "list [NAME]", "a node with its inputs, its readers, and how it runs", completes="value")
def list_(terminal: Terminal, words: list[str], line: str) -> None:
    name, _, _ = split_name(terminal, words)
    session = terminal.session
    terminal.screen.say(neighbourhood(session.graph, name, session.trace, session.plan).rstrip("\n"))


@command("graph", _GROUP, "graph", "inputs, outputs, loops and ops of the graph")
def graph(terminal: Terminal, words: list[str], line: str) -> None:
    from workbench.cli.inspect import describe_graph

    terminal.screen.say(describe_graph(terminal.session.graph, terminal.screen.width).rstrip("\n"))


@command("find", _GROUP, "find TEXT", "find nodes by a part of their name, op or type")
def find_(terminal: Terminal, words: list[str], line: str) -> None:
    text = line.strip().lower()
    found = [
        (n.name, n.op, " ".join(map(str, n.types)), "/".join(terminal.session.graph.frame_of(n.name)))
        for n in terminal.session.graph.nodes.values()
        if text in f"{n.name} {n.op} {' '.join(map(str, n.types))}".lower()
    ]
    terminal.screen.table(("node", "op", "type", "frame"), found[:ROWS], optional=("frame", "type"))
    terminal.screen.say(
        f"{len(found):,} found" + (f", the first {ROWS} are shown" if len(found) > ROWS else ""), "quiet"
    )


@command("events e", _GROUP, "events [N]", "the latest nodes that ran in this loop, with their values")
def events(terminal: Terminal, words: list[str], line: str) -> None:
    most = min(int(words[0]), 1000) if words and words[0].isdecimal() else 10
    session = terminal.session
    rows = []
    for tag in session.trace.recent(session.position.frame, most):
        value = value_of(session, Ref(tag.node, 0), tag.iteration or None)
        rows.append((path_text(tag.frame, tag.iteration), firing(session, tag).split("  [")[0], value))
    terminal.screen.table(("iteration", "firing", "value"), rows)


@command("branches", _GROUP, "branches", "how often each Switch chose each side, and its last decision")
def branches(terminal: Terminal, words: list[str], line: str) -> None:
    trace = terminal.session.trace
    rows, counts = [], list(trace.branch_counts().items())
    for name, (no, yes) in counts[: 4 * ROWS]:
        last = trace.last_branch(name)
        rows.append((name, f"{yes:,}", f"{no:,}", "" if last is None else "true" if last else "false"))
    terminal.screen.table(("switch", "true", "false", "last"), rows, right=("true", "false"))
    _more(terminal, len(counts) - 4 * ROWS)


@command(
    "explain x",
    _GROUP,
    "explain [NAME] [ITERATION] [all | N]",
    "the values from which a value was computed: the nearest 12, N, or all",
    completes="value",
)
def explain(terminal: Terminal, words: list[str], line: str) -> None:
    name, _, rest = split_name(terminal, words)
    most = LINKS
    if rest and rest[-1] in ("all", "--all"):
        most = ALL_LINKS
        rest.pop()
    elif len(rest) > 1 and rest[-1].isdecimal() and 0 < int(rest[-1][:9]):
        most = int(rest.pop()[:9])
    if len(rest) > 1:
        raise SessionError("Too many arguments.", slug="bad-line", fix="write: explain x 7, or explain x 7 all.")
    path = iteration(rest[0]) if rest else None
    found = terminal.session.explain(name, path, max_links=most)
    terminal.code.append(f"print({terminal.variable}.explain({name!r}{'' if path is None else f', {path!r}'}))")
    again = " ".join([repr(name) if " " in name else name, *rest, "all"])
    terminal.screen.say(found.text(f"explain {again} shows all of them.", most=None, width=terminal.screen.width))


@command("why termination", _GROUP, "why [LOOP]", "will a loop end, when, and why")
def why(terminal: Terminal, words: list[str], line: str) -> None:
    frame = words[0] if words else None
    terminal.code.append(f"print({terminal.variable}.termination({'' if frame is None else repr(frame)}))")
    terminal.screen.say(terminal.session.termination(frame))


@command("laws", _GROUP, "laws [LOOP | NAME]", "the laws behind a forecast or a label, with shares and refusals")
def laws(terminal: Terminal, words: list[str], line: str) -> None:
    frame = words[0] if words else None
    if frame is not None and frame in terminal.session.trace:
        evolution = label_of(terminal.session.trace, frame)
        terminal.code.append(f"print(*wb.classify({terminal.variable}.trace[{frame!r}].values).why_not, sep='\\n')")
        for law in (evolution, *evolution.why_not):
            terminal.screen.say(law)
        return
    argument = "" if frame is None else repr(frame)
    terminal.code.append(f"print(*{terminal.variable}.termination({argument}).candidates, sep='\\n')")
    for law in laws_of(terminal.session.termination(frame)):
        terminal.screen.say(law)


def laws_of(answer: Termination) -> list[str]:
    """One line for each law that was used for a forecast or refused; if there are none, the answer's reason."""
    return [str(c) for c in answer.candidates] or [f"No laws were weighed. {answer.reason.sentence}"]


@command("report", _GROUP, "report", "how all loops and variables evolve, and why")
def report(terminal: Terminal, words: list[str], line: str) -> None:
    from workbench.cli.inspect import report_text

    terminal.code.append(f"print(wb.analyze({terminal.variable}).report())")
    terminal.screen.say(report_text(terminal.session, terminal.screen.width).rstrip("\n"))


@command("nan", _GROUP, "nan [IGNORED ...]", "the origin of the first NaN or infinity: op, iteration and operand")
def nan(terminal: Terminal, words: list[str], line: str) -> None:
    from workbench.analysis.precision import first_nonfinite, first_wrap, nan_origin

    found = nan_origin(terminal.session, ignore=words) if words else first_nonfinite(terminal.session)
    terminal.code.append(f"print(wb.nan_origin({terminal.variable}{f', ignore={words!r}' if words else ''}))")
    if not found and not terminal.session.position.event:
        terminal.screen.say("No values are recorded yet.", "quiet")
        return
    finite = "All other recorded values are finite." if words else "All recorded values are finite."
    terminal.screen.say(found or finite, "bad" if found else "good")
    if not found and (wrap := first_wrap(terminal.session)) is not None:
        terminal.screen.say(wrap, "bad" if wrap.signed else "quiet")


@command("overflow", _GROUP, "overflow [DTYPE]", "values that would overflow in another dtype (float16)")
def overflow(terminal: Terminal, words: list[str], line: str) -> None:
    from workbench.analysis.precision import overflow_candidates

    dtype = words[0] if words else "float16"
    found = overflow_candidates(terminal.session, dtype)
    terminal.code.append(f"wb.overflow_candidates({terminal.variable}, {dtype!r})")
    for each in list(found)[:ROWS]:
        terminal.screen.say(each)
    _more(terminal, len(found) - ROWS)
    terminal.screen.say(f"{count(len(found), 'value')} would overflow in {dtype}.", "bad" if found else "good")


@command("show display", _GROUP, "show [NAME]", "show a value at every stop; repeat to turn it off", completes="value")
def show(terminal: Terminal, words: list[str], line: str) -> None:
    for name in words:
        terminal.session.graph.value(name)
        if name in terminal.shown:
            terminal.shown.remove(name)
        else:
            terminal.shown.append(name)
    for name in terminal.shown:
        terminal.screen.pairs((name, "name"), (f" = {value_of(terminal.session, name)}", ""))
    if not terminal.shown:
        terminal.screen.say("no value is shown at every stop; show NAME adds one", "quiet")


@command("memory", _GROUP, "memory", "memory that the run uses")
def memory(terminal: Terminal, words: list[str], line: str) -> None:
    terminal.screen.say(terminal.session.memory())
