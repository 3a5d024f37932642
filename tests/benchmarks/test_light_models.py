"""The table of ``light_models`` under ``make bench``: outputs and statistics must be right; no time fails the test."""

from __future__ import annotations

import pytest

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

from tests.benchmarks.light_models import MODELS, TITLE, measure

pytestmark = pytest.mark.bench


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", MODELS)
def test_light_model(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = measure(name, rounds=5)
    with capsys.disabled():
        print(f"\n{TITLE}\n{result.line()}")
    assert result.recorded > 10
