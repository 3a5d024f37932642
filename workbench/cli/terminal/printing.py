"""Commands that print values: of one iteration, of several iterations in rows, and of expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.cli.output import path_text, value_text
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import command
from workbench.cli.terminal.words import indexed, iteration, part_of, span
from workbench.debugger.conditions.batch import Batch
from workbench.debugger.conditions.expression import Expression
from workbench.debugger.conditions.grammar import reads_own
from workbench.errors import SessionError, WorkbenchError

_GROUP = "Inspecting"
#: maximum rows printed by one command, and maximum items of an array that are written out
ROWS, ITEMS = 40, 1000
#: characters that can follow a name in an expression; a minus before digits begins a range instead
_SIGNS = "+*/%<>=!"
_INDICES, _NAME = re.compile(r"\[[^\]]*\]"), re.compile(r"[\w./:-]+")


def split_name(terminal: Terminal, words: list[str]) -> tuple[str, tuple[Any, ...] | None, list[str]]:
    """(name, index, remaining words); without a name, that of the next node."""
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


@command(
    "print p",
    _GROUP,
    "print NAME[INDEX] [ITERATION | FROM:TO], print EXPRESSION [@ ITERATION]",
    "print a value: the last one, that of one iteration, or of a range; or an expression such as 2 * x - norm(y)",
    completes="value",
)
def print_(terminal: Terminal, words: list[str], line: str) -> None:
    if words and _is_expression(terminal, line):
        return _expression(terminal, line)
    name, index, rest = split_name(terminal, words)
    if len(rest) > 1:
        raise SessionError("Too many arguments.", slug="bad-line", fix="write: print x[0, :3] 7, or print x 10:20.")
    if rest and span(rest[0]) is not None:
        return _stretch(terminal, name, index, rest[0])
    path = iteration(rest[0]) if rest else None
    value = terminal.session.value(name, path)
    terminal.code.append(f"{terminal.variable}.value({name!r}{'' if path is None else f', {path!r}'})")
    show_value(terminal, name, part_of(name, value, index), index is not None, place_of(terminal, name, path))
    return None


def place_of(terminal: Terminal, name: str, path: Sequence[int] | None) -> str:
    """``while 4``: the loops around a value, each with the iteration of the printed value; "" outside loops."""
    session = terminal.session
    if path is None:
        if name not in session.trace or not len(series := session.trace[name]):
            return ""
        tag = series.tag(-1)
        return path_text(tag.frame, tag.iteration)
    return path_text(session.graph.frame_of(session.graph.value(name).node), path)


def _is_expression(terminal: Terminal, line: str) -> bool:
    """True for a line that is an expression instead of a name: ``2 * x``, ``x - y``, ``max(x)``."""
    text = _INDICES.sub("", line.partition(" @ ")[0]).strip()
    if not text or _known(terminal, text):
        return False
    head, *rest = text.split()
    if _known(terminal, head.strip("\"'")):
        return bool(rest) and (rest[0] == "-" or rest[0][0] in _SIGNS)
    if not rest and _NAME.fullmatch(head):  # an unknown name, or a quotient
        return "/" in head and _known(terminal, head.partition("/")[0])
    return head == "not" or any(sign in text for sign in (*_SIGNS, "(", "- "))


def _expression(terminal: Terminal, line: str) -> None:
    """Print an expression of values, each from its last firing, or from one iteration."""
    text, _, at = (part.strip() for part in line.partition(" @ "))
    path = iteration(at) if at else None
    session = terminal.session
    # raises an error with similar names for an unknown one
    found = Expression(text, lambda name: bool(session.graph.value(name)))
    if reads_own(found.tree):
        raise SessionError(
            f"{text[:80]!r} reads the value at which a breakpoint is set, and there is none here.",
            slug="bad-line",
            fix='name the values, for example print 2 * x, print max(x), print x - previous("x").',
        )

    def lookup(name: str, back: int) -> tuple[np.ndarray, np.ndarray]:
        where = path
        if back:
            where = session.trace[name].tag(-1).iteration if path is None else path
            where = (*where[:-1], where[-1] - 1) if where else (-1,)
            if where[-1] < 0:
                return np.full(1, np.nan), np.zeros(1, bool)
        return np.asarray(session.value(name, where))[None], np.ones(1, bool)

    value = found.last(Batch.of_one(0.0, path or session.position.iteration, lookup))
    places = {place for name in found.others if (place := place_of(terminal, name, path))}
    if value is None:
        terminal.screen.pairs((text, "name"), (" has no value: the iteration before the first one was read", ""))
    elif isinstance(value, tuple | str):
        terminal.screen.pairs((text, "name"), (f" = {value}", ""))
    else:
        show_value(terminal, text, value, place=places.pop() if len(places) == 1 else "")
    if len(places) > 1:
        shown = (f"{name} of {place_of(terminal, name, path) or 'no loop'}" for name in found.others[:8])
        terminal.screen.say(f"from different iterations: {'; '.join(shown)}", "quiet")


def show_value(terminal: Terminal, name: str, value: Any, part: bool = False, place: str = "") -> None:
    """Print a value with its dtype, shape and iteration; large arrays are summarised, with counts of NaN and
    infinities."""
    screen = terminal.screen
    if not isinstance(value, np.ndarray | np.generic):
        screen.pairs((name, "name"), (f" = {value_text(value)}", ""))
        return
    array = np.asarray(value)
    head = f"{array.dtype}[{','.join(map(str, array.shape))}]" + (" (part)" if part else "")
    head += f"   [{place}]" if place else ""
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
    """Print the values of several iterations in rows, and their sparkline."""
    found = span(text)
    assert found is not None
    start, stop, step = found
    session = terminal.session
    if any(v is not None and v < 0 for v in (start, stop)):
        series = session.trace[name]  # counted from the end of the recorded firings
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


@command("history h", _GROUP, "history NAME [FROM:TO]", "the values of a name over the iterations", completes="value")
def history(terminal: Terminal, words: list[str], line: str) -> None:
    name, index, rest = split_name(terminal, words)
    _stretch(terminal, name, index, rest[0] if rest and span(rest[0]) else "-20:")
