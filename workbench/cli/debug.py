"""``workbench debug``: the debugger in a terminal."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.cli.inputs import add_inputs
from workbench.cli.output import print_line
from workbench.cli.sources import add_keep, add_model, make_session, open_graph, random_inputs, tell_made_up


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "debug",
        help="debug a model at the terminal",
        description="Step through a model forwards and back, with breakpoints, values, and reasons why loops end. "
        "help lists the commands; Ctrl-C pauses a run. Lines may also be piped in. "
        "Exit status 1 if a line of a script failed.",
    )
    add_model(parser)
    add_inputs(parser)
    add_keep(parser)
    parser.add_argument(
        "-c", "--command", metavar="LINE", action="append", default=[], help="a line to run first; may be repeated"
    )
    parser.add_argument("-x", "--script", metavar="FILE", type=Path, help="a file of lines to run first")
    parser.add_argument("--batch", action="store_true", help="exit after these lines")
    parser.add_argument("--json", action="store_true", help="answer each line with one line of JSON")
    parser.set_defaults(run=_debug)


def _debug(arguments: argparse.Namespace) -> int:
    session = make_session(open_graph(arguments.model, None, arguments.unroll_recurrent), arguments)
    from workbench.cli.terminal import Terminal

    lines = list(arguments.command)
    if arguments.script is not None:
        lines = [*arguments.script.read_text(encoding="utf-8", errors="replace").splitlines(), *lines]
    if arguments.json:
        known = {"random_inputs": random_inputs(arguments)}
        return _answer_lines(session, lines if arguments.batch else itertools.chain(lines, sys.stdin), known)
    terminal = Terminal(session)
    try:
        if arguments.batch:
            terminal.greet(False)
        terminal.run_lines(lines)
        failed = terminal.failed
        if not arguments.batch and not terminal.over:
            failed = terminal.interact()
        if session.state == "failed":
            tell_made_up(arguments)
        return 1 if failed and (arguments.batch or not sys.stdin.isatty()) else 0
    finally:
        terminal.close()
        session.close()


def _answer_lines(session: Any, lines: Iterable[str], known: dict[str, Any]) -> int:
    """Print a line of JSON for each line, including the ``known`` facts; status 1 if a line failed."""
    from workbench.cli.terminal.json_lines import answers

    failed = False
    try:
        for answer in answers(session, lines):
            failed = failed or answer["error"] is not None
            print_line(answer | known)
        return int(failed)
    finally:
        session.close()
