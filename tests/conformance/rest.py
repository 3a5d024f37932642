"""Real TensorFlow graphs without control flow: what they gave, against what the workbench gives.

``python -m tests.conformance.rest [NAME ...]`` imports and runs each of the 1,604 graphs (or those whose names begin as
given), each in a time limit, and prints a line for each that fails (for each named one), the failures by op and
reason, and a summary.

A graph passes when the whole of it is imported, it runs, and every recorded output agrees: floats with rtol 1e-3 and
atol 1e-4, everything else exactly, dtypes and shapes too. Two kinds of graphs are counted apart: those that draw random
numbers (see ``rest_draws``), and those without a recorded output, which only have to run. The archive has empty
boolean tensors as empty float64 ones (text without a number has no type); their shapes are compared, and they are
counted apart too.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tests.conformance.corpora import FOLDER, equal
from tests.conformance.rest_draws import agrees_in_distribution, depending, draws, with_recorded_draws
from workbench.errors import UnknownOpError, WorkbenchError
from workbench.frontends.tf.convert import convert
from workbench.frontends.tf.graphdef import GraphDef, read_graphdef
from workbench.ir.graph import Graph

ARCHIVE = FOLDER / "dl4j_rest_small.zip"
#: seconds that one graph may take
LIMIT = 20.0


@dataclass
class Result:
    """``status`` is ok, FAIL, unknown (an op without a counterpart) or slow.

    ``note`` says what was special about a graph that passed; ``culprit`` is the op to which a failure belongs: that of
    the first recorded tensor, in the order of the graph, that differs.
    """

    name: str
    status: str = "ok"
    problems: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    culprit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Record:
    """Feeds, expected outputs and recorded intermediates of one graph, by tensor name."""

    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    between: Mapping[str, np.ndarray]


class RestCorpus:
    """The archive of graphs without control flow."""

    def __init__(self, archive: Any = ARCHIVE) -> None:
        self._zip = zipfile.ZipFile(archive)
        index = json.loads(self._zip.read("index.json"))
        self.ops: dict[str, Mapping[str, int]] = {item["dir"]: item["ops"] for item in index["items"]}

    def names(self) -> list[str]:
        return sorted(self.ops)

    def source(self, name: str) -> GraphDef:
        return read_graphdef(self._zip.read(f"{name}/frozen_model.pb"))

    def record(self, name: str) -> Record:
        arrays = np.load(io.BytesIO(self._zip.read(f"{name}/io.npz")), allow_pickle=False)
        by_kind: dict[str, dict[str, np.ndarray]] = {"in": {}, "out": {}, "mid": {}}
        for key in arrays.files:
            kind, _, tensor = key.partition(":")
            by_kind[kind][tensor] = arrays[key]
        return Record(by_kind["in"], by_kind["out"], by_kind["mid"])


def compare(corpus: RestCorpus, name: str) -> Result:
    """Import one graph, run it and hold its outputs against the record."""
    result = Result(name)
    try:
        source = corpus.source(name)
        _compare(source, corpus.record(name), result)
    except UnknownOpError as error:
        result.status, result.problems = "unknown", [error.message]
        result.unknown = sorted({part.split(" at '")[0] for part in _unknown_parts(error.message)})
    except WorkbenchError as error:
        result.status = "FAIL"
        result.problems = [f"{type(error).__name__}: {error}"]
        result.culprit = source.nodes[error.node].op if error.node in source.nodes else type(error).__name__
    except Exception as error:  # an op that raises something else is a failure of that graph, not of the runner
        result.status, result.culprit = "FAIL", type(error).__name__
        result.problems = [f"{type(error).__name__}: {error}"]
    return result


def _unknown_parts(message: str) -> list[str]:
    return message.partition("counterpart here: ")[2].split("; ")


def _compare(source: GraphDef, item: Record, result: Result) -> None:
    random = depending(source)
    got = run(source, item.inputs, item.outputs, result.name)
    for tensor, expected in item.outputs.items():
        if tensor.partition(":")[0] in random:
            problem = agrees_in_distribution(got[tensor], expected)
            result.note = "random"
        else:
            problem = "" if same(got[tensor], expected) else f"{_show(got[tensor])} instead of {_show(expected)}"
            if not problem and got[tensor].dtype != expected.dtype:
                result.note = "shape of an empty bool only"
        if problem:
            result.problems.append(f"output {tensor}: {problem}")
    if not item.outputs:
        result.note = "no recorded output"
    if result.note == "random" and not result.problems:
        # the same graph once more, with the recorded numbers in place of the draws: now everything must agree
        fixed, whole = with_recorded_draws(source, {**item.between, **item.outputs})
        if whole and any(not draws(source.nodes[t.partition(":")[0]]) for t in item.outputs):
            got = run(fixed, item.inputs, item.outputs, result.name)
            result.note = "random, exact with the recorded draws"
            result.problems += [
                f"output {t} with the recorded draws: {_show(got[t])} instead of {_show(e)}"
                for t, e in item.outputs.items()
                if not equal(got[t], e)
            ]
    if result.problems:
        result.status = "FAIL"
        result.culprit = _first_difference(source, item)


def run(source: GraphDef, feeds: Mapping[str, np.ndarray], tensors: Iterable[str], name: str) -> dict[str, np.ndarray]:
    """Import the whole graph and run it for ``tensors`` (for its leaves, if there are none)."""
    import workbench.public  # noqa: F401  (defines Graph.run)

    graph = convert(source, None, name)
    wanted = {t: graph.value(t) for t in tensors} or graph.outputs
    asked = Graph.from_nodes(name, graph.nodes.values(), inputs=graph.inputs, outputs=wanted, names=graph.names)
    return asked.run(feeds)


def same(got: np.ndarray, expected: np.ndarray) -> bool:
    """``equal``, or an empty boolean tensor whose record is an empty float64 one of the same shape."""
    lost = got.dtype == bool and expected.dtype == np.float64 and expected.size == 0
    return got.shape == expected.shape if lost else equal(got, expected)


def _first_difference(source: GraphDef, item: Record) -> str:
    """Op of the first recorded tensor, in the order of the file, that differs; else of the first output."""
    # the conversion of the record has lost the values of booleans with axes: not even constants agree
    between = {t: v for t, v in item.between.items() if v.dtype != bool or not v.ndim}
    known = {**between, **item.outputs}
    random = depending(source)
    places = {n: i for i, n in enumerate(source.nodes)}
    tensors = [t for t in known if t.partition(":")[0] in places and t.partition(":")[0] not in random]
    tensors.sort(key=lambda t: places[t.partition(":")[0]])
    try:
        got = run(source, item.inputs, tensors, "first difference")
    except WorkbenchError:
        got = {}
    ends = [t for t in item.outputs if t.partition(":")[0] in places]
    wrong = [t for t in tensors if t in got and not same(got[t], known[t])] or ends
    return source.nodes[wrong[0].partition(":")[0]].op if wrong else "?"


def _show(value: Any) -> str:
    array = np.asarray(value)
    text = np.array2string(array.ravel()[:6], separator=",", threshold=6).replace("\n", "")
    return f"{array.dtype}{list(array.shape)} {text}"


def summary(results: Sequence[Result]) -> str:
    """Failures by op and reason, unknown ops, and the counts."""
    lines: list[str] = []
    failed = [r for r in results if r.status in ("FAIL", "slow")]
    for culprit, count in Counter(r.culprit or r.status for r in failed).most_common():
        mine = [r for r in failed if (r.culprit or r.status) == culprit]
        lines.append(f"{count:5d} FAIL {culprit}")
        lines += [f"        {r.name}: {(r.problems or [r.status])[0][:200]}" for r in mine[:8]]
    unknown = Counter(op for r in results for op in r.unknown)
    lines += [f"{count:5d} unknown {op}" for op, count in unknown.most_common()]
    passed = [r for r in results if r.status == "ok"]
    notes = Counter(r.note for r in passed if r.note)
    left = len(results) - len(passed) - len(failed)
    lines.append(f"passed {len(passed)} of {len(results)}; FAIL {len(failed)}, unknown op {left}")
    lines += [f"    of those that passed, {count} {note}" for note, count in notes.items()]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    if not ARCHIVE.exists():
        print(f"the corpus is not there ({ARCHIVE})")
        return 1
    if list(arguments) == ["--worker"]:
        return _work()
    from tests.conformance.rest_worker import run_all

    corpus = RestCorpus()
    wanted = [n for n in corpus.names() if not arguments or any(n.startswith(a) for a in arguments)]
    results = []
    for result in run_all(wanted, LIMIT):
        results.append(result)
        if result.status != "ok" or arguments:
            print(f"{result.status:8} {result.name}: {'; '.join(result.problems[:3]) or result.note}", flush=True)
    print(summary(results))
    return 0


def _work() -> int:
    """A worker: names of graphs come line by line, results go line by line."""
    corpus = RestCorpus()
    for line in sys.stdin:
        print(json.dumps(asdict(compare(corpus, line.rstrip("\n")))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
