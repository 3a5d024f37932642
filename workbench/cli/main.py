"""Entry point of the command ``workbench``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from workbench.cli.output import error_facts, one_document, print_document, print_line
from workbench.text import printable, similar_names

#: modules of this package whose ``add(commands)`` creates their parsers
GROUPS = (
    "lab",
    "course",
    "grade",
    "run",
    "debug",
    "inspect",
    "explain",
    "diff",
    "sweep",
    "log",
    "mcp",
    "types",
    "doctor",
)


class Parser(argparse.ArgumentParser):
    """Reports invalid options as JSON if JSON output is requested."""

    as_json = in_lines = False

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        if type(self).as_json:
            _print_error({"message": message, "slug": "usage", "fix": f"{self.prog} -h"})
        super().error(message)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = Parser(
        prog="workbench",
        description="Step through dataflow graphs with loops and branches, without a notebook.",
        epilog="workbench COMMAND -h explains each command.",
    )
    top.add_argument("--version", action="version", version=f"workbench {sys.modules['workbench'].__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for group in GROUPS:
        importlib.import_module(f"workbench.cli.{group}").add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, or print the help if none is given; returns the exit status.

    Errors of the workbench are one line on stderr with status 1, wrapped on a terminal; with ``--json`` they are also
    the single document on stdout. ``diff`` has status 1 for different runs, and 2 for errors. Invalid options have
    status 2, Ctrl-C 130.
    """
    for stream in (sys.stdout, sys.stderr):
        # names may contain any character, but terminals and pipes may not accept all
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    top = parser()
    argv = sys.argv[1:] if argv is None else argv
    Parser.as_json, Parser.in_lines = "--json" in argv, list(argv[:1]) == ["debug"]
    if "_ARGCOMPLETE" in os.environ:  # a shell requests completions
        importlib.import_module("argcomplete").autocomplete(top)
    if argv and not argv[0].startswith("-") and argv[0] not in GROUPS:
        near = similar_names(argv[0], GROUPS)
        meant = f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(GROUPS)}"
        top.error(f"unknown command {printable(argv[0][:60])!r}; {meant}")
    arguments, rest = top.parse_known_args(argv)
    if rest and not getattr(arguments, "rest_goes_on", False):
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    if not hasattr(arguments, "run"):
        top.print_help()
        return 0
    trouble = getattr(arguments, "trouble", 1)
    from workbench.errors import WorkbenchError

    try:
        if not getattr(arguments, "alone", False):
            for room in ("ops", "frontends"):  # both register ops that graphs in files may use
                importlib.import_module(f"workbench.{room}")
        with one_document(getattr(arguments, "json", False)):
            status = arguments.run(arguments) or 0
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return trouble
    except KeyboardInterrupt:
        print("workbench: interrupted", file=sys.stderr)
        if Parser.as_json:
            _print_error({"message": "interrupted", "slug": "interrupted", "fix": None})
        return 130
    except (WorkbenchError, ValueError, OSError, MemoryError, RecursionError) as error:
        from workbench.cli.advice import SHELL, error_text
        from workbench.cli.layout import columns, wrap

        text = "not enough memory" if isinstance(error, MemoryError) and not str(error) else error_text(error, SHELL)
        guess = None if getattr(arguments, "blamed", False) else getattr(arguments, "made_up", None)
        if isinstance(error, WorkbenchError) and guess is not None:  # no plan exists for inputs of these sizes
            text = f"{text} {' '.join(guess.blame().split())}"
        print(wrap(f"workbench: {printable(text)}", columns(sys.stderr)), file=sys.stderr)
        if Parser.as_json:
            _print_error(error_facts(error, text))
        return trouble


def _print_error(facts: dict[str, Any]) -> None:
    """The single document of a command that failed, or the last line of one that answers in lines."""
    (print_line if Parser.in_lines else print_document)({"error": facts})


if __name__ == "__main__":
    sys.exit(main())
