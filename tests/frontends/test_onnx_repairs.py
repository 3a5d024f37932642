"""Defective models that onnxruntime loads: nodes out of order, wrongly declared shapes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import CASES, onnx
from workbench.cli.main import main
from workbench.errors import LoadError, UnknownOpError
from workbench.frontends import from_onnx, load
from workbench.ir.types import TensorType

runtime = pytest.importorskip("onnxruntime", reason="models that are repaired are compared with onnxruntime")
runtime.set_default_logger_severity(4)
HEAD = '<ir_version: 8, opset_import: ["" : 18, "own" : 1]>\n'
X = np.arange(6, dtype=np.float32).reshape(2, 3)
FEEDS = {"x": X, "c": np.array(True), "n": np.array(3)}
S = "[2,3]"


def branch(code: str, shape: str = S) -> str:
    other = f"e () => (float{shape} b) {{ b = Abs(x) }}"
    return f"y = If(c) <then_branch = t () => (float{shape} a) {{ {code} }}, else_branch = {other}>"


def loop(code: str, into: str = S, out: str = S) -> str:
    body = f"b (int64 i, bool k, float{into} v) => (bool k2, float{out} w) {{ k2 = Identity(k) {code} }}"
    return f"y = Loop(n, , x) <body = {body}>"


def parsed(text: str):
    return onnx.parser.parse_model(HEAD + text)


def theirs(proto, feeds):
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})


REPAIRED = {
    "rank of an output": ("g (float[2,3] x) => (float[6] y) { y = Neg(x) }", "float32[6] for the value 'y'"),
    "size of an output": ("g (float[2,3] x) => (float[2,4] y) { y = Neg(x) }", "float32[2,4] for the value 'y'"),
    "output that is a scalar": ("g (float[2,3] x) => (float y) { y = Neg(x) }", "float32[] for the value 'y'"),
    "output that is an input": ("g (float[2,3] x) => (float[2,3] x, float[7] y) { y = Neg(x) }", "float32[7] for"),
    "value in between": (
        "g (float[2,3] x) => (float[2,3] y) <float[6] a> { a = Neg(x) y = Neg(a) }",
        "float32[6] for the value 'a'",
    ),
    "value in between that another library computes": (
        "g (float[2,3] x) => (float[2,3] y) <float[6] a> { a = LpNormalization(x) y = Neg(a) }",
        "float32[6]",
    ),
    "after a branch": (f"g (float[2,3] x, bool c) => (float[5] y) {{ {branch('a = Neg(x)')} }}", "[5]"),
    "in a branch": (
        f"g (float[2,3] x, bool c) => (float[2,3] y) {{ {branch('a = Neg(x)', '[6]')} }}",
        "float32[6] for the value 'a' in the then_branch of the node that makes 'y'",
    ),
    "input of a body": (f"g (float[2,3] x, int64 n) => (float[2,3] y) {{ {loop('w = Neg(v)', '[6]', '[2,3]')} }}", ""),
    "output of a body": (f"g (float[2,3] x, int64 n) => (float[2,3] y) {{ {loop('w = Neg(v)', '[2,3]', '[6]')} }}", ""),
    "nodes in reverse": (
        "g (float[2,3] x) => (float[2,3] y) { y = Neg(a) a = Exp(b) b = Neg(x) }",
        "2 nodes of the graph 'g' preceded a node whose result they read",
    ),
    "a branch reads what is made after it": (
        f"g (float[2,3] x, bool c) => (float[2,3] y) {{ {branch('a = Neg(q)')} q = Exp(x) }}",
        "1 node of the graph 'g' preceded",
    ),
    "a loop reads what is made after it": (
        f"g (float[2,3] x, int64 n) => (float[2,3] y) {{ {loop('w = Add(v, q)')} q = Exp(x) }}",
        "1 node of the graph 'g'",
    ),
}
#: onnxruntime sorts the outermost graph only; graphs inside are sorted here too
INSIDE = {
    "nodes of a branch": (
        f"g (float[2,3] x, bool c) => (float[2,3] y) {{ {branch('a = Neg(q) q = Exp(x)')} }}",
        -np.exp(X),
        "graph 't'",
    ),
    "nodes of a body": (
        f"g (float[2,3] x, int64 n) => (float[2,3] y) {{ {loop('w = Neg(q) q = Add(v, x)')} }}",
        -2 * X,
        "graph 'b'",
    ),
    "nodes of a function": (
        "g (float[2,3] x) => (float[2,3] y) { y = own.f(x) }\n"
        '<domain: "own", opset_import: ["" : 18]> f (p) => (r) { r = Neg(q) q = Exp(p) }',
        -np.exp(X),
        "graph 'g'",
    ),
}


@pytest.mark.parametrize("text, note", REPAIRED.values(), ids=REPAIRED)
def test_what_onnxruntime_repairs_is_repaired_and_told(text, note):
    proto = parsed(text)
    before = proto.SerializeToString(deterministic=True)
    graph = from_onnx(proto)
    made = graph.run({name: FEEDS[name] for name in graph.inputs})
    for ours, expected in zip(made.values(), theirs(proto, FEEDS), strict=True):
        assert ours.dtype == expected.dtype and ours.shape == expected.shape
        np.testing.assert_allclose(ours, expected, rtol=1e-6)
    assert not note or any(note in n for n in graph.notes), graph.notes
    assert proto.SerializeToString(deterministic=True) == before
    assert all(graph.type_of(n).accepts(TensorType.of(v)) for n, v in made.items())


@pytest.mark.parametrize("text, expected, note", INSIDE.values(), ids=INSIDE)
def test_graphs_inside_are_sorted_too(text, expected, note):
    graph = from_onnx(parsed(text))
    np.testing.assert_allclose(graph.run({n: FEEDS[n] for n in graph.inputs})["y"], expected, rtol=1e-6)
    assert len(graph.notes) == 1 and note in graph.notes[0] and "put in order" in graph.notes[0]


REFUSED = {
    "another dtype of an output": ("g (float[2] x) => (int64[2] y) { y = Neg(x) }", "declared-type", "int64[2]"),
    "another dtype in between": (
        "g (float[2] x) => (float[2] y) <int64[2] a> { a = Neg(x) y = Neg(a) }",
        "declared-type",
        "'a'",
    ),
    "another dtype of a body's input": (
        f"g (float[2,3] x, int64 n) => (float[2,3] y) {{ {loop('w = Neg(v)')} }}".replace(
            "float[2,3] v", "int64[2,3] v"
        ),
        "declared-type",
        "the body of Loop",
    ),
    "an initializer that is not what its input says": (
        "g (float[2,3] x, float[7] w) => (float[2,3] y) <float[3] w = {1,2,3}> { y = Add(x, w) }",
        "declared-type",
        "w",
    ),
    "no maker": ("g (float[2] x) => (float[2] y) { y = Add(x, b) }", "undefined-value", "'b', which no node, input or"),
    "no maker in a branch": (
        f"g (float[2,3] x, bool c) => (float[2,3] y) {{ {branch('a = Neg(q)')} }}",
        "undefined-value",
        "'q'",
    ),
    "a cycle": (
        "g (float[2] x) => (float[2] y) { y = Add(a, x) a = Neg(b) b = Exp(y) }",
        "cycle",
        "a cycle through the nodes Exp 'b', Neg 'a', Add 'y'",
    ),
    "a node that reads itself": ("g (float[2] x) => (float[2] y) { y = Add(x, y) }", "cycle", "reads its own result"),
    "a cycle through a body": (
        f"g (float[2,3] x, int64 n) => (float[2,3] y) {{ {loop('w = Add(v, y)')} }}",
        "cycle",
        "reads its own result",
    ),
    "two makers": ("g (float[2] x) => (float[2] y) { y = Neg(x) y = Exp(x) }", "duplicate-name", "'y'"),
}


@pytest.mark.parametrize("text, slug, said", REFUSED.values(), ids=REFUSED)
def test_what_onnxruntime_refuses_is_refused_with_the_reason(text, slug, said):
    proto = parsed(text)
    with pytest.raises(Exception, match="."):
        theirs(proto, FEEDS)
    with pytest.raises(LoadError) as caught:
        from_onnx(proto)
    assert caught.value.slug == slug and said.lower() in str(caught.value).lower(), caught.value


def test_a_cycle_is_found_among_many_nodes():
    nodes = [onnx.helper.make_node("Neg", [f"v{i}"], [f"v{i + 1}"]) for i in range(3000)]
    nodes[1000].input.append("v2000")
    nodes.reverse()
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("v0", 1, [2])],
        [onnx.helper.make_tensor_value_info("v3000", 1, [2])],
    )
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    with pytest.raises(LoadError) as caught:
        from_onnx(proto)
    assert caught.value.slug == "cycle" and "'v2000'" in str(caught.value) and "..." in str(caught.value)


def test_notes_are_kept_shown_and_no_part_of_the_fingerprint(tmp_path, capsys):
    good, bad = (parsed(f"g (float[2,3] x) => (float[{n}] y) {{ y = Neg(x) }}") for n in ("2,3", "6"))
    bad.graph.output[0].name = good.graph.output[0].name = bad.graph.node[0].output[0] = "<b>y"
    good.graph.node[0].output[0] = "<b>y"
    ours, plain = from_onnx(bad), from_onnx(good)
    assert len(ours.notes) == 1 and not plain.notes
    assert ours.fingerprint == plain.fingerprint and ours == plain and ours.text() != plain.text()
    assert wb.parse(ours.text()).notes == ours.notes
    path = tmp_path / "m.onnx"
    path.write_bytes(bad.SerializeToString())
    assert main(["inspect", str(path)]) == 0
    assert "notes\n  The model declares float32[6]" in capsys.readouterr().out
    with wb.Session(ours, {"x": X}) as session:
        session.run()
        session.trace.save(tmp_path / "t.wbtrace")
    assert wb.Trace.load(tmp_path / "t.wbtrace").graph.notes == ours.notes


def test_notes_cannot_fill_the_screen():
    values = " ".join(f"float[7] v{i}," for i in range(40)).rstrip(",")
    chain = " ".join(f"v{i} = Neg({f'v{i - 1}' if i else 'x'})" for i in range(40))
    notes = from_onnx(parsed(f"g (float[2,3] x) => (float[2,3] y) <{values}> {{ {chain} y = Neg(v39) }}")).notes
    assert len(notes) == 6 and notes[-1] == "The shapes that the model declares for 35 more values are not used either."


# -- nodes that outputs= does not need
# -------------------------------------------------------------------------------------
UNNEEDED = {
    "an unknown op": "z = own.Strange(x)",
    "a value that nothing makes": "z = Add(x, nowhere)",
    "a broken branch": "z = If(c) <then_branch = t () => (float a) { a = own.Strange(x) }>",
    "a cycle": "z = Add(w, x) w = Neg(z)",
    "a wrong shape": "z = MatMul(x, x)",
    "a wrong attribute": "z = Split <num_outputs = 100000> (x)",
}


@pytest.mark.parametrize("broken", UNNEEDED.values(), ids=UNNEEDED)
def test_what_is_not_needed_is_not_looked_at(tmp_path, broken):
    proto = parsed(f"g (float[2,3] x, bool c) => (float y, float z) {{ {broken} y = Neg(q) q = Exp(x) }}")
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    for source in (path, proto, proto.SerializeToString()):
        graph = load(source, outputs=["q", "y"]) if source is path else from_onnx(source, outputs=["q", "y"])
        assert list(graph.outputs) == ["q", "y"] and "z" not in graph.names
        np.testing.assert_allclose(graph.run(x=X)["y"], -np.exp(X), rtol=1e-6)
    with pytest.raises((LoadError, UnknownOpError, wb.WorkbenchError)):
        from_onnx(proto)


def test_functions_and_files_of_what_is_not_needed_may_be_missing(tmp_path):
    proto = parsed(
        "g (float[2,3] x) => (float[2,3] y, float[2,3] z) <float[2,3] w> { y = own.f(x) z = own.g(w) }\n"
        '<domain: "own", opset_import: ["" : 18]> f (p) => (r) { q = Exp(p) r = Neg(q) }\n'
        '<domain: "own", opset_import: ["" : 18, "own" : 1]> g (p) => (r) { r = own.g(p) }'
    )
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=[2, 3], data_location=1)
    tensor.external_data.add(key="location", value="gone.bin")
    np.testing.assert_allclose(from_onnx(proto, outputs="y").run(x=X)["y"], -np.exp(X), rtol=1e-6)
    # a value inside a function has its name only when the functions are inlined, which applies to all of them
    tensor.Clear()
    proto.graph.initializer.remove(tensor)
    with pytest.raises(LoadError) as caught:
        from_onnx(proto, outputs=["y/q"])
    assert caught.value.slug in ("recursive-function", "no-such-output")


def test_all_cases_give_the_same_when_they_are_pruned():
    for text, runs in CASES.values():
        proto = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)
        whole = from_onnx(proto)
        for name in whole.outputs:
            graph = from_onnx(proto, outputs=name)
            assert graph.notes == () and len(graph.nodes) <= len(whole.nodes)
            np.testing.assert_array_equal(graph.run(runs[0])[name], whole.run(runs[0])[name])
