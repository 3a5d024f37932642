"""What TensorFlow did on real graphs, against what the workbench does.

``python -m tests.conformance.corpora [NAME ...]`` prints, for each of the 93 graphs with control flow (or the named
ones), whether the outputs are right and whether every firing of every tensor equals the recorded one; a figure, not a
gate.

The archives are read in place from ``../shared/corpora`` beside the repository. Floats are compared with rtol 1e-3
and atol 1e-4, everything else exactly; the firings of one tensor in order, inside nested frames as a multiset,
because outer iterations may interleave there.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import UnknownOpError, WorkbenchError
from workbench.frontends import from_graphdef
from workbench.graph.graph import Graph

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"
MISSING = f"the corpora are not there ({FOLDER})"
#: the graphs that must agree in full
NAMED = ("simplewhile_1", "simplewhile_nested", "simple_while", "while1/iter_3", "simple_cond", "case/cond_2")


@dataclass(frozen=True)
class Item:
    """Feeds and expected outputs of one graph, by tensor name."""

    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]


@dataclass
class Result:
    """``problems`` is empty when everything agrees; ``firings`` counts what was compared."""

    name: str
    problems: list[str] = field(default_factory=list)
    firings: int = 0


class Corpus:
    """The two archives of the 93 graphs with control flow."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._graphs = zipfile.ZipFile(folder / "dl4j_controlflow_93.zip")
        self._traces = zipfile.ZipFile(folder / "dl4j_controlflow_93_traces.zip")
        found = [n for n in self._graphs.namelist() if n.endswith("/frozen_model.pb")]
        self._prefix = {n.removesuffix("/frozen_model.pb"): n for n in found}

    def names(self) -> list[str]:
        return sorted(self._prefix)

    def graph(self, name: str) -> Graph:
        return from_graphdef(self._graphs.read(self._prefix[name]), name=name)

    def item(self, name: str) -> Item:
        arrays = np.load(io.BytesIO(self._graphs.read(f"{name}/io.npz")), allow_pickle=False)
        by_kind: dict[str, dict[str, np.ndarray]] = {"in": {}, "out": {}, "mid": {}}
        for key in arrays.files:
            kind, _, tensor = key.partition(":")
            by_kind[kind][tensor] = arrays[key]
        return Item(by_kind["in"], by_kind["out"])

    def trace(self, name: str) -> dict[str, list[np.ndarray]]:
        """tensor -> its values in firing order, without the stand-ins for placeholders."""
        arrays = np.load(io.BytesIO(self._traces.read(f"{name}/trace.npz")), allow_pickle=False)
        order = json.loads(self._traces.read(f"{name}/order.json"))
        found: dict[str, dict[int, np.ndarray]] = {}
        for tensor, k in order:
            if not tensor.startswith("_arg_"):
                found.setdefault(tensor, {})[k] = arrays[f"{tensor}#{k}"]
        return {tensor: [fired[k] for k in sorted(fired)] for tensor, fired in found.items()}


def open_corpus(folder: Path = FOLDER) -> Corpus | None:
    """The corpus, or None where the archives are absent."""
    return Corpus(folder) if (folder / "dl4j_controlflow_93.zip").exists() else None


def equal(a: Any, b: Any) -> bool:
    """Same dtype and shape; floats within the corpus's tolerances."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True))
    return bool(np.array_equal(a, b))


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
        fired = firings(graph, session.trace)
    for tensor in sorted(set(recorded) | set(fired)):
        ours, theirs = fired.get(tensor, []), recorded.get(tensor, [])
        result.firings += len(theirs)
        if len(ours) != len(theirs):
            result.problems.append(f"{tensor} fired {len(ours)} times instead of {len(theirs)}")
            continue
        nested = len(graph.frame_of(graph.value(tensor).node)) > 1
        agree = same_multiset(ours, theirs) if nested else all(map(equal, ours, theirs))
        if not agree:
            result.problems.append(f"{tensor} fired other values")
    return result


def firings(graph: Graph, trace: Any) -> dict[str, list[np.ndarray]]:
    """Everything that fired, by tensor name. A Placeholder is fed, and has no record in TensorFlow."""
    found = {}
    for node in graph.nodes.values():
        if node.op == "Placeholder":
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
    passed = events = unknown = 0
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
        events += result.firings if not result.problems else 0
        print(f"{'FAIL ' if result.problems else 'ok   '} {name}: {'; '.join(result.problems[:3]) or result.firings}")
    print(f"{passed} of {len(wanted)} graphs equal TensorFlow's record ({events} firings);", end=" ")
    print(f"{unknown} have ops without a counterpart here")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
