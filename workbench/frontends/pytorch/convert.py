"""An exported program becomes a graph: PyTorch exports it to ONNX, and the ONNX reader does the rest."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.formats import TORCH_EXPORT
from workbench.frontends.onnx import from_onnx
from workbench.frontends.pytorch.archive import rewritten
from workbench.ir.graph import Graph
from workbench.libraries import needed


def from_exported(data: bytes, outputs: Sequence[str] | None) -> Graph:
    """Read the bytes of a ``.pt2`` file.

    Raises
    ------
    LoadError
        Slugs ``unsupported-format`` where PyTorch or onnxscript is not installed, ``bad-exported-program`` for a file
        that is refused or that PyTorch cannot read, ``no-onnx-export`` for a program that PyTorch reads and its
        exporter to ONNX does not take, or one of the ONNX reader's.
    """
    torch = _library("torch")
    onnxscript = _library("onnxscript")
    archive = rewritten(data, torch)
    with _quiet():
        try:
            program = torch.export.load(archive)
        except Exception as error:  # PyTorch raises almost anything over a file that it cannot read
            raise LoadError(
                f"PyTorch {torch.__version__} cannot read the exported program: {_innermost(error)}",
                slug="bad-exported-program",
                fix="export the model with this PyTorch: torch.export.save(program, 'model.pt2').",
            ) from error
        try:
            made = torch.onnx.export(program, dynamo=True, verbose=False)
            model = made.model_proto
        except Exception as error:  # and over a program that its exporter does not take
            raise LoadError(
                f"The exported program is good, but the exporter of PyTorch {torch.__version__} (with onnxscript "
                f"{onnxscript.__version__}), through which it is read, cannot turn it into ONNX: {_innermost(error)}",
                slug="no-onnx-export",
                fix="torch.onnx.export(program, dynamo=True) fails in the same way: use a newer PyTorch, or write the "
                "program without the operation that is named.",
            ) from error
    graph = from_onnx(model, outputs=outputs)
    notes = tuple(_notes_on_buffers(made.exported_program))
    return (
        Graph.from_nodes(
            graph.name,
            graph.nodes.values(),
            inputs=graph.inputs,
            outputs=graph.outputs,
            names=graph.names,
            notes=(*graph.notes, *notes),
        )
        if notes
        else graph
    )


def _notes_on_buffers(program: Any) -> Iterator[str]:
    """Notes on new values of state, which ONNX leaves out."""
    changed = sorted(set(program.graph_signature.buffers_to_mutate.values()))
    if changed:
        yield (
            f"The module writes to its buffers {', '.join(map(repr, changed))}: the graph reads them as they are in "
            "the file, and their new values are not outputs of it."
        )
    inputs = sorted(set(program.graph_signature.user_inputs_to_mutate.values()))
    if inputs:
        yield f"The module writes to its inputs {', '.join(map(repr, inputs))}: the new values are not outputs."


def _innermost(error: BaseException) -> str:
    """The first cause of an error in one line: exporters wrap it in advice of several pages."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = str(error).strip()
    return f"{type(error).__name__}: {text.partition(chr(10))[0][:300]}" if text else type(error).__name__


def _library(name: str) -> Any:
    purpose, fix = f"The file is {TORCH_EXPORT.name}. Reading it", TORCH_EXPORT.fix
    return needed(name, purpose, fix, error=LoadError, slug="unsupported-format")


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
