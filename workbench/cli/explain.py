"""``workbench explain``: the chain of values that lead to a value."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.cli.inputs import add_inputs
from workbench.cli.layout import columns
from workbench.cli.numbers import whole
from workbench.cli.output import print_json, show
from workbench.cli.sources import add_keep, recorded
from workbench.errors import WorkbenchError

#: default number of values, and the number with --all
LINKS, ALL_LINKS = 12, 1_000_000
#: width of a line in a pipe
WIDTH = 100


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "explain",
        help="explain a value: the chain back to inputs and constants",
        description="Prints the chain of values from which a value was computed. Runs a model with the inputs first.",
    )
    parser.add_argument("source", metavar="TRACE", type=Path, help="a saved trace, or a model with its inputs")
    parser.add_argument("node", metavar="NODE", help="name of a value or a node")
    parser.add_argument(
        "-n", "--iteration", metavar="I[,J...]", help="iteration, outermost loop first; default: the last"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--max-links", metavar="N", type=whole(1), default=LINKS, help="maximum number of values to show (%(default)s)"
    )
    group.add_argument("--all", action="store_true", help="show the whole chain")
    parser.add_argument("--json", action="store_true", help="print the chain as JSON")
    add_inputs(parser)
    add_keep(parser)
    parser.set_defaults(run=_explain)


def iteration_of(text: str | None) -> tuple[int, ...] | None:
    """``"3"`` or ``"2,5"`` as an iteration path."""
    if text is None or not text.strip():
        return None
    try:
        path = tuple(int(part) for part in text.replace("/", ",").split(","))
    except ValueError:
        path = (-1,)
    if min(path) < 0 or len(text) > 4000:
        raise WorkbenchError(
            f"{text[:80]!r} is not an iteration.",
            slug="bad-iteration",
            fix="give one number (0 or more), or one per enclosing loop: 2,5.",
        )
    return path


def _explain(arguments: argparse.Namespace) -> None:
    path = iteration_of(arguments.iteration)
    with recorded(arguments.source, arguments) as source:
        most = ALL_LINKS if arguments.all else arguments.max_links
        found = source.explain(arguments.node, path, max_links=most)
        if arguments.json:
            print_json(found.to_dict())
        else:
            width = columns(sys.stdout) or WIDTH
            show(found.text("--all shows all of them.", most=None, width=width))
