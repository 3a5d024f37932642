"""The libraries that can run a stretch of a model; each turns a ModelProto into a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import ExecutionError, WorkbenchError
from workbench.frontends.onnx.library import onnx
from workbench.libraries import install, needed

#: feeds by name -> the outputs in the order of the model
Runner = Callable[[Mapping[str, Any]], list[Any]]
#: a ModelProto -> its runner
Engine = Callable[[Any], Runner]


def engine(name: str) -> Engine:
    """The engine of this name; WorkbenchError (``unknown-framework``, ``missing-extra``)."""
    if name not in ENGINES:
        raise WorkbenchError(
            f"There is no framework {name!r} to run a model with.",
            slug="unknown-framework",
            fix=f"name one of {', '.join(map(repr, ENGINES))}.",
        )
    return ENGINES[name]()


def _onnxruntime() -> Engine:
    fix = f'{install("onnx")}, or use "reference".'
    library = needed("onnxruntime", "Running a model with onnxruntime", fix, slug="missing-extra")

    def compiled(model: Any) -> Runner:
        options = library.SessionOptions()
        options.log_severity_level = 4
        try:
            session = library.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions have no common base class
            raise _failed("onnxruntime does not take", model, error) from error

        def run(feeds: Mapping[str, Any]) -> list[Any]:
            try:
                return list(session.run(None, dict(feeds)))
            except Exception as error:
                raise _failed("onnxruntime failed on", model, error) from error

        return run

    return compiled


def _reference() -> Engine:
    onnx()
    from onnx.reference import ReferenceEvaluator

    def compiled(model: Any) -> Runner:
        try:
            evaluator = ReferenceEvaluator(model)
        except Exception as error:  # it raises many kinds of exceptions
            raise _failed("the reference evaluator does not take", model, error) from error

        def run(feeds: Mapping[str, Any]) -> list[Any]:
            try:
                return list(evaluator.run(None, dict(feeds)))
            except Exception as error:
                raise _failed("the reference evaluator failed on", model, error) from error

        return run

    return compiled


def _failed(what: str, model: Any, error: Exception) -> ExecutionError:
    nodes = list(dict.fromkeys(f"{n.op_type} {n.name or next(iter(n.output), '')!r}" for n in model.graph.node))
    shown = ", ".join(nodes[:4]) + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")
    return ExecutionError(
        f"{what[:1].upper()}{what[1:]} {shown or 'the model'}: {' '.join(str(error).split())}",
        slug="framework-failed",
        fix="check the model with onnx.checker, or run it with another framework.",
    )


#: name -> function that returns the engine, if its library is installed
ENGINES: dict[str, Callable[[], Engine]] = {"onnxruntime": _onnxruntime, "reference": _reference}
