"""ONNX's backend test suite: a part of it in the fast suite, all of it in the slow stage, with its counts."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")

from tests.conformance import onnx_suite  # noqa: E402
from workbench.errors import FeedError  # noqa: E402
from workbench.frontends.onnx.backend import WorkbenchBackend  # noqa: E402
from workbench.ir.values import from_graph  # noqa: E402

#: their outputs come from an unseeded draw of the suite's own generator, which nothing can repeat
DRAWN = {f"test_bernoulli{kind}{form}" for kind in ("", "_double", "_seed") for form in ("", "_expanded")}
#: the suite's values are rounded to float16 in every step of Softmax, ours once, at its end: two of 192 results differ
#: by one step of float16, which is just over the suite's tolerance (and see the test of which is nearer to the truth)
ROUNDED = {"test_attention_4d_causal_fp16_expanded"}
#: control flow, sequences and optionals, random ops
ALWAYS = ("loop", "if_", "scan", "sequence", "optional", "identity_opt", "identity_seq", "flexattention", "training")
SAMPLE = 120


@pytest.fixture(scope="module")
def nodes():
    return onnx_suite.cases("node")


def failures(found) -> dict[str, str]:
    return {r.name: r.reason for r in found if r.reason}


@pytest.mark.slow
def test_control_flow_sequences_and_a_sample(nodes):
    names = sorted(set(nodes) - DRAWN - ROUNDED)
    chosen = {n for n in names if n.startswith(tuple(f"test_{part}" for part in ALWAYS))}
    assert len(chosen) > 60
    chosen |= set(np.random.default_rng(11).choice(names, SAMPLE, replace=False).tolist())
    wanted = sorted(chosen)
    outcomes = onnx_suite.run([nodes[n] for n in wanted])
    assert {n: reason for n, reason in zip(wanted, outcomes, strict=True) if reason} == {}


def test_where_the_suite_rounds_more_often_ours_is_nearer_to_the_truth(nodes):
    for name in sorted(ROUNDED):
        inputs, (theirs, *_) = nodes[name].data_sets[0]
        ours = WorkbenchBackend.run_model(nodes[name].model, inputs)[0]
        query, key, value = (np.asarray(x, np.float64) for x in inputs)
        scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        truth = weights / weights.sum(-1, keepdims=True) @ value
        errors = [np.abs(x.astype(np.float64) - truth) for x in (ours, theirs)]
        assert errors[0].max() < errors[1].max() and errors[0].mean() < errors[1].mean()
        np.testing.assert_allclose(ours, theirs, rtol=2e-3)


LOOPS = ("Loop", "Scan", "SequenceMap")


def test_control_flow_of_the_suite_is_frames_that_fire(nodes):
    """Each construct is a frame or a branch with events of its own; nothing foreign stands for it."""
    import workbench as wb
    from workbench.frontends import from_onnx

    seen = 0
    for case in nodes.values():
        ops = [n.op_type for n in case.model.graph.node if n.op_type in (*LOOPS, "If")]
        if not ops:
            continue
        seen += 1
        graph = from_onnx(case.model)
        frames = [path for path in graph.frames if path]
        assert len([p for p in frames if len(p) == 1]) >= sum(op in LOOPS for op in ops), case.name
        assert not {n.op.partition(":")[2] for n in graph.nodes.values()} & {*LOOPS, "If"}
        feeds = dict(zip(graph.inputs, case.data_sets[0][0], strict=True))
        with wb.Session(graph, feeds, trace="all") as session:
            session.run()
            outputs = [from_graph(v) for v in session.outputs.values()]
            onnx_suite.similar(outputs, case.data_sets[0][1], case)
            for path in frames:
                frame = graph.frames[path]
                tests = [bool(v) for v in session.trace.firings(frame.loop_cond)]
                if len(path) == 1 and graph.nodes[frame.loop_cond].region == path[0]:
                    assert tests == [True] * (len(tests) - 1) + [False], case.name  # once more than the trips
                for variable in frame.variables:
                    assert len(session.trace.firings(variable.merge)) == len(tests)
            if "If" in ops:
                assert session.trace.branches()
    assert seen > 25


def test_the_harness_sees_what_is_wrong(nodes):
    """Wrong numbers, dtypes, lengths and endless runs do not pass."""
    from copy import deepcopy

    def spoiled(name, change):
        case = deepcopy(nodes[name])
        case.data_sets[0][1][0] = change(case.data_sets[0][1][0])
        return case

    wrong = [
        spoiled("test_add", lambda y: y + np.float32(1)),
        spoiled("test_add", lambda y: y.astype(np.float64)),
        spoiled("test_sequence_insert_at_back", lambda y: y[:-1]),
        spoiled("test_optional_has_element_empty_optional_input", lambda y: None),
        spoiled("test_identity_sequence", lambda y: [v.astype(np.float64) for v in y]),
    ]
    assert all(reason.startswith("differs") for reason in onnx_suite.run(wrong))
    assert list(onnx_suite.run([nodes["test_add"], nodes["test_relu"]], seconds=0)) == ["no end within 0 s"] * 2


def test_the_report_counts_and_groups():
    found = [
        onnx_suite.Result("node", "a"),
        onnx_suite.Result("node", "b", "differs: by 1"),
        onnx_suite.Result("light", "c"),
    ]
    lines = onnx_suite.report(found).splitlines()
    assert lines[1].split() == ["node", "1", "1", "2"] and lines[2].split() == ["light", "1", "0", "1"]
    assert "differs: 1" in lines and "  b: by 1" in lines


def test_the_suites_own_runner_takes_the_backend(monkeypatch):
    """The standard way to run it, for a few cases."""
    from onnx.backend.test import BackendTest

    suite = BackendTest(WorkbenchBackend)
    suite.include(r"test_(loop11|if|scan9_sum|sequence_map_identity_1_sequence|optional_get_element_sequence)_cpu")
    result = unittest.TestResult()
    suite.test_suite.run(result)
    assert result.failures == [] and result.errors == []
    ran = result.testsRun - len(result.skipped)
    assert ran == 5


def test_the_backend_interface():
    relu = onnx.helper.make_node("Relu", ["x"], ["y"])
    (y,) = WorkbenchBackend.run_node(relu, [np.array([-1, 2], np.float32)])
    assert y.tolist() == [0, 2] and y.dtype == np.float32
    split = onnx.helper.make_node("Split", ["x", "n"], ["a", ""], axis=0)
    got = WorkbenchBackend.run_node(split, {"x": np.arange(3), "n": np.array([1, 2])}, opset_version=13)
    assert [v.tolist() for v in got] == [[0]]
    build = onnx.helper.make_node("SequenceConstruct", ["x", "x"], ["s"])
    (s,) = WorkbenchBackend.run_node(build, [onnx.numpy_helper.from_array(np.ones(2), "x")])
    assert isinstance(s, list) and len(s) == 2
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y, float z) { y = Exp(x) z = Neg(y) }'
    )
    prepared = WorkbenchBackend.prepare(model)
    out = prepared.run({"x": 0.0})
    assert out["z"] == -1 and out[0] == 1 and list(prepared.graph.outputs) == ["y", "z"]
    assert WorkbenchBackend.run_model(model, [np.float32(0)])[1] == -1
    assert WorkbenchBackend.supports_device("CPU") and not WorkbenchBackend.supports_device("CUDA:1")
    with pytest.raises(FeedError):
        prepared.run([])
    with pytest.raises(FeedError):
        WorkbenchBackend.prepare(model, "CUDA")


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_the_whole_suite():
    found = onnx_suite.results(onnx_suite.KINDS)
    print(onnx_suite.report(found))
    assert failures(found).keys() <= DRAWN | ROUNDED
    counts = {kind: sum(r.kind == kind for r in found) for kind in onnx_suite.KINDS}
    if onnx.__version__.startswith("1.23."):
        assert counts == {"node": 1884, "simple": 23, "pytorch-converted": 82, "pytorch-operator": 35, "light": 9}
    assert sum(r.kind == "node" and not r.reason for r in found) >= counts["node"] - len(DRAWN | ROUNDED)
