"""A language model whose whole decoding is one ONNX graph: a Loop with caches of keys and values that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
make, F, INT, B = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL

WIDTH, HEADS, VOCABULARY, LAYERS = 8, 2, 20, 2
CACHES = [f"{name}_{k}" for k in range(LAYERS) for name in ("keys", "values")]


def weights(seed: int = 0, positions: int = 64, placed: bool = True) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    found = {"embed": rng.normal(size=(VOCABULARY, WIDTH)), "head": rng.normal(size=(WIDTH, VOCABULARY))}
    found["places"] = rng.normal(size=(64, WIDTH))
    if not placed:
        found["places"] = np.zeros((positions, WIDTH))
    for k in range(LAYERS):
        for name in "qkvo":
            found[f"layers.{k}.{name}"] = rng.normal(size=(WIDTH, WIDTH)) * 0.5
        found[f"layers.{k}.up"] = rng.normal(size=(WIDTH, 2 * WIDTH)) * 0.5
        found[f"layers.{k}.down"] = rng.normal(size=(2 * WIDTH, WIDTH)) * 0.5
    return {name: array.astype(np.float32) for name, array in found.items()}


def decoder(given: dict[str, np.ndarray], fault: str = "", steps: int = 12, end: int = -1, names: str = "") -> bytes:
    """The model; without ``steps`` only the token ``end`` ends it. ``names`` are put before those of its values."""
    graph = _Body(names)
    consts: dict[str, Any] = {"one": 1, "end": [end], "axis": [0], "heads": [1, HEADS, WIDTH // HEADS]}
    consts |= {"flat": [1, WIDTH], "steps": steps, "yes": True, "start": [0], "four": 4, "five": 5}
    consts |= {"root": np.float32(2.5 if fault == "wrong scale" else 2.0), "empty": np.zeros((HEADS, 0, 4), np.float32)}
    place = "position"
    if fault == "position one too low":
        late = graph.add("Cast", [graph.add("Greater", ["position", "four"], "late")], "late_int", to=INT)
        place = graph.add("Sub", ["position", late], "position_used")
    x = graph.add("Gather", ["embed", "token"], "/embed/token")
    x = graph.add("Add", [x, graph.add("Gather", ["places", place], "/embed/place")], "/embed/sum")
    kept = []
    for k in range(LAYERS):
        x, caches = _layer(graph, x, k, fault)
        kept += caches
    if fault == "quantised head":
        scale = np.abs(given["head"]).max(0) / 127
        given = {**given, "head": np.round(given["head"] / scale).astype(np.float32) * scale}
    logits = graph.add("MatMul", [x, "head"], "/lm_head/logits")
    chosen = graph.add("ArgMin" if fault == "wrong choice" else "ArgMax", [logits], "/chosen", axis=-1, keepdims=0)
    later = graph.add("Add", ["position", "one"], "/position")
    on = graph.add("Squeeze", [graph.add("Not", [graph.add("Equal", [chosen, "end"], "/ends")], "/on"), "axis"], "/go")
    emitted = graph.add("Identity", [chosen], "/emitted")
    inputs = [("i", INT, []), ("cond", B, []), ("token", INT, [1]), ("position", INT, [1])]
    inputs += [(name, F, [HEADS, None, 4]) for name in CACHES]
    outputs = [(on, B, []), (chosen, INT, [1]), (later, INT, [1]), *((name, F, [None] * 3) for name in kept)]
    body = make.make_graph(graph.nodes, "decode", _values(inputs), _values([*outputs, (emitted, INT, [1])]))
    results = ["last", "place", *(f"all_{name}" for name in CACHES), "tokens"]
    starts = ["steps" if steps else "", "yes", "first", "start", *["empty"] * len(CACHES)]
    loop = make.make_node("Loop", starts, results, body=body, name="decode")
    arrays = {**given, **{name: v if isinstance(v, np.ndarray) else np.array(v) for name, v in consts.items()}}
    whole = make.make_graph(
        [loop],
        "decoder",
        _values([("first", INT, [1])]),
        _values([("tokens", INT, [None, None])]),
        [onnx.numpy_helper.from_array(v, name) for name, v in arrays.items()],
    )
    model = make.make_model(whole, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _values(described: list[tuple[str, int, list[Any]]]) -> list[Any]:
    return [make.make_tensor_value_info(*one) for one in described]


class _Body:
    """Nodes of the body of the loop."""

    def __init__(self, names: str) -> None:
        self.nodes: list[Any] = []
        self._names = names

    def add(self, op: str, inputs: list[str], name: str, **attrs: Any) -> str:
        self.nodes.append(make.make_node(op, inputs, [self._names + name], **attrs))
        return self._names + name


def _layer(graph: _Body, x: str, k: int, fault: str) -> tuple[str, list[str]]:
    """(the result of a layer, its new caches)."""
    at = f"/layers.{k}/attention"
    parts = {}
    for name in "qkv":
        made = graph.add("MatMul", [x, f"layers.{k}.{name}"], f"{at}/{name}")
        made = graph.add("Reshape", [made, "heads"], f"{at}/{name}_heads")
        parts[name] = graph.add("Transpose", [made], f"{at}/{name}_first", perm=[1, 0, 2])
    before = "keys_0" if fault == "cache of another layer" and k else f"keys_{k}"
    keys = graph.add("Concat", [before, parts["k"]], f"{at}/keys", axis=1)
    values = graph.add("Concat", [f"values_{k}", parts["v"]], f"{at}/values", axis=1)
    scores = graph.add("MatMul", [parts["q"], graph.add("Transpose", [keys], f"{at}/kT", perm=[0, 2, 1])], f"{at}/qk")
    shares = graph.add("Softmax", [graph.add("Div", [scores, "root"], f"{at}/scaled")], f"{at}/shares", axis=-1)
    mixed = graph.add("Transpose", [graph.add("MatMul", [shares, values], f"{at}/mix")], f"{at}/rows", perm=[1, 0, 2])
    mixed = graph.add("Reshape", [mixed, "flat"], f"{at}/flat")
    x = graph.add("Add", [x, graph.add("MatMul", [mixed, f"layers.{k}.o"], f"{at}/out")], f"/layers.{k}/middle")
    up = graph.add("MatMul", [x, f"layers.{k}.up"], f"/layers.{k}/mlp/up")
    bent = graph.add("Elu" if fault == "wrong activation" and k else "Tanh", [up], f"/layers.{k}/mlp/bent")
    down = graph.add("MatMul", [bent, f"layers.{k}.down"], f"/layers.{k}/mlp/down")
    if fault == "cache not updated" and not k:
        asked = graph.add("Squeeze", [graph.add("Equal", ["position", "five"], f"{at}/asked"), "axis"], f"{at}/now")
        keys, values = _kept(graph, asked, "keys_0", keys), _kept(graph, asked, "values_0", values)
    return graph.add("Add", [x, down], f"/layers.{k}/sum"), [keys, values]


def _kept(graph: _Body, asked: str, old: str, new: str) -> str:
    sides = []
    for name, value in (("old", old), ("new", new)):
        node = make.make_node("Identity", [value], [f"{new}_{name}"])
        sides.append(make.make_graph([node], name, [], _values([(f"{new}_{name}", F, [None] * 3)])))
    graph.nodes.append(make.make_node("If", [asked], [f"{new}_kept"], then_branch=sides[0], else_branch=sides[1]))
    return f"{new}_kept"
