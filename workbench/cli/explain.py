"""``workbench explain``: where a value came from, link by link."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.inputs import add_inputs
from workbench.cli.output import lines, print_json
from workbench.cli.sources import add_keep, recorded
from workbench.errors import WorkbenchError


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "explain",
        help="where a value came from, down to inputs and constants",
        description="The chain of values that a value was computed from, each with its own number. Of a model, the run "
        "with the given inputs is explained.",
    )
    parser.add_argument("source", metavar="TRACE", type=Path, help="a saved trace, or a model with its inputs")
    parser.add_argument("node", metavar="NODE", help="name of a value or a node")
    parser.add_argument(
        "-n", "--iteration", metavar="I[,J...]", help="iteration, outermost loop first; default: the last"
    )
    parser.add_argument("--max-links", metavar="N", type=int, default=200, help="values to show at most (%(default)s)")
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
            f"{text[:80]!r} is no iteration.",
            slug="bad-iteration",
            fix="give one number from 0 on, or one per enclosing loop: 2,5.",
        )
    return path


def _explain(arguments: argparse.Namespace) -> None:
    path = iteration_of(arguments.iteration)
    with recorded(arguments.source, arguments) as source:
        found = source.explain(arguments.node, path, max_links=arguments.max_links)
        if arguments.json:
            print_json(found.to_dict())
        else:
            print(lines(found.text()))
