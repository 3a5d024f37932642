"""``run_with``: runs a model in another framework and records its values, for comparison with a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.analysis.diff.external_record import Record
from workbench.errors import WorkbenchError
from workbench.execution import prepare_feeds
from workbench.frontends.jax import JaxGraph
from workbench.frontends.onnx import LoweredModel, lowered
from workbench.frontends.onnx.external_run import ENGINES, Driver, engine
from workbench.frontends.onnx.external_run.drive import MAX_TRIPS
from workbench.ir.frames.frame_tree import FramePath, output_frame
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.values import from_graph

#: the framework that compiles JAX functions
JIT = "jax.jit"
_WHOLE = "{} computes different values of {} when it runs the {} in one piece: {}."
#: default for the maximum bytes of a record
MEMORY = 1 << 30


def run_with(
    framework: str,
    model: Any,
    inputs: Mapping[str, Any] | None = None,
    /,
    *,
    memory: int = MEMORY,
    max_trips: int = MAX_TRIPS,
    **named: Any,
) -> Record:
    """Run an ONNX model, or a JAX function, with another framework and record every value, in every iteration.

    Values have the names that ``wb.load(model)`` gives them, so that :func:`diff` aligns them firing by firing. Bodies
    of Loop, Scan, If and SequenceMap are run individually, by the framework's own kernels. onnxruntime also runs the
    model once as a whole, and a note names outputs that are then different. "jax.jit" compiles the straight-line parts
    of a JAX function, in which XLA fuses and reorders ops; the graph itself has JAX's values op by op.

    Parameters
    ----------
    framework : {"onnxruntime", "reference", "jax.jit"}
        The framework; "reference" is the reference evaluator of the onnx library.
    model : path, bytes, onnx.ModelProto or JaxGraph
        The model; for "jax.jit" the graph returned by :func:`from_jax`.
    inputs : mapping, optional
        Values by input name.
    memory : int, default 1 GiB
        Limit of the record in bytes; beyond it no values are recorded, and ``record.notes`` says so.
    max_trips : int
        Maximum number of iterations of all loops together.
    **named
        More inputs, as keywords.

    Returns
    -------
    Record

    Raises
    ------
    WorkbenchError
        ``unknown-framework``, ``missing-extra``, ``no-model`` for a graph instead of a model (with "jax.jit" for
        anything except a JAX graph), ``missing-feed``, ``bad-limit``.
    LoadError, FeedError
        For a model that cannot be read, or inputs that do not fit.
    ExecutionError
        If the framework refuses the model (``framework-failed``), or after too many iterations (``too-many-trips``).

    Examples
    --------
    >>> record = wb.run_with("reference", "loop.onnx", {"a": np.float32(2.0)})
    >>> with wb.Session(wb.load("loop.onnx"), {"a": np.float32(2.0)}) as ours:
    ...     ours.run()
    ...     wb.diff(ours, record, rtol=1e-6).equal
    <Stop FINISHED: ...>
    True
    """
    if memory <= 0 or max_trips <= 0:
        raise WorkbenchError(
            f"run_with: memory and max_trips must be positive, got {memory} and {max_trips}.", slug="bad-limit"
        )
    if framework == JIT:
        return _jitted(model, {**(inputs or {}), **named}, memory, max_trips)
    if isinstance(model, Graph) or hasattr(model, "graph") and isinstance(model.graph, Graph):
        raise WorkbenchError(
            f"{framework} runs models, got a graph that does not hold its model any more.",
            slug="no-model",
            fix="give the path, the bytes or the ModelProto that the graph was loaded from.",
        )
    library = engine(framework)
    source = lowered(model)
    feeds = _complete(source.graph, {**(inputs or {}), **named})
    kept = _Kept(source.graph, {n: source.graph.names[n] for n in source.labels.values()}, memory)

    def see(key: tuple[str, ...], name: str, path: tuple[int, ...], value: Any) -> None:
        kept.put(source.labels.get((key, name)), path, value)

    outputs = Driver(source.proto, library, max_trips=max_trips).run(feeds, see)
    notes = kept.notes()
    if framework == "onnxruntime":  # the reference evaluator does not rewrite models, and its loops are incomplete
        notes += _as_a_whole(framework, source, library, feeds, outputs)
    return Record(
        framework, kept.values, frames=kept.frames, ops=kept.ops, graph=source.graph, outputs=outputs, notes=notes
    )


def _complete(graph: Graph, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as arrays; WorkbenchError if one is missing."""
    feeds = {n: from_graph(v) for n, v in prepare_feeds(graph, inputs).items()}
    missing = [n for n in graph.inputs if n not in feeds]
    if missing:
        raise WorkbenchError(
            f"The model has the inputs {', '.join(map(repr, missing))} too, which were not given.",
            slug="missing-feed",
            fix="give a value for each input.",
        )
    return feeds


def _jitted(graph: Any, inputs: Mapping[str, Any], memory: int, max_trips: int) -> Record:
    """The record of a JAX function under ``jax.jit``."""
    if not isinstance(graph, JaxGraph):
        raise WorkbenchError(
            f"{JIT} runs functions of JAX, got {type(graph).__name__}.",
            slug="no-model",
            fix="give the graph that wb.from_jax made, not one that was saved and read again.",
        )
    feeds = _complete(graph, inputs)
    kept = _Kept(graph, {str(ref): ref for ref in graph.jitted_values}, memory)
    made, whole = graph.jitted(feeds, lambda ref, path, value: kept.put(str(ref), path, value), max_trips)
    outputs = dict(zip(graph.outputs, made, strict=True))
    unequal = [n for n, a, b in zip(outputs, made, whole, strict=True) if a.tobytes() != b.tobytes()]
    notes = [_WHOLE.format(JIT, ", ".join(unequal), "function", "it fuses across loops and branches, too")]
    return Record(
        JIT,
        kept.values,
        frames=kept.frames,
        ops=kept.ops,
        graph=graph,
        outputs=outputs,
        notes=kept.notes() + (notes if unequal else []),
    )


class _Kept:
    """The recorded values, under the names of our graph."""

    def __init__(self, graph: Graph, labels: Mapping[str, Ref], memory: int) -> None:
        self.values: dict[str, dict[tuple[int, ...], Any]] = {}
        self.frames: dict[str, FramePath] = {}
        self.ops: dict[str, str] = {}
        self._left, self._cut = memory, 0
        for name, ref in labels.items():
            node = graph.nodes[ref.node]
            self.frames[name] = output_frame(node, graph.frame_of(node.name))
            self.ops[name] = node.op

    def put(self, label: str | None, path: tuple[int, ...], value: Any) -> None:
        if label is None or len(self.frames.get(label, ())) != len(path):
            return
        size = int(getattr(value, "nbytes", 64)) + 128
        if size > self._left:
            self._cut += 1
            return
        self._left -= size
        self.values.setdefault(label, {})[path] = value

    def notes(self) -> list[str]:
        if not self._cut:
            return []
        return [f"{self._cut:,} results were not recorded: the memory for the record was used up (give memory= more)."]


def _as_a_whole(
    framework: str, source: LoweredModel, library: Any, feeds: Mapping[str, Any], outputs: Mapping[str, Any]
) -> list[str]:
    """True if the framework gives the same outputs for the whole model, with its own rewrites."""
    try:
        whole = library(source.proto)(feeds)
    except WorkbenchError as error:
        return [f"{framework} does not run the model in one piece: {error.message}"]
    unequal = []
    for name, value in zip(outputs, whole, strict=True):
        mine = outputs[name]
        if isinstance(mine, np.ndarray) and isinstance(value, np.ndarray) and mine.dtype.kind in "fc":
            same = mine.shape == value.shape and np.array_equal(mine, value, equal_nan=True)
        else:
            same = not isinstance(mine, np.ndarray) or np.array_equal(mine, value)
        if not same:
            unequal.append(name)
    if not unequal:
        return []
    return [
        _WHOLE.format(
            framework, ", ".join(unequal), "model", "it rewrites nodes whose intermediate values it need not return"
        )
    ]


__all__ = ["ENGINES", "run_with"]
