"""Opens two programs (a module, an exported program, a model file or a graph) and runs both with the same inputs."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, FeedError, WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.frontends.jax import JaxGraph, from_jax
from workbench.frontends.load import load
from workbench.frontends.pytorch import from_torch
from workbench.ir.graph import Graph
from workbench.ir.node import Source
from workbench.ir.types import numpy_dtype
from workbench.trace import Trace

#: maximum bytes and node executions of each of the two runs
MEMORY, MOST = 1 << 30, 10_000_000
#: types of models in memory that ``load`` accepts
_PROTOS = ("ModelProto", "GraphDef")


@dataclass(frozen=True)
class ProgramRun:
    """A program, the trace of its run, and the sentence on how it failed ("" if it did not)."""

    graph: Graph
    trace: Trace
    failure: str = ""


def is_program(thing: Any) -> bool:
    """True for a program rather than a run: a graph, a model in memory or in a file, an exported program."""
    if isinstance(thing, str | os.PathLike):
        return not _is_trace(thing)
    return (
        isinstance(thing, Graph | bytes)
        or type(thing).__name__ in _PROTOS
        or _is_exported(thing)
        or hasattr(thing, "model_proto")
    )


def is_file_or_model(thing: Any) -> bool:
    """True for a program that need not be exported by a library first."""
    return is_program(thing) and not isinstance(thing, JaxGraph)


def _is_trace(path: Any) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "trace.json" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _is_exported(thing: Any) -> bool:
    return type(thing).__name__ == "ExportedProgram" and type(thing).__module__.partition(".")[0] == "torch"


def opened(a: Any, b: Any, args: Any) -> tuple[ProgramRun, ProgramRun]:
    """Both programs, run with the same inputs.

    Raises
    ------
    WorkbenchError
        ``not-comparable`` for anything but a program, and the errors of reading and exporting.
    FeedError
        For inputs that do not fit.
    """
    graphs = [_graph(thing, args) for thing in (a, b)]
    if args is None:
        args = next((g.example for g in graphs if isinstance(g, JaxGraph)), {})
    given = _given(args)
    first = _feeds(graphs[0], given)
    named = first if isinstance(given, Mapping) else dict(zip(graphs[0].inputs, given, strict=True))
    second = _feeds(graphs[1], named if set(graphs[1].inputs) <= set(named) else list(named.values()))
    return _run(graphs[0], first), _run(graphs[1], second)


def _graph(thing: Any, args: Any) -> Graph:
    if isinstance(thing, Graph):
        return thing
    if hasattr(thing, "model_proto"):
        return load(thing.model_proto)
    if is_program(thing) and not _is_exported(thing):
        return load(thing)
    if not callable(thing):
        raise WorkbenchError(
            f"A {type(thing).__name__} is not a program that can be compared with another one.",
            slug="not-comparable",
            fix="give a module or function with its arguments, a graph, or the path of a model: "
            'wb.diff(module, "model.onnx", (x,)).',
        )
    positional, named = ((), args) if isinstance(args, Mapping) else (_tuple(args), {})
    if _of_torch(thing, args):
        return from_torch(thing, positional, named)
    return from_jax(thing, *positional, **named)


def _of_torch(thing: Any, args: Any) -> bool:
    """True for an exported program or a module of PyTorch, and for a function of tensors."""
    given = list(args.values()) if isinstance(args, Mapping) else list(_tuple(args))
    kinds = [kind for each in (thing, *given) for kind in type(each).__mro__]
    return any(kind.__module__.partition(".")[0] == "torch" for kind in kinds)


def _tuple(args: Any) -> tuple[Any, ...]:
    return tuple(args) if isinstance(args, tuple | list) else () if args is None else (args,)


# -- inputs -----------------------------------------------------------------------------------------------------------
def _given(args: Any) -> Mapping[str, Any] | list[Any]:
    """Arrays by name, or in the order of the inputs, with nested arguments flattened."""
    if isinstance(args, Mapping):
        return {str(name): _array(value) for name, value in args.items()}
    return [_array(leaf) for leaf in _leaves(_tuple(args))]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    else:
        yield value


def _array(value: Any) -> Any:
    """A tensor of any library as an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            return value.float().numpy().astype(numpy_dtype("bfloat16"))
        return value.numpy()
    return value


def _feeds(graph: Graph, given: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """The inputs of a graph, with numbers of the same kind converted to its dtypes."""
    if not isinstance(given, Mapping):
        if len(given) != len(graph.inputs):
            raise FeedError(
                f"{graph.name!r} takes {len(graph.inputs)} inputs ({', '.join(map(repr, graph.inputs)) or 'none'}), "
                f"got {len(given)}.",
                slug="input-count",
                fix="give as many, or a mapping of names to arrays.",
            )
        given = dict(zip(graph.inputs, given, strict=True))
    missing = [name for name in graph.inputs if name not in given]
    if missing:
        raise FeedError(
            f"{graph.name!r} has the inputs {', '.join(map(repr, missing))} too, which were not given.",
            slug="missing-feed",
            fix="give a value for each input.",
        )
    return prepare_feeds(graph, {name: _cast(graph, name, value) for name, value in given.items()})


def _cast(graph: Graph, name: str, value: Any) -> Any:
    if name not in graph.inputs or not isinstance(value, np.ndarray | np.generic):
        return value
    dtype = graph.type_of(graph.inputs[name]).dtype
    kinds = [_kind(value.dtype), None if dtype in ("any", "opaque", "string") else _kind(numpy_dtype(dtype))]
    return value.astype(numpy_dtype(dtype)) if kinds[0] is not None and kinds[0] == kinds[1] else value


def _kind(dtype: np.dtype) -> str | None:
    return "f" if dtype.kind == "f" or dtype.isbuiltin == 2 else "i" if dtype.kind in "iu" else None


# -- runs -------------------------------------------------------------------------------------------------------------
def _run(graph: Graph, feeds: Mapping[str, Any]) -> ProgramRun:
    run = Run(plan_for(graph, dict(feeds), None), dict(feeds), MEMORY)
    failure = ""
    try:
        while run.event < MOST and run.go(MOST, exact=True) != "halt":
            pass
    except ExecutionError as error:
        failure = error.message
    if not failure and run.event >= MOST:
        failure = f"The run was ended after {MOST:,} node executions."
    return ProgramRun(graph, run.trace, failure)


def lines_of(source: Source | None) -> str:
    return "" if source is None else f" ({source.place})"
