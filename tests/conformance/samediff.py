"""Real SameDiff files, and the TensorFlow graphs that some of them were made from.

``python -m tests.conformance.samediff`` prints for each file whether it loads and equals its twin: outputs, recorded
intermediates and, for those with loops or branches, every firing of TensorFlow's trace. The archive is read in place
from ``../shared/corpora`` beside the repository.
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import workbench as wb
from tests.conformance import corpora, rest
from tests.conformance.corpora import FOLDER, equal, firings, lost, same_multiset
from tests.frontends.samediff_import import as_samediff, missing_ops
from workbench.frontends.tf.graphdef import read_graphdef
from workbench.ir.graph import Graph

ARCHIVE = FOLDER / "samediff.zip"
MOON = "sd_integration/MLPMoonSD"
#: file -> the frozen TensorFlow graph with the same names and constants
TWINS = {
    "channels_last_b1_k2_s1_d1_SAME_crelu__ecl_a906622": "cnn2d_layers/channels_last_b1_k2_s1_d1_SAME_crelu",
    "cond_true__ecl_003f786": "cond/cond_true",
    "cond_true__kon_75a354c": "cond/cond_true",
    "identity_n_2__ecl_d850a44": "identity_n_2",
    "simpleif_0_alt__ecl_4a7e751": "simpleif_0_alt",
    "simplewhile_1__ecl_c4fa26e": "simplewhile_1",
    "tensor_array_split_sz1_float32_nodynamic_noname_noshape__ecl_4e3cf40": (
        "tensor_array/split_sz1_float32_nodynamic_noname_noshape"
    ),
    "tensor_array_stack_sz3-1_int32_dynamic_name_shape__ecl_4a5f830": (
        "tensor_array/stack_sz3-1_int32_dynamic_name_shape"
    ),
    "while_iter1__kon_d81f0b4": "while1/iter_1",
}
#: a file that was written without the control dependencies of its branches -> what its result does without, therefore
LOST = {"cond_true__ecl_003f786": ("in_0", "cond/ones", "cond/Switch", "cond/switch_t", "cond/switch_f")}


@dataclass
class Twin:
    """Counts of what was compared for one file; ``problems`` is empty where everything agrees."""

    problems: list[str] = field(default_factory=list)
    outputs: int = 0
    intermediates: int = 0
    firings: int = 0


class SameDiffCorpus:
    """The archive of files."""

    def __init__(self) -> None:
        self._zip = zipfile.ZipFile(ARCHIVE)

    def names(self, folder: str) -> list[str]:
        return sorted(
            n.rpartition("/")[2].removesuffix(".fb") for n in self._zip.namelist() if n.startswith(f"{folder}/")
        )

    def bytes(self, path: str) -> bytes:
        return self._zip.read(path)

    def modern(self, name: str) -> bytes:
        return self.bytes(f"fb_modern/{name}.fb")

    def moons(self) -> np.ndarray:
        """The evaluation file of the two moons: class, x, y."""
        return np.loadtxt(io.StringIO(self.bytes("sd_integration/data/moon_data_eval.csv").decode()), delimiter=",")


def open_samediff() -> SameDiffCorpus | None:
    return SameDiffCorpus() if ARCHIVE.exists() else None


def nd4j_binary(data: bytes) -> np.ndarray:
    """A float array as ND4J's Nd4j.write has it: the block of the shape info, then the data, both big-endian."""

    def block(at: int) -> tuple[str, int, int]:
        size = struct.unpack_from(">H", data, at)[0]
        at += 2 + size
        count, name = struct.unpack_from(">qH", data, at)
        at += 10
        return data[at : at + name].decode(), count, at + name

    kind, count, at = block(0)
    assert kind == "LONG"
    info = struct.unpack_from(f">{count}q", data, at)
    kind, count, at = block(at + 8 * count)
    assert kind == "FLOAT" and info[-1] == ord("c")
    return np.frombuffer(data, ">f4", count, at).astype(np.float32).reshape(info[1 : 1 + info[0]])


def compare(files: SameDiffCorpus, file: str) -> Twin:
    """Run one file with every value traced and hold it against the record of its twin."""
    return compare_bytes(files.modern(file), TWINS[file], LOST.get(file, ()))


def compare_bytes(data: bytes, twin: str, lost_nodes: Sequence[str] = ()) -> Twin:
    """The same for the bytes of a file."""
    result = Twin()
    with_frames = corpora.open_corpus()
    assert with_frames is not None
    if twin in with_frames.names():
        item, recorded = with_frames.item(twin), with_frames.trace(twin)
    else:
        record = rest.RestCorpus().record(twin)
        item, recorded = corpora.Item(record.inputs, record.outputs, record.between), {}
    graph = wb.from_samediff(data, name=twin)
    feeds = {k.removesuffix(":0"): v for k, v in item.inputs.items() if k.removesuffix(":0") in graph.inputs}
    with wb.Session(graph, feeds, trace="all") as session:
        session.run()
        computed = [name for name in graph.nodes if name not in lost_nodes]
        fired = firings(graph, session.trace, computed)
    for tensor, expected in item.outputs.items():
        result.outputs += 1
        values = fired.get(tensor, [])
        if len(values) != 1 or not equal(values[0], expected):
            result.problems.append(f"output {tensor}: {values!r} instead of {expected!r}")
    for tensor, expected in item.intermediates.items():
        values = fired.get(tensor, [])
        if lost(expected, recorded.get(tensor, [])):
            continue
        node, _, index = tensor.partition(":")
        if node not in computed or int(index) >= len(graph.nodes[node].types):
            continue  # a node or output of TensorFlow that SameDiff does without
        result.intermediates += 1
        if not values or not all(equal(value, expected) for value in values):
            result.problems.append(f"intermediate {tensor}: {values!r} instead of {expected!r}")
    if not lost_nodes:
        _compare_firings(graph, fired, recorded, result)
    return result


def _compare_firings(graph: Graph, fired: Mapping, recorded: Mapping, result: Twin) -> None:
    for tensor, theirs in recorded.items():
        if tensor.partition(":")[0] not in graph.nodes or graph.nodes[tensor.partition(":")[0]].op == "Placeholder":
            continue
        ours = fired.get(tensor, [])
        result.firings += len(theirs)
        if len(ours) != len(theirs):
            result.problems.append(f"{tensor} fired {len(ours)} times instead of {len(theirs)}")
            continue
        nested = len(graph.frame_of(graph.value(tensor).node)) > 1
        if not (same_multiset(ours, theirs) if nested else all(map(equal, ours, theirs))):
            result.problems.append(f"{tensor} fired other values")


def translated() -> dict[str, bytes]:
    """Those of the 93 graphs with control flow whose ops a writer of the tests knows, as SameDiff files."""
    corpus = corpora.open_corpus()
    assert corpus is not None
    raw = {name: corpus.bytes(name) for name in corpus.names()}
    return {name: as_samediff(data) for name, data in raw.items() if not missing_ops(read_graphdef(data))}


def main() -> int:
    files = open_samediff()
    if files is None:
        print(corpora.MISSING)
        return 1
    for name in files.names("fb_modern"):
        graph = wb.from_samediff(files.modern(name))
        if name not in TWINS:
            print(f"loads {name}: {len(graph.nodes)} nodes")
            continue
        found = compare(files, name)
        counts = f"{found.outputs} outputs, {found.intermediates} intermediates, {found.firings} firings"
        print(f"{'FAIL ' if found.problems else 'equal'} {name}: {'; '.join(found.problems[:3]) or counts}")
    equal_ones, fired = 0, 0
    written = translated()
    for name, data in written.items():
        found = compare_bytes(data, name)
        equal_ones, fired = equal_ones + (not found.problems), fired + found.firings
        if found.problems:
            print(f"FAIL  {name}, written as SameDiff: {'; '.join(found.problems[:3])}")
    print(f"{equal_ones} of {len(written)} TensorFlow graphs, written as SameDiff, are equal: {fired} firings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
