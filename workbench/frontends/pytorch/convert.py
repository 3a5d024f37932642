"""An exported program becomes a graph: PyTorch exports it to ONNX, and the ONNX reader does the rest."""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import warnings
from collections.abc import Sequence
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.formats import TORCH_EXPORT
from workbench.frontends.onnx import from_onnx
from workbench.frontends.pytorch.archive import check
from workbench.ir.graph import Graph


def from_exported(data: bytes, outputs: Sequence[str] | None) -> Graph:
    """Read the bytes of a ``.pt2`` file.

    Raises
    ------
    LoadError
        Slugs ``unsupported-format`` where PyTorch or onnxscript is not installed, ``bad-exported-program``, or one of
        the ONNX reader's.
    """
    torch = _library("torch")
    _library("onnxscript")
    check(data, torch)
    try:
        with _quiet():
            program = torch.export.load(io.BytesIO(data))
            model = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
    except Exception as error:  # PyTorch raises almost anything over a program that it cannot export
        first = str(error).strip().partition("\n")[0][:300]
        raise LoadError(
            f"PyTorch {torch.__version__} cannot export the program to ONNX: {type(error).__name__}: {first}",
            slug="bad-exported-program",
            fix="export the model with the PyTorch that is installed here: torch.export.save(program, 'model.pt2').",
        ) from error
    return from_onnx(model, outputs=outputs)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LoadError(
            f"The file is {TORCH_EXPORT.name}. It is read through {name}, which is not installed.",
            slug="unsupported-format",
            fix=TORCH_EXPORT.fix,
        ) from error


@contextlib.contextmanager
def _quiet() -> Any:
    """Without the progress that PyTorch prints, and its warnings of what it will change."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
