"""Random graphs of ONNX in all dtypes, narrow ones first: each node has the results that the standard defines.

Results are compared with onnxruntime or ONNX's evaluator on the same inputs; if they differ, with the result in
float64. The graphs avoid cases in which onnxruntime differs from the standard (release 1.32), which these tests check
separately: its sums of integers saturate or are computed in floats, a scalar has one row of NonZero positions, an
infinity that OneHot should leave out gives NaN, a backward Slice treats 2**31 - 1 as the end.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

from tests.frontends.models import i  # noqa: E402
from tests.frontends.onnx_agree import disagreement, same  # noqa: E402
from tests.frontends.onnx_expected import Node, by_reference  # noqa: E402
from tests.frontends.onnx_graphs import OnnxMaker  # noqa: E402
from workbench.frontends import from_onnx  # noqa: E402


def check(maker: OnnxMaker) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = from_onnx(maker.model()).run(maker.feeds)
        alone = from_onnx(maker.model(every=False)).run(maker.feeds)
    for name, value in alone.items():
        assert value.dtype == found[name].dtype and value.shape == found[name].shape
        assert same(value, found[name]).all(), f"{name} depends on what else is asked for"
    for node in maker.nodes:
        inputs = [np.asarray(found.get(n, maker.values[n])) for n in node.given]
        drawn = [maker.values[n] for n in node.given]
        equal = all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(inputs, drawn, strict=True))
        known = [maker.values[o] for o in node.outputs] if equal else None
        wrong = disagreement(node, inputs, [found[o] for o in node.outputs], known)
        assert wrong is None, f"{node}: {wrong}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_each_node_of_random_graphs(part):
    for seed in range(part, 240, 4):
        check(OnnxMaker(seed).make())


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(4))
def test_sweep(part):
    """Fixed seeds; WORKBENCH_SWEEP sets their number."""
    for seed in range(1000 + part, 1000 + int(os.environ.get("WORKBENCH_SWEEP", "800")), 4):
        check(OnnxMaker(seed).make())


def test_what_is_drawn():
    ops: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    for seed in range(100):
        maker = OnnxMaker(seed).make()
        ops.update(n.op for n in maker.nodes)
        dtypes.update(a.dtype.name for a in maker.values.values())
        shapes.update("scalar" if a.ndim == 0 else "empty" if a.size == 0 else "array" for a in maker.values.values())
    assert len(ops) > 90 and min(shapes[k] for k in ("scalar", "empty", "array")) > 30
    assert min(dtypes[k] for k in ("float16", "bfloat16", "int8", "uint8", "int16", "uint16", "uint32", "bool")) > 2


def run(op, *arrays, outputs=1, opset=21, **attrs):
    """The results of one node on these inputs, by the workbench."""
    node = Node(op, tuple(f"x{k}" for k in range(len(arrays))), tuple(f"y{k}" for k in range(outputs)), attrs, opset)
    return from_onnx(node.model(list(arrays))).run(dict(zip(node.given, arrays, strict=True)))["y0"]


def test_indices_that_are_shorter_than_the_data_on_other_axes():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert run("GatherElements", x, i([[2, 0]]), axis=0).tolist() == [[8, 1]]
    assert run("GatherElements", x, i([[3], [1]]), axis=1).tolist() == [[3], [5]]


def test_a_slice_backwards_from_before_the_array_begins_at_its_first_element():
    x = np.arange(3, dtype=np.int8)
    assert run("Slice", x, i([-4]), i([-5]), i([0]), i([-2])).tolist() == [0]
    assert run("Slice", x, i([-4]), i([0]), i([0]), i([-1])).tolist() == []


def test_an_exponent_of_another_dtype_is_not_rounded():
    base = np.array([-2, 3, -1], np.float16)
    found = run("Pow", base, np.array([1e-30, 2, 2049], np.float64))
    assert found.dtype == np.float16 and np.isnan(found[0]) and found[1] == 9 and found[2] == -1
    assert run("Pow", base, i([3, 2, 2049])).tolist() == [-8, 9, -1]


def test_kernels_that_do_not_take_empty_arrays_are_not_called():
    half = np.float16
    channels = np.ones(2, half)
    assert run("InstanceNormalization", np.ones((1, 2, 0), half), channels, channels).shape == (1, 2, 0)
    found = run("MatMulInteger", np.ones((2, 0), np.uint8), np.ones((0, 3), np.int8))
    assert found.tolist() == np.zeros((2, 3)).tolist()


def test_a_position_of_nothing_along_an_axis_without_elements():
    assert run("ArgMin", np.ones((0, 0), np.float32), axis=0).shape == (1, 0)
    assert run("Gather", np.ones((0, 1), np.int64), i(-1), axis=1).shape == (0,)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_are_asked_for_what_they_are(dtype):
    from workbench.ir.types import numpy_dtype

    x = np.array([1, np.nan, -2], np.float32).astype(numpy_dtype(dtype))
    assert run("IsNaN", x, opset=20).tolist() == [False, True, False]
    assert run("IsInf", x, opset=20).tolist() == [False] * 3


def test_bfloat16_is_computed_in_float32_and_rounded_once():
    from workbench.ir.types import numpy_dtype

    short = numpy_dtype("bfloat16")
    rng = np.random.default_rng(3)
    x, scale = rng.standard_normal((4, 3, 7, 1)).astype(short), rng.standard_normal((4, 3, 7, 1)).astype(short)
    found = run("LayerNormalization", x, scale, axis=-4)
    node = Node("LayerNormalization", ("x", "s"), ("y",), {"axis": -4}, 21)
    (wanted,) = by_reference(node, [x.astype(np.float32), scale.astype(np.float32)])
    assert found.dtype == short
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(short).astype(np.float32))
