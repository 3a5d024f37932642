"""``workbench diff``: two runs side by side, first difference first."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from workbench.cli.diff.text import diff_text
from workbench.cli.inputs import add_inputs
from workbench.cli.layout import columns
from workbench.cli.numbers import real
from workbench.cli.output import print_json, show
from workbench.cli.sources import add_keep, is_trace, open_graph, recorded, tell_made_up

#: executors that can run a model instead of B
ENGINES = ("onnxruntime", "reference")


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "diff",
        help="compare two runs, first difference first",
        description="Compares two runs by node, frame and iteration. A and B are traces, or models that are run with "
        "the same inputs. For two models, the report names the nodes of B that err by themselves, given the inputs "
        "that they have in A; rounding does not count. Exit status: 0 equal, 1 different, 2 error.",
    )
    parser.add_argument("a", metavar="A", type=Path, help="a saved trace, or a model")
    parser.add_argument(
        "b",
        metavar="B",
        type=Path,
        help=f"a saved trace, a model, or, if A is an ONNX model, another executor: {' or '.join(ENGINES)}",
    )
    parser.add_argument("--rtol", type=real(1e300), default=0.0, help="relative tolerance (default: %(default)s)")
    parser.add_argument("--atol", type=real(1e300), default=0.0, help="absolute tolerance (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    add_inputs(parser)
    add_keep(parser)
    parser.set_defaults(run=_diff, trouble=2)


def _diff(arguments: argparse.Namespace) -> int:
    from workbench.analysis.diff import diff

    with ExitStack() as stack:
        if not is_trace(arguments.a) and not is_trace(arguments.b) and not _is_engine(arguments):
            return _report(_programs(arguments), arguments)
        a = stack.enter_context(recorded(arguments.a, arguments))
        found = diff(a, _other(stack, arguments), rtol=arguments.rtol, atol=arguments.atol)
        return _report(found, arguments)


def _report(found: Any, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json(found.to_data())
    else:
        show(diff_text(found, columns(sys.stdout)))
    return 0 if found.equal else 1


def _programs(arguments: argparse.Namespace) -> Any:
    """Compare two models; each node of B is also evaluated on the inputs that it has in A."""
    from workbench.analysis.diff import diff
    from workbench.cli.inputs import feeds_of

    a, b = open_graph(arguments.a), open_graph(arguments.b)
    found = diff(a, b, feeds_of(a, arguments), rtol=arguments.rtol, atol=arguments.atol)
    if any(found.failures):
        tell_made_up(arguments)
    return found


def _is_engine(arguments: argparse.Namespace) -> bool:
    return str(arguments.b) in ENGINES and not arguments.b.exists()


def _other(stack: ExitStack, arguments: argparse.Namespace) -> Any:
    if not _is_engine(arguments):
        return stack.enter_context(recorded(arguments.b, arguments))
    from workbench.analysis.diff import run_with
    from workbench.cli.inputs import feeds_of
    from workbench.errors import WorkbenchError

    if is_trace(arguments.a):
        raise WorkbenchError(
            f"{arguments.b} runs models, and A is a trace.",
            slug="not-a-model",
            fix="give the model and its inputs as A.",
        )
    graph = open_graph(arguments.a)
    return run_with(str(arguments.b), arguments.a, feeds_of(graph, arguments))
