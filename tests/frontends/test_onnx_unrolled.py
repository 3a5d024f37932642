"""Recurrent nodes as loops over time steps: results of onnxruntime, and of the single node."""

from __future__ import annotations

import itertools

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import workbench as wb
from workbench.cli.main import main
from workbench.errors import UnknownOpError

T, B, WIDTH, H = 5, 3, 2, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FEEDS = {"lens": np.array([5, 2, 4], np.int32)}


def arrays(kind: str, ways: int, dtype=np.float32) -> dict[str, np.ndarray]:
    """Inputs by their names in the standard."""
    g, n = np.random.default_rng(3), GATES[kind]
    shapes = {
        "X": (T, B, WIDTH), "W": (ways, n * H, WIDTH), "R": (ways, n * H, H), "B": (ways, 2 * n * H), "lens": None,
        "initial_h": (ways, B, H), "initial_c": (ways, B, H), "P": (ways, 3 * H),
    }  # fmt: skip
    made = {k: g.uniform(-1, 1, s).astype(dtype) for k, s in shapes.items() if s is not None}
    return {**made, "lens": FEEDS["lens"]}


INPUTS = ("X", "W", "R", "B", "lens", "initial_h", "initial_c", "P")
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE, np.dtype(np.int32): 6}


def model(kind: str, given: dict[str, np.ndarray], fed=("X",), outputs=None, **attrs):
    """A model of one recurrent node; inputs that are not fed are initializers, others are omitted."""
    names = INPUTS if kind == "LSTM" else INPUTS[:6]
    outputs = outputs or (("Y", "Y_h", "Y_c") if kind == "LSTM" else ("Y", "Y_h"))
    ways = given["W"].shape[0]
    direction = attrs.pop("direction", "bidirectional" if ways == 2 else "forward")
    node = helper.make_node(
        kind, [n if n in given else "" for n in names], outputs, name=kind.lower(), hidden_size=H, direction=direction,
        **attrs,
    )  # fmt: skip
    inputs = [helper.make_tensor_value_info(n, TYPES[given[n].dtype], given[n].shape) for n in fed]
    constants = [
        helper.make_tensor(n, TYPES[a.dtype], a.shape, a.tobytes(), raw=True) for n, a in given.items() if n not in fed
    ]
    out = [helper.make_tensor_value_info(n, TYPES[given["X"].dtype], None) for n in outputs if n]
    made = helper.make_model(
        helper.make_graph([node], kind, inputs, out, constants), opset_imports=[helper.make_opsetid("", 21)]
    )
    made.ir_version = 10
    return made


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal up to rounding, relative to the largest element."""
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=2e-6 * max(1, np.abs(other).max())))


def compared(kind: str, given: dict[str, np.ndarray], fed=("X",), **attrs) -> wb.Graph:
    """The graph with a loop, whose results are those of onnxruntime."""
    proto = model(kind, given, fed, **attrs)
    graph = wb.load(proto, unroll_recurrent=True)
    feeds = {n: given[n] for n in fed}
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, feeds)
    found = graph.run(feeds)
    assert list(found) == [o.name for o in session.get_outputs()]
    for one, other in zip(found.values(), wanted, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert near(one, other)
    assert not [n for n in graph.nodes.values() if ":" in n.op]
    return graph


CASES = list(itertools.product(GATES, ("forward", "reverse", "bidirectional"), (False, True)))


@pytest.mark.parametrize("kind, direction, lens", CASES)
def test_a_recurrent_node_is_a_loop_with_the_results_of_onnxruntime(kind, direction, lens):
    given = arrays(kind, 2 if direction == "bidirectional" else 1)
    wanted = dict(given) if lens else {k: v for k, v in given.items() if k != "lens"}
    if kind != "LSTM":
        wanted = {k: v for k, v in wanted.items() if k not in ("initial_c", "P")}
    graph = compared(kind, wanted, direction=direction)
    assert len(graph.frames) == (3 if direction == "bidirectional" else 2)
    without = wb.load(model(kind, wanted, direction=direction)).run({"X": given["X"]})
    with_loop = graph.run({"X": given["X"]})
    assert all(near(with_loop[k], without[k]) for k in without)


@pytest.mark.parametrize("kind", GATES)
def test_a_node_with_nothing_but_weights(kind):
    given = {k: v for k, v in arrays(kind, 1).items() if k in ("X", "W", "R")}
    compared(kind, given)
    compared(kind, given, outputs=("", "Y_h"))
    graph = wb.load(model(kind, given), unroll_recurrent=True)
    (x,) = graph.inputs
    assert graph.nodes[x].types[0].shape == (T, B, WIDTH)


@pytest.mark.parametrize("kind", GATES)
def test_a_sequence_without_elements(kind):
    given = arrays(kind, 2) | {"lens": np.array([0, 2, 5], np.int32)}
    compared(kind, {k: v for k, v in given.items() if kind == "LSTM" or k not in ("initial_c", "P")})


@pytest.mark.parametrize("kind", GATES)
def test_lengths_that_are_open(kind):
    given = {k: v for k, v in arrays(kind, 1).items() if k in ("X", "W", "R")}
    proto = model(kind, given)
    for k in (0, 1):
        proto.graph.input[0].type.tensor_type.shape.dim[k].dim_param = f"n{k}"
    graph = wb.load(proto, unroll_recurrent=True)
    for steps, batch in ((1, 1), (7, 2), (0, 2)):
        x = np.random.default_rng(0).uniform(-1, 1, (steps, batch, WIDTH)).astype(np.float32)
        found = graph.run({"X": x})
        assert found["Y"].shape == (steps, 1, batch, H) and found["Y_h"].shape == (1, batch, H)
        if steps:
            wanted = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"X": x})
            assert all(near(a, b) for a, b in zip(found.values(), wanted, strict=True))


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("clip", [None, 0.3])
@pytest.mark.parametrize("kind", GATES)
def test_clips_and_the_place_of_the_reset_gate(kind, clip, late):
    given = {k: v for k, v in arrays(kind, 2).items() if k in INPUTS[: 8 if kind == "LSTM" else 6]}
    attrs = {} if clip is None else {"clip": clip}
    if kind == "GRU":
        attrs["linear_before_reset"] = late
    if kind == "LSTM":
        attrs["input_forget"] = late
    compared(kind, given, **attrs)


ACTIVATIONS = [
    ["Relu", "Tanh", "Sigmoid"],
    ["Softsign", "LeakyRelu", "Softplus"],
    ["HardSigmoid", "ScaledTanh", "Affine"],
    ["Sigmoid", "Elu", "ThresholdedRelu"],
]


@pytest.mark.parametrize("names", ACTIVATIONS, ids="-".join)
@pytest.mark.parametrize("kind", GATES)
def test_activations_with_their_numbers(kind, names):
    count = {"LSTM": 3, "GRU": 2, "RNN": 1}[kind]
    given = {k: v for k, v in arrays(kind, 1).items() if k in ("X", "W", "R", "B")}
    for own in {tuple(names[:count]), tuple(names[-count:])}:
        compared(kind, given, activations=list(own))
        alphas = [n for n in own if n in ("HardSigmoid", "ScaledTanh", "Affine", "LeakyRelu", "Elu", "ThresholdedRelu")]
        betas = [n for n in own if n in ("HardSigmoid", "ScaledTanh", "Affine")]
        numbers = {"activation_alpha": [0.3 + 0.1 * k for k in range(len(alphas))]} if alphas else {}
        if betas:
            numbers["activation_beta"] = [0.4 + 0.1 * k for k in range(len(betas))]
        compared(kind, given, activations=list(own), **numbers)


@pytest.mark.parametrize("kind", GATES)
def test_the_batch_may_come_first(kind):
    given = {k: v for k, v in arrays(kind, 2).items() if k in INPUTS[: 7 if kind == "LSTM" else 6]}
    wanted = wb.load(model(kind, given), unroll_recurrent=True).run({"X": given["X"]})
    turned = {k: v.swapaxes(0, 1) if k in ("X", "initial_h", "initial_c") else v for k, v in given.items()}
    graph = wb.load(
        model(kind, {k: np.ascontiguousarray(v) for k, v in turned.items()}, layout=1), unroll_recurrent=True
    )
    found = graph.run({"X": turned["X"]})
    assert np.array_equal(found["Y"], wanted["Y"].transpose(2, 0, 1, 3))
    assert all(np.array_equal(found[k], wanted[k].swapaxes(0, 1)) for k in wanted if k != "Y")


def test_weights_that_are_fed_and_floats_of_64_bits():
    given = {k: v for k, v in arrays("LSTM", 1, np.float64).items() if k in INPUTS[:4]}
    proto = model("LSTM", given, ("X", "W", "R", "B"))
    graph = wb.load(proto, unroll_recurrent=True)
    found = graph.run({k: given[k] for k in ("X", "W", "R", "B")})
    small = {k: v.astype(np.float32) for k, v in given.items()}
    rounded = compared("LSTM", small, ("X", "W", "R", "B")).run(small)
    assert found["Y"].dtype == np.float64 and all(near(found[k], rounded[k]) for k in rounded)


def test_a_time_step_can_be_looked_at():
    given = {k: v for k, v in arrays("LSTM", 1).items() if k in INPUTS[:4]}
    graph = wb.load(model("LSTM", given), unroll_recurrent=True)
    with wb.Session(graph, {"X": given["X"]}) as session:
        session.run()
        h, c = session.trace["lstm/H"].values, session.trace["lstm/C"].values
        results = session.outputs
    assert h.shape == c.shape == (T + 1, B, H) and not h[0].any()
    assert np.array_equal(h[1:], results["Y"][:, 0]) and np.array_equal(c[-1], results["Y_c"][0])
    assert {"lstm/i", "lstm/f", "lstm/o", "lstm/c", "lstm/H_t", "lstm/C_t"} <= set(graph.nodes)
    assert graph.regions["lstm"].kind == "loop" and wb.parse(graph.text()) == graph


def test_a_recurrent_node_in_a_loop_has_a_loop_of_its_own():
    given = {k: v for k, v in arrays("GRU", 1).items() if k in ("W", "R", "B")}
    constants = [helper.make_tensor(n, TensorProto.FLOAT, a.shape, a.ravel()) for n, a in given.items()]
    gru = helper.make_node("GRU", ["x", "W", "R", "B", "", "h"], ["", "h_next"], name="gru", hidden_size=H)
    keep = helper.make_node("Identity", ["cond_in"], ["cond_out"])
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [gru, keep], "body",
        [info("i", 7, []), info("cond_in", 9, []), info("h", 1, [1, B, H])],
        [info("cond_out", 9, []), info("h_next", 1, [1, B, H])],
    )  # fmt: skip
    count = helper.make_tensor("count", TensorProto.INT64, [], [3])
    loop = helper.make_node("Loop", ["count", "", "start"], ["end"], body=body, name="loop")
    graph = helper.make_graph(
        [loop], "nested", [info("x", 1, [T, B, WIDTH]), info("start", 1, [1, B, H])], [info("end", 1, None)],
        [*constants, count],
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    proto.ir_version = 10
    feeds = {"x": arrays("GRU", 1)["X"], "start": np.zeros((1, B, H), np.float32)}
    wanted = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, feeds)[0]
    made = wb.load(proto, unroll_recurrent=True)
    assert near(made.run(feeds)["end"], wanted)
    assert sorted(map(len, made.frames)) == [0, 1, 2]


def test_what_cannot_be_unrolled_stays_one_node_and_is_noted():
    given = {k: v for k, v in arrays("RNN", 1).items() if k in ("X", "W", "R")}
    proto = model("RNN", given, ("X", "R"))
    for dim in proto.graph.input[1].type.tensor_type.shape.dim:
        dim.dim_param = "unknown"
    kept = [a for a in proto.graph.node[0].attribute if a.name != "hidden_size"]
    del proto.graph.node[0].attribute[:]
    proto.graph.node[0].attribute.extend(kept)
    graph = wb.load(proto, unroll_recurrent=True)
    assert [n.op for n in graph.nodes.values() if ":" in n.op] == ["onnx:RNN"]
    assert "RNN 'rnn' is one node, and not a loop: the model does not tell its hidden size." in graph.notes
    with pytest.raises(UnknownOpError, match="Sine"):
        wb.load(model("RNN", given, activations=["Sine"]), unroll_recurrent=True)


def test_the_command_line_unrolls(tmp_path, capsys):
    given = {k: v for k, v in arrays("LSTM", 1).items() if k in INPUTS[:4]}
    file = tmp_path / "lstm.onnx"
    file.write_bytes(model("LSTM", given).SerializeToString())
    assert main(["run", str(file), "--random", "--report"]) == 0
    assert "0 loops, 0 loop variables" in capsys.readouterr().out
    assert main(["run", str(file), "--random", "--report", "--unroll-recurrent"]) == 0
    assert "1 loop, 4 loop variables" in capsys.readouterr().out
