"""A net of torch as an ONNX file, by either of torch's exporters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.models.bases.nets import net
from tests.models.recipe import Made


def export(
    module: Any, inputs: tuple[Any, ...], file: Path, *, dynamo: bool, opset: int | None = None, **options: Any
) -> Made:
    """Write ``file``; the inputs that were traced are those that are run."""
    names = [f"in{i}" for i in range(len(inputs))]
    with torch.no_grad():
        torch.onnx.export(
            module,
            inputs,
            str(file),
            input_names=names,
            dynamo=dynamo,
            external_data=False,
            opset_version=opset or (18 if dynamo else 17),
            **options,
        )
    arrays = [value.numpy() if torch.is_tensor(value) else np.asarray(value) for value in inputs]
    feeds = dict(zip(names, arrays, strict=True))
    return Made(file.name, feeds)


def export_net(name: str, folder: Path, *, dynamo: bool = False, file: str = "model.onnx", opset: int | None = None):
    """Write one of :mod:`tests.models.bases.nets`."""
    return export(*net(name), folder / file, dynamo=dynamo, opset=opset)
