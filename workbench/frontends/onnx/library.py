"""The one place that imports the ``onnx`` library, which is optional."""

from __future__ import annotations

from typing import Any

from workbench.errors import LoadError
from workbench.libraries import install, needed


def onnx() -> Any:
    """The library; if it is not installed, LoadError with the extra that installs it."""
    fix = f"{install('onnx')}."
    return needed(
        "onnx", "Reading an ONNX model", fix, error=LoadError, slug="missing-extra", called="the onnx package"
    )
