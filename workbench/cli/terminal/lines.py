"""Reads lines with history, arrow keys and completion if readline is available."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from workbench.cli.terminal.table import find, words
from workbench.cli.terminal.words import MAX_LINE
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.cli.terminal.shell import Terminal

#: lines of history kept between sessions
REMEMBERED = 1000
#: maximum names that completion offers
OFFERED = 200


def history_file() -> Path:
    """Path of the line history: $WORKBENCH_HISTORY, or a file in the user's state folder."""
    given = os.environ.get("WORKBENCH_HISTORY")
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "workbench" / "history"


def read(terminal: Terminal, source: TextIO, ask: bool) -> str | None:
    """The next line, None at the end. Lines of a script are printed, so that its output is readable."""
    if ask:
        try:
            return input(terminal.prompt)
        except EOFError:
            terminal.screen.say()
            return None
    while line := source.readline(MAX_LINE + 2):
        if line.strip():
            terminal.screen.pairs((terminal.prompt, "quiet"), (line.strip()[:1000], "strong"))
            return line
    return None


@contextlib.contextmanager
def prepared(terminal: Terminal, ask: bool) -> Iterator[None]:
    """History and completion while the terminal is open; the previous settings are restored afterwards."""
    try:
        import readline
    except ImportError:  # missing on some systems
        yield
        return
    if not ask:
        yield
        return
    path = history_file()
    before, delimiters = readline.get_completer(), readline.get_completer_delims()
    with contextlib.suppress(OSError, ValueError):
        readline.read_history_file(path)
    readline.set_completer(_completer(terminal))
    readline.set_completer_delims(" \t\n\"'")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(delimiters)
        readline.set_history_length(REMEMBERED)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(path)


def offers(terminal: Terminal, line: str, text: str) -> list[str]:
    """Completions of ``text``, the last word of ``line``: a command, or a name if its command takes one."""
    head = line[: len(line) - len(text)].split()
    if not head:
        return [word for word in words() if word.startswith(text.lower())]
    try:
        command = find(head[0])
    except WorkbenchError:
        return []
    if command.names == "command":
        return [word for word in words() if word.startswith(text)]
    if command.names != "value":
        return []
    graph = terminal.session.graph
    known = dict.fromkeys([*graph.names, *graph.inputs, *graph.outputs, *graph.nodes])
    return [n for n in known if n.startswith(text) and n.isprintable() and not set(n) & set(" \"'")][:OFFERED]


def _completer(terminal: Terminal) -> Callable[[str, int], str | None]:
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        import readline

        if state == 0:
            found[:] = offers(terminal, readline.get_line_buffer()[: readline.get_endidx()], text)
            if len(found) == 1:
                found[0] += " "
        return found[state] if state < len(found) else None

    return complete
