"""``GraphCalls``: a graph that computes one step of decoding, called by a loop in Python, with all values recorded.

After each run the graph runs again in float64. A cache that is passed as an input is an output of an earlier step, so
that its float64 value is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.analysis.diff.dtypes import in_dtype
from workbench.errors import WatchError, WorkbenchError
from workbench.frontends.python.decorator import GraphFunction
from workbench.ir import Graph
from workbench.ir.node import Ref
from workbench.recorder.decoding.call_log import DecodingLog
from workbench.recorder.decoding.record import DecodingOp
from workbench.session import Session, run_graph

#: ops that give the values of their argument in another shape, or compute nothing
_VIEWS = frozenset("reshape transpose expand_dims squeeze identity broadcast_to Const Placeholder".split())
_IDS = ("input_ids", "ids", "tokens", "token")


class GraphCalls:
    """The step as a function: ``step(input_ids=..., ...)`` runs it and returns the outputs by name."""

    def __init__(self, graph: Graph | GraphFunction, log: DecodingLog) -> None:
        self.graph, self.log = graph, log
        self.unfollowed: set[str] = set()
        self._wides: dict[int, tuple[Graph, Graph]] = {}
        #: address of an output -> the output, which is kept alive by this, and its value in float64
        self._doubles: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def __call__(self, feeds: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, Any]:
        given = {**(feeds or {}), **named}
        graph = self.graph.graph_for(**given) if isinstance(self.graph, GraphFunction) else self.graph
        outputs = run_graph(graph, given)
        ids = self._ids(given)
        self.log.begin(ids)
        wide = self._wide(graph)
        exact = self._record(wide, {name: self._double(value, wide is not graph) for name, value in given.items()})
        if not self.log.full:
            self._doubles = {id(v): (v, exact[k]) for k, v in outputs.items() if k in exact}
        self.log.end(_logits(outputs, ids.shape))
        return outputs

    def _ids(self, given: Mapping[str, Any]) -> np.ndarray:
        name = next((n for n in _IDS if n in given), None)
        name = name or next((n for n, v in given.items() if np.asarray(v).dtype.kind in "iu"), None)
        if name is None:
            raise WatchError(
                f"record_decoding: no input of the graph has tokens: {', '.join(given)}.",
                slug="no-tokens",
                fix="name the input with the tokens input_ids, ids or tokens.",
            )
        return np.atleast_2d(np.asarray(given[name]))

    def _wide(self, graph: Graph) -> Graph:
        """The graph in float64, or the graph itself if an op has no float64."""
        found = self._wides.get(id(graph))
        if found is None:
            try:
                found = graph, in_dtype(graph, "float64")
            except WorkbenchError as error:
                found = graph, graph
                self.unfollowed.add(str(error).split("\n")[0])
            self._wides[id(graph)] = found
        return found[1]

    def _double(self, value: Any, widened: bool) -> Any:
        known = self._doubles.get(id(value))
        if known is not None:
            return known[1]
        array = np.asarray(value)
        return array.astype(np.float64) if array.dtype.kind == "f" and widened else value

    def _record(self, graph: Graph, feeds: dict[str, Any]) -> dict[str, np.ndarray]:
        """Run the graph in float64, keep the values of its nodes, and return the outputs."""
        places: dict[Ref, int] = {}
        counts: dict[tuple[str, str], int] = {}
        with Session(graph, feeds) as session:
            session.run()
            trace = session.trace
            for name, node in graph.nodes.items():
                if node.op in _VIEWS:
                    source = node.inputs[0] if node.inputs else None
                    if isinstance(source, Ref) and source in places:
                        places[Ref(name, 0)] = places[source]
                    continue
                for k in range(len(node.types)):
                    array = _array(trace, Ref(name, k))
                    if array is None or self.log.call is None:
                        continue
                    *around, _ = name.split("/")
                    module = ".".join(around)
                    nth = counts[node.op, module] = counts.get((node.op, module), -1) + 1
                    places[Ref(name, k)] = len(self.log.call.values)
                    line = node.source
                    op = DecodingOp(node.op, module, line.file if line else "", line.line if line else 0, nth, k)
                    inputs = tuple(places.get(r, -1) if isinstance(r, Ref) else -1 for r in node.inputs)
                    self.log.keep(op, array, inputs)
            return {name: np.asarray(value) for name, value in session.outputs.items()}


def _array(trace: Any, ref: Ref) -> np.ndarray | None:
    try:
        array = np.asarray(trace[ref].values[-1])
    except (WorkbenchError, LookupError):
        return None
    return array.copy() if array.dtype.kind == "f" and array.ndim else None


def _logits(outputs: Mapping[str, Any], ids: tuple[int, ...]) -> np.ndarray | None:
    """The logits (batch, rows, vocabulary) of the outputs of a step: the output of that name, or the first one."""
    found = outputs.get("logits")
    if found is None:
        found = next((v for v in outputs.values() if np.asarray(v).dtype.kind == "f"), None)
    if found is None:
        return None
    array = np.asarray(found)
    return array.reshape(ids[0], -1, array.shape[-1]) if array.ndim else None


def greedy(step: GraphCalls, prompt: np.ndarray, max_new_tokens: int = 20, eos_token_id: Any = None) -> np.ndarray:
    """Greedy decoding with a graph that has inputs ``input_ids``, ``attention_mask``, ``position_ids`` and ``past...``,
    some of which may be absent; its outputs are the logits and, in the order of these inputs, the new keys and
    values."""
    graph = step.graph
    if isinstance(graph, GraphFunction):
        raise WatchError(
            "record_decoding: a function of @wb.graph needs a loop that decodes with it.",
            slug="no-generate",
            fix="write generate=f, where f(step, prompt) calls step(ids=..., ...) and returns all tokens.",
        )
    past = [name for name in graph.inputs if "past" in name]
    names: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
        "attention_mask": lambda ids, n: np.ones((len(ids), n), np.int64),
        "position_ids": lambda ids, n: np.tile(np.arange(n - ids.shape[1], n), (len(ids), 1)),
    }
    tokens, given = prompt, prompt
    ids_name = next(n for n in (*_IDS, *graph.inputs) if n in graph.inputs)
    caches = {name: _empty(graph, name, len(prompt)) for name in past}
    ends = () if eos_token_id is None else tuple(np.atleast_1d(eos_token_id))
    for _ in range(max_new_tokens):
        more = {n: make(given, tokens.shape[1]) for n, make in names.items() if n in graph.inputs}
        outputs = step({ids_name: given, **more, **caches})
        logits = _logits(outputs, given.shape)
        assert logits is not None
        best = logits[:, -1].argmax(-1)[:, None]
        tokens = np.concatenate([tokens, best], 1)
        new = [name for name in outputs if name != "logits"][-len(past) :] if past else []
        caches = dict(zip(past, [outputs[name] for name in new], strict=True))
        given = best if past else tokens
        if len(best) == 1 and int(best[0, 0]) in ends:
            break
    return tokens


def _empty(graph: Graph, name: str, batch: int) -> np.ndarray:
    """A cache without keys: its axes of unknown length are the batch, which is first, and the keys."""
    kind = graph.type_of(graph.inputs[name])
    sizes = [n if isinstance(n, int) and n >= 0 else 0 for n in kind.shape or ()]
    if sizes and sizes[0] == 0:
        sizes[0] = batch
    return np.zeros(sizes, kind.dtype)
