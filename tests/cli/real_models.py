"""Models that other programs wrote, as files: TensorFlow's from the corpora, ONNX's from its own test suite."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.conformance import corpora


def graphdef(name: str, folder: Path) -> list[str]:
    """``MODEL --inputs FILE``: a GraphDef of the corpora with its recorded inputs, written into ``folder``."""
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    model, inputs = folder / "model.pb", folder / "inputs.npz"
    model.write_bytes(corpus.bytes(name))
    np.savez(inputs, **corpus.item(name).inputs)
    return [str(model), "--inputs", str(inputs)]


def onnx_case(kind: str, name: str, folder: Path) -> list[str]:
    """``MODEL`` and its inputs: a case of ONNX's own test suite, from its module ``kind``, written into ``folder``."""
    importlib.import_module(f"onnx.backend.test.case.node.{kind}")
    from onnx.backend.test.case import node

    (case,) = (c for c in node._NodeTestCases if c.name == name)
    model, inputs = folder / f"{name}.onnx", folder / f"{name}.npz"
    onnx.save(case.model, model)
    values: list[Any] = case.data_sets[0][0]
    np.savez(inputs, **{i.name: v for i, v in zip(case.model.graph.input, values, strict=True)})
    return [str(model), "--inputs", str(inputs)]


def light_model(name: str) -> str:
    """The file of a network that comes with the onnx package."""
    return str(Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx")
