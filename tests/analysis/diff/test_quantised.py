"""A quantised ONNX model against its float model: rounding does not count, a fault in one layer is the first one."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb

pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(7)
WEIGHTS = {
    "w1": RNG.normal(size=(6, 8)).astype(np.float32),
    "w2": RNG.normal(size=(8, 8)).astype(np.float32),
    "w3": RNG.normal(size=(8, 3)).astype(np.float32),
}
LAYERS = [("x", "w1", "h1", "r1"), ("r1", "w2", "h2", "r2"), ("r2", "w3", "y", None)]
X = RNG.normal(size=(4, 6)).astype(np.float32)
#: names of a layer's weight, product and output
PARTS = {"w1": ("w1", "h1", "r1"), "w2": ("w2", "h2", "r2"), "w3": ("w3", "y", "y")}


def model(nodes, constants):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "net",
        [value("x", TensorProto.FLOAT, [4, 6])],
        [value("y", TensorProto.FLOAT, [4, 3])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def float_model():
    nodes = []
    for x, w, h, r in LAYERS:
        nodes.append(helper.make_node("MatMul", [x, w], [h]))
        nodes += [helper.make_node("Relu", [h], [r])] if r else []
    return model(nodes, WEIGHTS)


def ranges():
    """Scale and zero point (uint8) of each activation, from the float run."""
    found = {}
    with wb.Session(wb.load(float_model()), {"x": X}) as session:
        session.run()
        for name in ("x", "h1", "r1", "h2", "r2", "y"):
            v = np.asarray(session.value(name))
            low, high = min(0.0, 1.3 * float(v.min())), 1.3 * float(v.max())
            scale = np.float32((high - low) / 255)
            found[name] = scale, np.uint8(round(-low / scale))
    return found


RANGES = ranges()


def quantised_weight(name, fault):
    w = WEIGHTS[name]
    scale = (np.abs(w).max(axis=0) / 127).astype(np.float32)
    q = np.clip(np.rint(w / scale), -127, 127).astype(np.int8)
    if fault == ("weight", name):
        q[2, 1] = -q[2, 1] - 20
    if fault == ("scale", name):
        scale = scale * np.float32(1.2)
    return q, scale, np.zeros(scale.shape, np.int8)


def qdq_model(fault=None):
    nodes, constants = [], {}

    def pair(name):
        constants[f"{name}_s"], constants[f"{name}_z"] = RANGES[name]
        if fault == ("range", name):
            constants[f"{name}_s"] = np.float32(RANGES[name][0] / 4)
        args = [f"{name}_s", f"{name}_z"]
        nodes.append(helper.make_node("QuantizeLinear", [name, *args], [f"{name}_q"]))
        if fault == ("read", name):
            constants["other"] = np.float32(RANGES[name][0] * 1.5)
            args[0] = "other"
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *args], [f"{name}_d"]))
        return f"{name}_d"

    for x, w, h, r in LAYERS:
        constants[f"{w}_q"], constants[f"{w}_s"], constants[f"{w}_z"] = quantised_weight(w, fault)
        nodes.append(helper.make_node("DequantizeLinear", [f"{w}_q", f"{w}_s", f"{w}_z"], [f"{w}_d"], axis=1))
        nodes.append(helper.make_node("MatMul", [pair(x), f"{w}_d"], [h]))
        nodes += [helper.make_node("Relu", [h], [r])] if r else []
    return model(nodes, constants)


def qlinear_model(fault=None):
    nodes, constants = [], {}
    for name, (scale, zero) in RANGES.items():
        constants[f"{name}_s"], constants[f"{name}_z"] = np.float32(scale), zero
    for name in ("r1", "r2"):
        constants[f"{name}_z"] = np.uint8(0)
        if fault == ("range", name):
            constants[f"{name}_s"] = np.float32(RANGES[name][0] / 4)
    nodes.append(helper.make_node("QuantizeLinear", ["x", "x_s", "x_z"], ["x_q"]))
    for x, w, h, r in LAYERS:
        constants[f"{w}_q"], constants[f"{w}_s"], constants[f"{w}_z"] = quantised_weight(w, fault)
        out = r or h
        args = [f"{x}_q", f"{x}_s", f"{x}_z", f"{w}_q", f"{w}_s", f"{w}_z", f"{out}_s", f"{out}_z"]
        nodes.append(helper.make_node("QLinearMatMul", args, [f"{out}_q"]))
    nodes.append(helper.make_node("DequantizeLinear", ["y_q", "y_s", "y_z"], ["y"]))
    return model(nodes, constants)


def dynamic_model(fault=None):
    nodes, constants = [], {}
    for x, w, h, r in LAYERS:
        q, scale, _ = quantised_weight(w, None)
        scale = np.float32(scale.max())
        q = np.clip(np.rint(WEIGHTS[w] / scale), -127, 127).astype(np.int8)
        if fault == ("weight", w):
            q[2, 1] = -q[2, 1] - 20
        if fault == ("scale", w):
            scale = np.float32(scale * 1.2)
        constants[f"{w}_q"], constants[f"{w}_s"], constants[f"{w}_z"] = q, scale, np.int8(0)
        nodes += [
            helper.make_node("DynamicQuantizeLinear", [x], [f"{x}_q", f"{x}_s", f"{x}_z"]),
            helper.make_node("MatMulInteger", [f"{x}_q", f"{w}_q", f"{x}_z", f"{w}_z"], [f"{h}_i"]),
            helper.make_node("Cast", [f"{h}_i"], [f"{h}_c"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{x}_s", f"{w}_s"], [f"{h}_f"]),
            helper.make_node("Mul", [f"{h}_c", f"{h}_f"], [h]),
        ]
        nodes += [helper.make_node("Relu", [h], [r])] if r else []
    return model(nodes, constants)


STYLES = {"qdq": qdq_model, "qlinear": qlinear_model, "dynamic": dynamic_model}


def compared(quantised, swapped=False):
    models = [wb.load(float_model()), wb.load(quantised)]
    with wb.Session(models[swapped], {"x": X}) as a, wb.Session(models[not swapped], {"x": X}) as b:
        a.run(), b.run()
        return wb.diff(a, b)


@pytest.mark.parametrize("style", STYLES)
def test_rounding_alone_is_no_difference(style):
    found = compared(STYLES[style]())
    assert not found.rows, str(found)
    assert found.firings >= 6
    assert sum(name.startswith("weight w") for name in found.rounded) == 3, found.rounded
    assert "as far as quantisation allows" in str(found) and "(step 0.0" in str(found)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("layer", ["w1", "w2", "w3"])
@pytest.mark.parametrize("what", ["weight", "scale"])
def test_a_fault_in_one_layer_comes_first(style, layer, what):
    found = compared(STYLES[style]((what, layer)))
    assert found.first is not None and found.first.name == layer, str(found)
    assert found.first.introduces and "step" in found.first.quantised
    assert [r.name for r in found.introduced] == [layer]


@pytest.mark.parametrize(
    ("style", "fault", "first"),
    [
        ("qdq", ("range", "r1"), ("r1",)),
        ("qdq", ("range", "x"), ("x",)),
        ("qdq", ("read", "r2"), ("r2",)),
        ("qlinear", ("range", "r1"), ("r1", "h1")),  # one op does product and relu
        ("qlinear", ("range", "r2"), ("r2", "h2")),
    ],
)
def test_a_wrong_range_is_found_where_it_clips(style, fault, first):
    found = compared(STYLES[style](fault))
    assert found.first is not None and found.first.name in first, str(found)
    assert found.first.introduces


def test_the_quantised_run_may_be_a():
    found = compared(qdq_model(("weight", "w2")), swapped=True)
    assert found.first is not None and found.first.other == "w2", str(found)
    assert not compared(qlinear_model(), swapped=True).rows


def test_inherited_error_is_told_from_the_own_one():
    found = compared(qdq_model(("weight", "w2")))
    rows = {r.name: r for r in found.rows}
    assert "own error" in rows["y"].quantised and "inherited" in rows["y"].quantised
    assert rows["y"].introduces is False
    assert "w2 (Const) is off by more than rounding" in str(found)
