"""MODEL or TRACE: the file named on the command line, recognised by its content."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.numbers import whole
from workbench.errors import LoadError

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.session import Session
    from workbench.trace import Trace

KEPT = ("all", "carried", "stats", "off")


def add_keep(parser: argparse.ArgumentParser, default: str | None = "all") -> None:
    """``--keep`` and ``--memory``: what the trace of a run keeps."""
    parser.add_argument(
        "--keep",
        choices=KEPT,
        default=default,
        help="what the trace keeps; the rest is recomputed on demand (default: all)",
    )
    parser.add_argument(
        "--memory", metavar="MIB", type=whole(1, 1 << 30), default=None, help="memory for the trace, in MiB"
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model file, and ``--unroll-recurrent``, which changes how it is read."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="model file, or the folder of a SavedModel")
    parser.add_argument(
        "--unroll-recurrent",
        action="store_true",
        help="read LSTM, GRU and RNN of an ONNX model as loops over their time steps",
    )


def is_trace(path: Path) -> bool:
    """True if the file is a trace archive, whatever its name."""
    try:
        if not zipfile.is_zipfile(path):
            return False
        with zipfile.ZipFile(path) as archive:
            return any(name == "trace.json" for name in archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def open_graph(path: Path, outputs: list[str] | None = None, unroll_recurrent: bool = False) -> Graph:
    """The graph of a model file. LoadError with advice for any other file, including traces."""
    from workbench.frontends import load

    if is_trace(path):
        raise LoadError(
            f"{str(path)!r} is a trace; a model is required.",
            slug="not-a-model",
            fix="give the model file that it was recorded from.",
        )
    return load(path, outputs=outputs or None, unroll_recurrent=unroll_recurrent)


def open_either(path: Path) -> Graph | Trace:
    """A trace, or the graph of a model."""
    from workbench.frontends import load
    from workbench.trace import Trace

    return Trace.load(path) if is_trace(path) else load(path)


def make_session(graph: Graph, arguments: argparse.Namespace, keep: str | None = None) -> Session:
    """A session for ``graph`` with the inputs and the retention given by the options."""
    from workbench.cli.inputs import feeds_of
    from workbench.session import DEFAULT_BUDGET, Session

    memory = DEFAULT_BUDGET if arguments.memory is None else arguments.memory << 20
    return Session(graph, feeds_of(graph, arguments), trace=keep or arguments.keep or "all", memory_budget=memory)


def tell_made_up(arguments: argparse.Namespace) -> None:
    """Print on stderr which inputs and sizes of a failed run were generated or guessed."""
    from workbench.cli.output import tell

    guess = getattr(arguments, "made_up", None)
    if guess is not None and not getattr(arguments, "blamed", False) and (sentence := guess.blame()):
        arguments.blamed = True
        tell(sentence)


def random_inputs(arguments: argparse.Namespace) -> list[str]:
    """Names of the randomly generated inputs; call it after ``make_session``."""
    guess = getattr(arguments, "made_up", None)
    return [] if guess is None else list(guess.inputs)


@contextmanager
def recorded(path: Path, arguments: argparse.Namespace) -> Iterator[Trace | Session]:
    """A saved trace, or the session of a model after a run with the inputs of the options."""
    from workbench.trace import Trace

    if is_trace(path):
        yield Trace.load(path)
        return
    session = make_session(open_graph(path), arguments)
    try:
        session.run()
        if session.state == "failed":
            tell_made_up(arguments)
        yield session
    finally:
        session.close()
