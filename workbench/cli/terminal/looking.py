"""Commands that look at the run: values, variables, frames, the graph around a node."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.cli.explain import ALL_LINKS, LINKS
from workbench.cli.neighbours import neighbourhood
from workbench.cli.output import path_text, value_text
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import command
from workbench.cli.terminal.where import firing, show_stop, value_of
from workbench.cli.terminal.words import indexed, iteration, part_of, span
from workbench.errors import SessionError, WorkbenchError
from workbench.ir.node import Ref

_GROUP = "Inspecting"
#: rows that one command prints, firings that a course is drawn from, items of an array that are written out
ROWS, COURSE, ITEMS = 40, 20_000, 1000


def split_name(terminal: Terminal, words: list[str]) -> tuple[str, tuple[Any, ...] | None, list[str]]:
    """Name, index and what is left of the words; without a name, the node that comes next."""
    if not words:
        node = terminal.session.position.node
        if node is None:
            raise SessionError("Expected a name.", slug="bad-line", fix="write for example: print x.")
        return node, None, []
    head, *rest = words
    while "[" in head and "]" not in head.rsplit("[", 1)[1] and rest and not _known(terminal, head):
        head += f" {rest.pop(0)}"  # x[0, :3] is one word
    name, index = indexed(head, lambda n: _known(terminal, n))
    return name, index, [word for word in rest if word != "@"]


def _known(terminal: Terminal, name: str) -> bool:
    try:
        terminal.session.graph.value(name)
    except WorkbenchError:
        return False
    return True


@command("where w", _GROUP, "where", "the current position and its enclosing loops")
def where(terminal: Terminal, words: list[str], line: str) -> None:
    show_stop(terminal, terminal.session.stop)
    frames(terminal, [], "")


@command(
    "print p",
    _GROUP,
    "print NAME[INDEX] [ITERATION | FROM:TO]",
    "print a value: the last one, that of one iteration, or of a range",
    completes="value",
)
def print_(terminal: Terminal, words: list[str], line: str) -> None:
    name, index, rest = split_name(terminal, words)
    if len(rest) > 1:
        raise SessionError("Too many arguments.", slug="bad-line", fix="write: print x[0, :3] 7, or print x 10:20.")
    if rest and span(rest[0]) is not None:
        return _stretch(terminal, name, index, rest[0])
    path = iteration(rest[0]) if rest else None
    value = terminal.session.value(name, path)
    terminal.code.append(f"{terminal.variable}.value({name!r}{'' if path is None else f', {path!r}'})")
    show_value(terminal, name, part_of(name, value, index), index is not None)
    return None


def show_value(terminal: Terminal, name: str, value: Any, part: bool = False) -> None:
    """A value with its dtype and shape; large arrays are summarised, with what is not finite counted."""
    screen = terminal.screen
    if not isinstance(value, np.ndarray | np.generic):
        screen.pairs((name, "name"), (f" = {value_text(value)}", ""))
        return
    array = np.asarray(value)
    head = f"{array.dtype}[{','.join(map(str, array.shape))}]" + (" (part)" if part else "")
    if array.ndim == 0:
        screen.pairs((name, "name"), (f" = {array[()]}", "strong"), (f"   {head}", "quiet"))
    else:
        screen.pairs((name, "name"), (f"   {head}", "quiet"))
        threshold, width = ITEMS if array.size <= ITEMS else 60, screen.width or 100
        text = np.array2string(array, threshold=threshold, max_line_width=width, precision=8)
        shown = text.split("\n")
        screen.say("\n".join(shown[:ROWS]))
        if len(shown) > ROWS:
            screen.say(f"... {len(shown) - ROWS} more lines; give an index: print {name}[0, :8]", "quiet")
    if array.dtype.kind == "f" and array.size:
        nan, inf = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        if nan or inf:
            screen.say(f"{nan:,} NaN, {inf:,} infinite of {array.size:,}", "bad")
        if array.ndim:
            finite = array[np.isfinite(array)].astype(np.float64)
            if finite.size:
                screen.say(f"min {finite.min():.6g}, max {finite.max():.6g}, mean {finite.mean():.6g}", "quiet")


def _stretch(terminal: Terminal, name: str, index: Any, text: str) -> None:
    """Values of several iterations, below each other, and their course."""
    found = span(text)
    assert found is not None
    start, stop, step = found
    session = terminal.session
    if any(v is not None and v < 0 for v in (start, stop)):
        series = session.trace[name]  # from the end: what is recorded
        low, high, step = slice(start, stop, step).indices(len(series))
        places, values = series.window(low, high, step)
    else:
        places, values = session.values(name, start or 0, stop, step)
    terminal.code.append(f"{terminal.variable}.values({name!r}, {start or 0}, {stop}, {step})")
    rows = []
    for place, value in list(zip(np.asarray(places).tolist(), values, strict=True))[:ROWS]:
        shown = part_of(name, value, index)
        rows.append((",".join(map(str, place if isinstance(place, list) else [place])), value_text(np.asarray(shown))))
    terminal.screen.table(("iteration", name), rows, right=("iteration",))
    if len(values) > ROWS:
        terminal.screen.say(f"... {len(values) - ROWS:,} more", "quiet")
    if index is None and np.asarray(values).ndim == 1:
        terminal.screen.say(terminal.screen.spark(values, 60))


@command("variables v vars", _GROUP, "variables [all]", "the loop variables and how they change; all: every value")
def variables(terminal: Terminal, words: list[str], line: str) -> None:
    session, trace = terminal.session, terminal.session.trace
    frame = session.position.frame
    every = words[:1] == ["all"]
    near = [p for p in session.graph.frames if p[: len(frame)] == frame[: len(p)]]  # around the present one, or inside
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
    if len(names) > 4 * ROWS:
        terminal.screen.say(f"... {len(names) - 4 * ROWS:,} more", "quiet")


@command("history h", _GROUP, "history NAME [FROM:TO]", "the values of a name over the iterations", completes="value")
def history(terminal: Terminal, words: list[str], line: str) -> None:
    name, index, rest = split_name(terminal, words)
    _stretch(terminal, name, index, rest[0] if rest and span(rest[0]) else "-20:")


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


@command("list l", _GROUP, "list [NAME]", "a node with its inputs and the nodes that read it", completes="value")
def list_(terminal: Terminal, words: list[str], line: str) -> None:
    name, _, _ = split_name(terminal, words)
    terminal.screen.say(neighbourhood(terminal.session.graph, name, terminal.session.trace).rstrip("\n"))


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
    count = min(int(words[0]), 1000) if words and words[0].isdecimal() else 10
    session = terminal.session
    rows = []
    for tag in session.trace.recent(session.position.frame, count):
        value = value_of(session, Ref(tag.node, 0), tag.iteration or None)
        rows.append((path_text(tag.frame, tag.iteration), firing(session, tag).split("  [")[0], value))
    terminal.screen.table(("iteration", "firing", "value"), rows)


@command("branches", _GROUP, "branches", "how often each Switch chose each side, and its last decision")
def branches(terminal: Terminal, words: list[str], line: str) -> None:
    trace = terminal.session.trace
    rows = []
    for name, (no, yes) in list(trace.branch_counts().items())[: 4 * ROWS]:
        last = trace.last_branch(name)
        rows.append((name, f"{yes:,}", f"{no:,}", "" if last is None else "true" if last else "false"))
    terminal.screen.table(("switch", "true", "false", "last"), rows, right=("true", "false"))


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
    terminal.screen.say(found or "All recorded values are finite.", "bad" if found else "good")
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
    terminal.screen.say(f"{len(found):,} values would overflow in {dtype}.", "bad" if found else "good")


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
        terminal.screen.say("no values are shown at every stop", "quiet")


@command("memory", _GROUP, "memory", "memory that the run uses")
def memory(terminal: Terminal, words: list[str], line: str) -> None:
    terminal.screen.say(terminal.session.memory())
