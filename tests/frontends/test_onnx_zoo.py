"""Whole models as onnxruntime's quantiser, float16 converter and offline optimiser write them: each loads and runs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra onnx is not installed")
ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
from tests.frontends.onnx_zoo import BASES, feeds_of, halved, optimised, quantised  # noqa: E402
from workbench.frontends import from_onnx  # noqa: E402


def check(label, model):
    """Equal to onnxruntime without rewritings, up to rounding in nodes that it computes differently: float16 nodes in
    float32, which may change a quantised value by one step.
    """
    feeds, options = feeds_of(model), ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found, half = from_onnx(model).run(feeds), any(i.data_type == 10 for i in model.graph.initializer)
    for output, wanted in zip(model.graph.output, session.run(None, feeds), strict=True):
        got = found[output.name]
        assert got.dtype == wanted.dtype, label
        atol = 4e-3 if half else 1e-3 if "16" in label else 1e-5
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=atol, err_msg=label)


@pytest.mark.parametrize("name", BASES)
def test_optimised_models(name, tmp_path):
    for level, model in optimised(BASES[name](17), tmp_path):
        check(level, model)


@pytest.mark.parametrize("name", BASES)
def test_half_models(name):
    for label, model in halved(name):
        check(label, model)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["convnet", "mlp", "lstm"])
def test_quantised_models_and_what_the_optimiser_makes_of_them(name, tmp_path):
    for label, model in quantised(name, tmp_path):
        check(label, model)
        if label in ("dynamic-i8", "QDQ-17-QUInt8-QInt8", "QDQ-17-QUInt8-QInt8-channel", "QOperator-17-QUInt8-QUInt8"):
            for level, rewritten in optimised(model, tmp_path):
                check(f"{label} {level}", rewritten)
