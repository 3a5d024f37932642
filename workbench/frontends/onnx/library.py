"""The one place that imports the ``onnx`` library, which is optional."""

from __future__ import annotations

from types import ModuleType

from workbench.errors import LoadError


def onnx() -> ModuleType:
    """The library; LoadError naming the extra that brings it when it is not installed."""
    try:
        import onnx as library
    except ImportError as error:
        raise LoadError(
            "Reading an ONNX model needs the onnx package, which is not installed.",
            slug="missing-extra",
            fix="pip install 'workbench[onnx]'.",
        ) from error
    return library
