"""Every op of the standard in every version loads and runs, with the results of onnxruntime or ONNX's reference."""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from tests.frontends.standard import model_of
from workbench.frontends import from_onnx

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

PAIRS = defaultdict(list)
for _schema in onnx.defs.get_all_schemas_with_history():
    PAIRS[_schema.domain, _schema.name].append(_schema)
#: pairs that are not ops any more: the standard removes them at that version
ENDED = {
    ("TreeEnsembleClassifier", 5),
    ("TreeEnsembleRegressor", 5),
    ("GroupNormalization", 18),
    ("Upsample", 10),
    ("Scatter", 11),
}
#: random draws agree in dtype and shape
DRAWS = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli")
#: versions missing in onnxruntime and in the reference evaluator: they run as another version
ONLY_HERE = {
    ("BatchNormalization", 1),
    ("Cast", 1),
    ("Clip", 1),
    ("Dropout", 1),
    ("Dropout", 6),
    ("Gemm", 1),
    ("GlobalLpPool", 1),
    ("GlobalLpPool", 22),
    ("InstanceNormalization", 1),
    ("MaxRoiPool", 22),
    ("Multinomial", 22),
    ("RNN", 1),
    ("Split", 1),
    ("Tile", 1),
    ("Upsample", 1),
}


def expected(model: onnx.ModelProto, feeds: dict) -> list | None:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception:  # an op or a type without a kernel: its exceptions have no common base class
        try:
            return list(ReferenceEvaluator(model).run(None, feeds))
        except Exception:
            return None


def agree(wanted, got, exactly: bool) -> None:
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], np.ndarray):
        items = list(got) if not isinstance(got, np.ndarray) else [got]
        assert len(items) == len(wanted)
        for one, other in zip(wanted, items, strict=True):
            agree(one, other, exactly)
        return
    if not isinstance(wanted, np.ndarray | np.generic):
        assert got is not None and (not isinstance(wanted, list) or list(got) == wanted)
        return
    assert got.shape == wanted.shape
    if got.dtype == object:
        assert (got == wanted.astype(object)).all()
        return
    assert got.dtype == wanted.dtype
    if exactly:
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("domain, op", sorted(k for k in PAIRS if k[1] != "Gradient"))  # see test_onnx_gradient
def test_all_versions_of_an_op(domain, op):
    for schema in PAIRS[domain, op]:
        if schema.deprecated:
            assert (op, schema.since_version) in ENDED
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reference evaluator divides by zero
            model, feeds = model_of(schema)
            found = list(from_onnx(model).run(feeds).values())
            wanted = expected(model, feeds)
        assert found
        if wanted is None:
            assert (op, schema.since_version) in ONLY_HERE
            continue
        for one, other in zip(wanted, found, strict=True):
            if op == "Adam":  # the standard's results are of the inputs' dtype, those of its evaluator are float64
                one = one.astype(np.float32)
            agree(one, other, op not in DRAWS)


def test_versions_that_only_run_here_give_what_the_standard_says():
    def run(op: str, version: int):
        schema = next(s for s in PAIRS["", op] if s.since_version == version)
        model, feeds = model_of(schema)
        return next(iter(from_onnx(model).run(feeds).values())), feeds

    for op, old, new in (
        ("BatchNormalization", 1, 6),
        ("InstanceNormalization", 1, 6),
        ("RNN", 1, 7),
        ("Clip", 1, 6),
        ("GlobalLpPool", 1, 2),
        ("GlobalLpPool", 22, 2),
        ("MaxRoiPool", 22, 1),
        ("Gemm", 1, 6),
        ("Upsample", 1, 7),
        ("Split", 1, 2),
        ("Cast", 1, 6),
    ):
        np.testing.assert_array_equal(run(op, old)[0], run(op, new)[0])
    for version in (1, 6):
        found, feeds = run("Dropout", version)
        np.testing.assert_array_equal(found, feeds["x"])
    found, feeds = run("Tile", 1)
    np.testing.assert_array_equal(found, np.tile(feeds["x"], (1, 2)))


def test_dropout_of_old_versions_trains_by_default():
    schema = next(s for s in PAIRS["", "Dropout"] if s.since_version == 6)
    model, _ = model_of(schema)
    del model.graph.node[0].attribute[:]
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1000
    found = from_onnx(model).run({"x": np.ones((1000, 3), np.float32)})["out0"]
    assert set(np.unique(found)) == {0.0, 2.0} and 0.4 < (found == 0).mean() < 0.6
