"""TensorFlow as the evaluator of ops that have no counterpart; most of it needs TensorFlow, the rest its absence."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import workbench as wb
from tests.frontends.protobytes import const, data, float32, integer, node, placeholder, shape, tensor
from workbench.errors import UnknownOpError, WorkbenchError
from workbench.frontends.tf import library
from workbench.frontends.tf.rules import RULES

FLOAT, INT32, STRING = (integer(6, n) for n in (1, 3, 7))
HAS = library.installed()
needs_tensorflow = pytest.mark.skipif(not HAS, reason="the extra tensorflow is not installed")


def unruled(*candidates: str) -> str:
    """One of these ops without a rule (rules are added over time)."""
    return next(op for op in candidates if op not in RULES)


LGAMMA = unruled("Lgamma", "Digamma", "Betainc", "Zeta", "Polygamma", "FresnelCos")


def test_without_tensorflow_the_error_names_the_ops_and_the_extra(monkeypatch):
    monkeypatch.setattr(library.importlib.util, "find_spec", lambda name: None)
    raw = placeholder("x") + node("a", "NoSuchOp", "x") + node("b", "NeitherThis", "a")
    with pytest.raises(UnknownOpError) as caught:
        wb.from_graphdef(raw)
    parts = ("NoSuchOp at 'a'", "NeitherThis at 'b'", 'pip install "tensorflow>=2.16"')
    assert all(part in str(caught.value) for part in parts)


def test_a_saved_graph_without_tensorflow_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)  # an import of it now fails
    library.tensorflow.cache_clear()
    graph = wb.parse(
        'graph "g" version 1\nnode "x" = Placeholder() {"dtype": "float32", "shape": []}\n'
        'node "y" = "tensorflow:Lgamma"("x:0") {"node": {"bytes": "EgZMZ2FtbWE="}, "stateful": false, "types": '
        '[{"type": "float32[...]"}]}\ninput "x" = "x:0"\noutput "y" = "y:0"\n'
    )
    with pytest.raises(WorkbenchError) as caught:
        graph.run(x=2.0)
    library.tensorflow.cache_clear()
    assert 'pip install "tensorflow>=2.16"' in str(caught.value)


@pytest.mark.parametrize(
    "attrs",
    ["", '{"node": 5, "types": []}', '{"node": {"bytes": ""}, "types": ["float32"]}', '{"node": {"bytes": ""}}'],
)
def test_a_foreign_node_that_carries_nothing(attrs):
    with pytest.raises(WorkbenchError):
        wb.parse(f'graph "g" version 1\nnode "y" = "tensorflow:Lgamma"() {attrs}\noutput "y" = "y:0"\n')


def test_an_op_with_effects_is_not_pure():
    from workbench.frontends.tf.eager import resolve
    from workbench.ir.types import TensorType

    attrs = {"node": b"x", "types": (TensorType("float32", None),)}
    assert not resolve("tensorflow:A", attrs).pure and not resolve("tensorflow:A", {**attrs, "stateful": True}).pure
    assert resolve("tensorflow:A", {**attrs, "stateful": False}).pure


# -- with TensorFlow ----------------------------------------------------------------------------------------------


@needs_tensorflow
def test_an_op_without_a_rule():
    graph = wb.from_graphdef(placeholder("x", 1, -1) + node("y", LGAMMA, "x", T=FLOAT))
    assert graph.nodes["y"].op == f"tensorflow:{LGAMMA}" and str(graph.type_of("y:0")) == "float32[...]"
    tf = importlib.import_module("tensorflow")
    x = np.array([0.5, 1.0, 4.5], np.float32)
    expected = getattr(tf.raw_ops, LGAMMA)(x=x).numpy()
    for one in (graph, wb.parse(graph.text())):
        found = one.run({"x:0": x})["y:0"]
        assert found.dtype == np.float32 and np.array_equal(found, expected)


@needs_tensorflow
def test_strings_lists_attributes_and_several_outputs(monkeypatch):
    monkeypatch.setattr(
        "workbench.frontends.tf.lowering.RULES",
        {k: v for k, v in RULES.items() if k in ("Const", "Placeholder", "Identity")},
    )
    text = const("s", tensor(7, (2,), data(8, "a-b"), data(8, b"\xff")))
    raw = text + node("joined", "StringJoin", "s", "s", N=integer(3, 2), separator=data(2, "+"))
    raw += const("v", tensor(1, (4,), data(5, np.arange(4, dtype="<f4").tobytes())))
    raw += const("axis", tensor(3, (), integer(7, 0)))
    raw += node("split", "Split", "axis", "v", T=FLOAT, num_split=integer(3, 2))
    raw += node("second", "Neg", "split:1", T=FLOAT)
    raw += node("made", "Fill", "dims", "one", T=FLOAT, index_type=INT32)
    raw += const("dims", tensor(3, (2,), integer(7, 2), integer(7, 3))) + const("one", tensor(1, (), float32(5, 1.5)))
    raw += node("shaped", "EnsureShape", "v", T=FLOAT, shape=data(7, shape(-1)))
    raw += node("squeezed", "Squeeze", "made2", T=FLOAT, squeeze_dims=data(1, integer(3, 0)))
    raw += const("made2", tensor(1, (1, 2, 1)))
    found = wb.from_graphdef(raw, ["joined", "split:0", "second", "made", "shaped", "squeezed"]).run()
    assert found["joined:0"].tolist() == [b"a-b+a-b", b"\xff+\xff"] and found["joined:0"].dtype == object
    assert found["split:0"].tolist() == [0, 1] and found["second:0"].tolist() == [-2, -3]
    assert found["made:0"].shape == (2, 3) and found["squeezed:0"].shape == (2, 1) and found["shaped:0"].shape == (4,)


@needs_tensorflow
@pytest.mark.parametrize(
    "op",
    [
        "ReadFile",
        "WriteFile",
        "MatchingFiles",
        "PyFunc",
        "EagerPyFunc",
        "SaveV2",
        "RestoreV2",
        "TextLineDataset",
        "PrintV2",
        "DebugIdentityV2",
        "DecodeProtoV2",
        "InitializeTableFromTextFileV2",
        "Send",
        "NoSuchOp",
        "HashTableV2",
        "QueueDequeueV2",
        "FixedLengthRecordReaderV2",
        "TensorSummaryV2",
        "Timestamp",
        "GenerateVocabRemapping",
        "LoadAndRemapMatrix",
        "AudioSummary",
        "ImmutableConst",
        "FixedUnigramCandidateSampler",
        "VarHandleOp",
        "Enter",
        "RandomShuffleQueueV2",
        "StatefulStandardNormalV2",
        "StatefulPartitionedCall",
        "Assign",
    ],
)
def test_ops_that_reach_outside_are_refused(op):
    assert library.definition(op) is None


@needs_tensorflow
def test_no_op_with_a_path_among_its_attributes_or_inputs_is_left():
    registry = importlib.import_module("tensorflow.python.framework.op_def_registry")
    raw_ops = importlib.import_module("tensorflow").raw_ops
    kept = [op for op in dir(raw_ops) if library.definition(op) is not None]
    assert 500 < len(kept) < 900
    for op in kept:
        definition = registry.get(op)
        words = [a.name for a in (*definition.input_arg, *definition.attr)]
        assert not [w for w in words if "file" in w or w in ("path", "memory_region_name", "shared_name")], op


@needs_tensorflow
def test_a_saved_graph_cannot_smuggle_an_op_in():
    graph = wb.from_graphdef(placeholder("x") + node("y", LGAMMA, "x", T=FLOAT))
    text = graph.text()
    import base64
    import re

    evil = base64.b64encode(data(2, "ReadFile")).decode()
    changed = re.sub(r'"node": \{"bytes": "[^"]*"\}', f'"node": {{"bytes": "{evil}"}}', text)
    assert changed != text
    with pytest.raises(WorkbenchError) as caught:
        wb.parse(changed).run({"x:0": 1.0})
    assert "ReadFile" in str(caught.value)
    lying = wb.parse(text.replace('"stateful": false', '"stateful": true'))
    with pytest.raises(WorkbenchError):
        lying.run({"x:0": 1.0})


@needs_tensorflow
def test_random_draws_are_replayed(monkeypatch):
    monkeypatch.setattr("workbench.frontends.tf.lowering.RULES", {k: v for k, v in RULES.items() if "Random" not in k})
    raw = const("dims", tensor(3, (1,), integer(7, 4)))
    for name, seeds in (("seeded", (5, 6)), ("also", (5, 6)), ("free", (0, 0)), ("free2", (0, 0))):
        more = {"seed": integer(3, seeds[0]), "seed2": integer(3, seeds[1])}
        raw += node(name, "RandomUniform", "dims", T=INT32, dtype=FLOAT, **more)
    graph = wb.from_graphdef(raw)
    first, second = graph.run(), graph.run()
    assert all(np.array_equal(first[k], second[k]) for k in first)
    assert not np.array_equal(first["free:0"], first["free2:0"])
    assert all(((0 <= v) & (v < 1)).all() for v in first.values())
    tf = importlib.import_module("tensorflow")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        drawn = session.run(tf.raw_ops.RandomUniform(shape=[4], dtype=tf.float32, seed=5, seed2=6))
    assert np.array_equal(first["seeded:0"], drawn) and np.array_equal(first["also:0"], drawn)


@needs_tensorflow
def test_an_op_that_only_graphs_have():
    attrs = {"N": integer(3, 2), "T": FLOAT, "shape": data(7, shape(2))}
    raw = placeholder("x", 1, 2) + node("y", "AccumulateNV2", "x", "x", **attrs)
    if "AccumulateNV2" not in RULES:
        assert wb.from_graphdef(raw).run({"x:0": np.array([1.5, 2], np.float32)})["y:0"].tolist() == [3, 4]


@needs_tensorflow
def test_a_failure_of_tensorflow_is_an_error_of_the_node():
    op = unruled("Cholesky", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixSquareRoot", "BandedTriangularSolve")
    graph = wb.from_graphdef(placeholder("x", 1, 2) + node("y", op, "x", T=FLOAT))
    with pytest.raises(WorkbenchError) as caught:
        graph.run({"x:0": np.ones(2, np.float32)})
    assert caught.value.node == "y"
