"""MODEL or TRACE: what a path on the command line names, by its content."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import LoadError

if TYPE_CHECKING:
    from workbench.graph.graph import Graph
    from workbench.session import Session
    from workbench.trace import Trace

KEPT = ("all", "carried", "stats", "off")


def add_keep(parser: argparse.ArgumentParser, default: str | None = "all") -> None:
    """``--keep`` and ``--memory``: what is recorded of a run."""
    parser.add_argument(
        "--keep",
        choices=KEPT,
        default=default,
        help="what the trace keeps; the rest is recomputed when it is asked for (default: all)",
    )
    parser.add_argument("--memory", metavar="MIB", type=int, default=None, help="memory for the trace, in MiB")


def is_trace(path: Path) -> bool:
    """Whether the file is an archive with a trace in it, whatever its name is."""
    try:
        if not zipfile.is_zipfile(path):
            return False
        with zipfile.ZipFile(path) as archive:
            return any(name == "trace.json" for name in archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def open_graph(path: Path, outputs: list[str] | None = None) -> Graph:
    """The graph of a model file. LoadError with what to do for anything else, traces too."""
    from workbench.frontends import load

    if is_trace(path):
        raise LoadError(
            f"{str(path)!r} is a trace, and a model is needed.",
            slug="not-a-model",
            fix="give the model file that it was recorded from.",
        )
    return load(path, outputs=outputs or None)


def open_either(path: Path) -> Graph | Trace:
    """A trace, or the graph of a model."""
    from workbench.frontends import load
    from workbench.trace import Trace

    return Trace.load(path) if is_trace(path) else load(path)


def make_session(graph: Graph, arguments: argparse.Namespace, keep: str | None = None) -> Session:
    """A session on ``graph`` with the inputs and the retention of the options."""
    from workbench.cli.inputs import feeds_of
    from workbench.session import DEFAULT_BUDGET, Session

    memory = DEFAULT_BUDGET if arguments.memory is None else max(1, arguments.memory) << 20
    return Session(graph, feeds_of(graph, arguments), trace=keep or arguments.keep or "all", memory_budget=memory)


@contextmanager
def recorded(path: Path, arguments: argparse.Namespace) -> Iterator[Trace | Session]:
    """A saved trace, or the session of a model that has run with the inputs of the options."""
    from workbench.trace import Trace

    if is_trace(path):
        yield Trace.load(path)
        return
    session = make_session(open_graph(path), arguments)
    try:
        session.run()
        yield session
    finally:
        session.close()
