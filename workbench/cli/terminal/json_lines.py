"""The terminal debugger for programs: one command per line of input, one JSON document per line of output."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from workbench.cli.output import error_facts
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.words import MAX_LINE


def answers(session: Any, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The answer to each line, preceded by one with the position of the session.

    At the end the session's forks are closed; ``quit`` ends the answers. Blank lines are ignored.
    """
    out = io.StringIO()
    terminal = Terminal(session, out)
    try:
        terminal.greet(False)
        yield _answer(terminal, "", out)
        for line in lines:
            if not line.strip():
                continue
            terminal.do(line)
            yield _answer(terminal, line.strip()[:MAX_LINE], out)
            if terminal.over:
                break
    finally:
        terminal.close()


def _answer(terminal: Terminal, line: str, out: io.StringIO) -> dict[str, Any]:
    """The answer to a line: its output, which is cleared, its error, and the session's new position."""
    text = out.getvalue().rstrip("\n")
    out.seek(0)
    out.truncate()
    session = terminal.session
    position = session.position
    return {
        "line": line,
        "text": text,
        "error": None if terminal.error is None else error_facts(terminal.error),
        "state": session.state,
        "reason": session.stop.reason.name,
        "event": position.event,
        "node": position.node,
        "frame": list(position.frame),
        "iteration": list(position.iteration),
    }
