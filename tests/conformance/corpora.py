"""Runs of real graphs by TensorFlow, compared with runs by the workbench.

``python -m tests.conformance.corpora [NAME ...]`` prints, for each of the 93 graphs with control flow (or the named
ones), whether the outputs are right and whether every firing of every tensor equals the recorded one; a figure, not a
gate.

The archives are read in place from ``../shared/corpora`` beside the repository. Floats are compared with rtol 1e-3
and atol 1e-4, everything else exactly; the firings of one tensor in order, inside nested frames as a multiset,
because outer iterations may interleave there. Recorded intermediates are one value for a tensor, which every firing
(of a loop invariant, in each iteration) must equal.

Nothing is left out but the stand-ins for fed placeholders. Arrays of booleans have lost their values among the
intermediates (all are false, or floats where there are none, whatever TensorFlow 2.21 computed); they are counted, and
compared with TensorFlow's trace, which has them too. The handle of a TensorArray has no value in the record, so
that there must be a handle of ours at each of its firings, and as many; its flow is recorded as the float32 0 that it
is in TensorFlow, and ours, which holds the elements, is compared as that number. The elements themselves are compared
where they are read.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import UnknownOpError, WorkbenchError
from workbench.frontends import from_graphdef
from workbench.frontends.tf.graphdef import read_graphdef
from workbench.ir.graph import Graph
from workbench.ops.state.tensor_array import ArrayHandle

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"
MISSING = f"the corpora are not there ({FOLDER})"
#: the graphs that must agree in full
NAMED = ("simplewhile_1", "simplewhile_nested", "simple_while", "while1/iter_3", "simple_cond", "case/cond_2")


class _Handle:
    """Stands for a recorded firing without a value: TensorFlow cannot record resource handles."""


HANDLE = _Handle()


@dataclass(frozen=True)
class Item:
    """Feeds, expected outputs and recorded intermediates of one graph, by tensor name."""

    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    intermediates: Mapping[str, np.ndarray]


@dataclass
class Result:
    """``problems`` is empty when everything agrees; ``firings`` and ``intermediates`` count what was compared,
    ``handles`` the firings among them that have no value; ``lost`` the intermediates that have lost their values."""

    name: str
    problems: list[str] = field(default_factory=list)
    firings: int = 0
    intermediates: int = 0
    lost: int = 0
    handles: int = 0


class Corpus:
    """The two archives of the 93 graphs with control flow."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._graphs = zipfile.ZipFile(folder / "dl4j_controlflow_93.zip")
        self._traces = zipfile.ZipFile(folder / "dl4j_controlflow_93_traces.zip")
        found = [n for n in self._graphs.namelist() if n.endswith("/frozen_model.pb")]
        self._prefix = {n.removesuffix("/frozen_model.pb"): n for n in found}

    def names(self) -> list[str]:
        return sorted(self._prefix)

    def bytes(self, name: str) -> bytes:
        """The GraphDef as it is stored."""
        return self._graphs.read(self._prefix[name])

    def graph(self, name: str) -> Graph:
        return from_graphdef(self.bytes(name), name=name)

    def nodes(self, name: str) -> Container[str]:
        """Names of the nodes of the GraphDef."""
        return read_graphdef(self.bytes(name)).nodes

    def item(self, name: str) -> Item:
        arrays = np.load(io.BytesIO(self._graphs.read(f"{name}/io.npz")), allow_pickle=False)
        by_kind: dict[str, dict[str, np.ndarray]] = {"in": {}, "out": {}, "mid": {}}
        for key in arrays.files:
            kind, _, tensor = key.partition(":")
            by_kind[kind][tensor] = arrays[key]
        return Item(by_kind["in"], by_kind["out"], by_kind["mid"])

    def trace(self, name: str) -> dict[str, list[np.ndarray]]:
        """tensor -> its values in firing order, without the stand-ins for placeholders."""
        arrays = np.load(io.BytesIO(self._traces.read(f"{name}/trace.npz")), allow_pickle=False)
        order = json.loads(self._traces.read(f"{name}/order.json"))
        found: dict[str, dict[int, np.ndarray]] = {}
        for tensor, k in order:
            if not tensor.startswith("_arg_"):
                recorded = f"{tensor}#{k}"
                found.setdefault(tensor, {})[k] = arrays[recorded] if recorded in arrays else HANDLE
        return {tensor: [fired[k] for k in sorted(fired)] for tensor, fired in found.items()}


def open_corpus(folder: Path = FOLDER) -> Corpus | None:
    """The corpus, or None where the archives are absent."""
    return Corpus(folder) if (folder / "dl4j_controlflow_93.zip").exists() else None


def equal(a: Any, b: Any) -> bool:
    """Ours equals theirs: same dtype and shape; floats within the corpus's tolerances.

    A firing without a recorded value must be a handle of ours. A flow of ours is compared as the number that stands
    for it in TensorFlow.
    """
    if b is HANDLE:
        return isinstance(a, ArrayHandle)
    if isinstance(a, ArrayHandle):
        return False
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True))
    return bool(np.array_equal(a, b))


def lost(recorded: np.ndarray, fired: Sequence[Any]) -> bool:
    """True if an intermediate is an array of booleans whose record contradicts TensorFlow's own trace."""
    booleans = [f for f in fired if isinstance(f, np.ndarray) and f.dtype == bool and f.ndim]
    return bool(booleans) and not recorded.any() and not any(equal(f, recorded) for f in booleans)


def same_multiset(a: Sequence[Any], b: Sequence[Any]) -> bool:
    left = list(b)
    for x in a:
        match = next((i for i, y in enumerate(left) if equal(x, y)), None)
        if match is None:
            return False
        del left[match]
    return not left


def compare(corpus: Corpus, name: str) -> Result:
    """Run one graph with every value traced and hold it against the record."""
    import workbench as wb

    graph, item, recorded = corpus.graph(name), corpus.item(name), corpus.trace(name)
    result = Result(name)
    got = graph.run(item.inputs)
    for tensor, expected in item.outputs.items():
        if not equal(got[tensor], expected):
            result.problems.append(f"output {tensor}: {got[tensor]!r} instead of {expected!r}")
    with wb.Session(graph, item.inputs, trace="all") as session:
        session.run()
        fired = firings(graph, session.trace, corpus.nodes(name))
    for tensor, expected in item.intermediates.items():
        if lost(expected, recorded.get(tensor, [])):
            result.lost += 1
            continue
        values = fired.get(tensor, [])
        result.intermediates += 1
        if not values or not all(equal(value, expected) for value in values):
            result.problems.append(f"intermediate {tensor}: {values!r} instead of {expected!r}")
    for tensor in sorted(set(recorded) | set(fired)):
        ours, theirs = fired.get(tensor, []), recorded.get(tensor, [])
        result.firings += len(theirs)
        result.handles += sum(v is HANDLE for v in theirs)
        if len(ours) != len(theirs):
            result.problems.append(f"{tensor} fired {len(ours)} times instead of {len(theirs)}")
            continue
        nested = len(graph.frame_of(graph.value(tensor).node)) > 1
        agree = same_multiset(ours, theirs) if nested else all(map(equal, ours, theirs))
        if not agree:
            result.problems.append(f"{tensor} fired other values")
    return result


def firings(graph: Graph, trace: Any, theirs: Container[str]) -> dict[str, list[np.ndarray]]:
    """Everything of the nodes ``theirs`` that fired, by tensor name. A Placeholder is fed, and has no record in
    TensorFlow; nor have the few nodes of ours that stand before one of theirs."""
    found = {}
    for node in graph.nodes.values():
        if node.op == "Placeholder" or node.name not in theirs:
            continue
        for index in range(len(node.types)):
            tensor = f"{node.name}:{index}"
            if values := list(trace.firings(tensor)):
                found[tensor] = values
    return found


def main(names: Sequence[str]) -> int:
    corpus = open_corpus()
    if corpus is None:
        print(MISSING)
        return 1
    passed = events = unknown = middle = without = handles = 0
    wanted = list(names) or corpus.names()
    for name in wanted:
        try:
            result = compare(corpus, name)
        except UnknownOpError as error:
            unknown += 1
            print(f"-     {name}: {error.message}")
            continue
        except WorkbenchError as error:
            result = Result(name, [f"{type(error).__name__}: {error}"])
        passed += not result.problems
        if not result.problems:
            events, handles = events + result.firings, handles + result.handles
            middle, without = middle + result.intermediates, without + result.lost
        print(f"{'FAIL ' if result.problems else 'ok   '} {name}: {'; '.join(result.problems[:3]) or result.firings}")
    print(f"{passed} of {len(wanted)} graphs equal TensorFlow's record: {events} firings ({handles} of them handles),")
    print(f"{middle} intermediates ({without} more are boolean arrays without values);", end=" ")
    print(f"{unknown} have ops without a counterpart here")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
