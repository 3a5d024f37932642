"""ONNX ops that become workbench ops: compared with onnxruntime, and old versions with the specification."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontends.models import b, f, i, onnx
from workbench.errors import LoadError
from workbench.frontends import from_onnx

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
ort.set_default_logger_severity(4)
X = f([[1, -2, 3], [0.5, 4, -1]])
POSITIVE = np.abs(X)


def parsed(text: str, version: int = 17, ir: int = 8):
    return onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {version}]>\n{text}')


#: (version, text, feeds) of models that run without foreign ops
OURS = {
    "mean": (17, "g (float[2,3] x, float[3] v) => (y) { y = Mean(x, v, x) }", {"x": X, "v": f([1, 2, 4])}),
    "square sum": (
        18,
        "g (float[2,3] x) => (y) { a = Constant <value_ints = [1]> () y = ReduceSumSquare <keepdims = 0> (x, a) }",
        {"x": X},
    ),
    "square sum, before 18": (
        13,
        "g (int32[2,3] x) => (y) { y = ReduceSumSquare <axes = [0]> (x) }",
        {"x": X.astype(np.int32)},
    ),
    "log sum": (
        18,
        "g (float[2,3] x) => (y) { a = Constant <value_ints = [-1]> () y = ReduceLogSum(x, a) }",
        {"x": POSITIVE},
    ),
    "constant pad": (
        18,
        "g (float[2,3] x, float v) => (y) { p = Constant <value_ints = [1, 0, 0, 2]> () y = Pad(x, p, v) }",
        {"x": X, "v": f(7)},
    ),
    "pad without a value": (
        13,
        "g (float[2,3] x) => (y) { p = Constant <value_ints = [0, 2, 1, 0]> () y = Pad(x, p) }",
        {"x": X},
    ),
    "reflected pad": (
        13,
        'g (float[2,3] x) => (y) { p = Constant <value_ints = [1, 2, 0, 1]> () y = Pad <mode = "reflect"> (x, p) }',
        {"x": X},
    ),
    "edge pad of version 2": (
        10,
        'g (float[2,3] x) => (y) { y = Pad <mode = "edge", pads = [0, 2, 1, 0]> (x) }',
        {"x": X},
    ),
    "one hot": (
        17,
        "g (int64[4] k, float[2] v) => (y) { d = Constant <value_int = 3> () y = OneHot <axis = 0> (k, d, v) }",
        {"k": i([0, 2, -1, 5]), "v": f([-1, 4])},
    ),
    "one hot of floats": (
        17,
        "g (float[2] k, float[2] v) => (y) { d = Constant <value_floats = [3.0]> () y = OneHot(k, d, v) }",
        {"k": f([1, 2]), "v": f([0, 9])},
    ),
    "upper triangle": (17, "g (float[2,3] x) => (y) { k = Constant <value_int = 1> () y = Trilu(x, k) }", {"x": X}),
    "lower triangle": (17, "g (float[2,3] x) => (y) { y = Trilu <upper = 0> (x) }", {"x": X}),
    "softmax of rows": (
        11,
        "g (float[2,3,2] x) => (y) { y = Softmax(x) }",
        {"x": f(np.arange(12).reshape(2, 3, 2) / 7)},
    ),
    "log softmax of all but the first axes": (
        9,
        "g (float[2,3,2] x) => (y) { y = LogSoftmax <axis = 2> (x) }",
        {"x": f(np.arange(12).reshape(2, 3, 2) / 7)},
    ),
    "softmax of an axis before others of size 1": (
        9,
        "g (float[2,3,1,1] x) => (y) { y = Softmax(x) }",
        {"x": f(np.arange(6).reshape(2, 3, 1, 1) / 7)},
    ),
    "infinities": (17, "g (float[4] x) => (y) { y = IsInf(x) }", {"x": f([np.inf, -np.inf, np.nan, 1])}),
    "range of one-element bounds": (
        17,
        "g (int64[1] n) => (y) { z = Constant <value_int = 0> () "
        "o = Constant <value_int = 2> () s = Squeeze(n) y = Range(z, s, o) }",
        {"n": i([5])},
    ),
    "cast like": (17, "g (float[2,3] x, int32 k) => (y) { y = CastLike(x, k) }", {"x": X, "k": np.array(1, np.int32)}),
    "greatest of nothing": (
        20,
        "g (float[2,N] x) => (y) { a = Constant <value_ints = [1]> () y = ReduceMax <keepdims = 0> (x, a) }",
        {"x": np.zeros((2, 4), np.float32)},
    ),
}


@pytest.mark.parametrize("name", OURS)
def test_equal_to_onnxruntime(name):
    version, text, feeds = OURS[name]
    proto = onnx.shape_inference.infer_shapes(parsed(text, version))
    graph = from_onnx(proto)
    assert not [n.op for n in graph.nodes.values() if ":" in n.op]
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(["y"], feeds)
    got = graph.run(feeds)["y"]
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_extremes_of_nothing_are_the_limits_of_the_dtype():
    text = "g (T[2,0] x) => (lo, hi) { lo = ReduceMax <axes = [1]> (x) hi = ReduceMin <axes = [1]> (x) }"
    for name, dtype, low, high in (("float", np.float32, -np.inf, np.inf), ("int8", np.int8, -128, 127)):
        out = from_onnx(parsed(text.replace("T[", f"{name}["), 13)).run(x=np.empty((2, 0), dtype))
        assert out["lo"].tolist() == [[low], [low]] and out["hi"].tolist() == [[high], [high]]
        assert out["lo"].dtype == dtype


@pytest.mark.parametrize(
    "op, function", [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("Pow", np.power)]
)
@pytest.mark.parametrize("axis, shape", [(0, (2,)), (1, (3,)), (-3, (2, 3)), (1, (3, 4)), (None, (4,))])
def test_broadcasting_along_an_axis_before_version_7(op, function, axis, shape):
    at = "" if axis is None else f", axis = {axis}"
    dims = ",".join(map(str, shape))
    proto = parsed(f"g (float[2,3,4] x, float[{dims}] v) => (y) {{ y = {op} <broadcast = 1{at}> (x, v) }}", 6, 3)
    rng = np.random.default_rng(4)
    x, v = f(rng.uniform(1, 2, (2, 3, 4))), f(rng.uniform(1, 2, shape))
    first = 2 if axis is None else axis % 3
    wanted = function(x, v.reshape((1,) * first + shape + (1,) * (3 - first - len(shape))))
    graph = from_onnx(proto)
    assert not [n.op for n in graph.nodes.values() if ":" in n.op]
    np.testing.assert_allclose(graph.run(x=x, v=v)["y"], wanted, rtol=1e-6)


def test_ops_of_the_first_versions():
    text = """g (float[2] x, bool[2] p) => (y, q, z) {
        e = Exp <consumed_inputs = [0]> (x)
        y = Cast <to = "DOUBLE"> (e)
        q = Not (p)
        z = Clip <max = 2.0> (x)
    }"""
    out = from_onnx(parsed(text, 5, 3)).run(x=f([0, 3]), p=b([True, False]))
    np.testing.assert_allclose(out["y"], np.exp([0, 3]), rtol=1e-6)
    assert out["y"].dtype == np.float64 and out["q"].tolist() == [False, True] and out["z"].tolist() == [0, 2]


def sparse(values, positions, dims):
    helper = onnx.helper
    flat = np.asarray(positions)
    return helper.make_sparse_tensor(
        helper.make_tensor("w", 1, [len(values)], values),
        helper.make_tensor("at", 7, flat.shape, flat.reshape(-1).tolist()),
        dims,
    )


def with_sparse(tensor):
    proto = parsed("g (float[2,3] x) => (y) { y = Mul(x, w) }")
    proto.graph.sparse_initializer.append(tensor)
    return proto


@pytest.mark.parametrize("positions", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_initializers_and_constants_are_written_out(positions):
    tensor = sparse([2.0, 3.0], positions, [2, 3])
    assert from_onnx(with_sparse(tensor)).run(x=X)["y"].tolist() == [[0, -4, 0], [0, 0, -3]]
    node = onnx.helper.make_node("Constant", [], ["w"], sparse_value=tensor)
    proto = parsed("g (float[2,3] x) => (y) { y = Mul(x, w) }")
    proto.graph.node.insert(0, node)
    assert from_onnx(proto).run(x=X)["y"].tolist() == [[0, -4, 0], [0, 0, -3]]


@pytest.mark.parametrize(
    "positions, dims, slug",
    [
        ([1, 6], [2, 3], "bad-tensor"),
        ([-1, 2], [2, 3], "bad-tensor"),
        ([0, 1], [1 << 40, 1 << 20], "too-large"),
        ([0, 1], [-2, 3], "too-large"),
        ([[0, 0], [0, 3]], [2, 3], "bad-tensor"),
    ],
)
def test_sparse_tensors_that_lie_are_refused(positions, dims, slug):
    with pytest.raises(LoadError) as caught:
        from_onnx(with_sparse(sparse([2.0, 3.0], positions, dims)))
    assert caught.value.slug == slug


def test_sparse_tensors_grow_in_proportion_to_what_they_hold():
    """The limit applies to all tensors together: the model may grow by 16 MiB, and in proportion to its values."""
    large = with_sparse(sparse([2.0, 3.0], [0, 1], [3 << 20]))
    with pytest.raises(LoadError) as caught:
        for k in range(2):
            large.graph.sparse_initializer.append(sparse([1.0, 1.0], [0, 1], [3 << 20]))
            large.graph.sparse_initializer[-1].values.name = f"more{k}"
            large.graph.node.append(onnx.helper.make_node("Identity", [f"more{k}"], [f"out{k}"]))
        from_onnx(large)
    assert caught.value.slug == "too-large" and caught.value.fix
