"""Converts an exported PyTorch program to a graph, without PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.errors import GraphError, LoadError, WorkbenchError
from workbench.frontends.pytorch.lower import TorchLowering
from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.reading.archive import refused
from workbench.frontends.pytorch.reading.arguments import ValueName
from workbench.frontends.pytorch.reading.program import ExportedProgram, read_program
from workbench.frontends.pytorch.tensors import Tensor, new_tensor
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.collector import collector_paused
from workbench.ir.graph import Graph

#: kinds of inputs that are stored in the file
_STORED = ("parameter", "buffer", "tensor_constant")
_WRITTEN = {"buffer_mutation": "buffer", "parameter_mutation": "parameter", "user_input_mutation": "input"}


def from_exported(
    data: bytes, outputs: Sequence[str] | None = None, name: str = "program", trusted: bool = False
) -> Graph:
    """Read the bytes of a ``.pt2`` file. A ``trusted`` program may call ops of every loaded library.

    Raises
    ------
    LoadError
        ``bad-exported-program`` for a file that is damaged, of another schema, or with content other than plain tensors
        and calls of ops; ``no-such-output``.
    UnknownOpError
        Raised once, with every op that cannot be evaluated, and the lines.
    """
    with collector_paused():
        return _graph(read_program(data), outputs, name, trusted)


def _graph(program: ExportedProgram, wanted: Sequence[str] | None, name: str, trusted: bool) -> Graph:
    builder = GraphBuilder(name)
    lowering = TorchLowering(builder, trusted)
    given = list(_inputs(program, builder))
    made = lowering.graph(program.graph, given)
    drawn = lowering.finish()
    outputs, notes = _outputs(program, lowering, given, made)
    if wanted is not None:
        listed = [wanted] if isinstance(wanted, str) else list(wanted)
        for label in listed:
            if label not in outputs:
                raise LoadError(
                    f"The exported program has no output {label!r}; it has {', '.join(map(repr, outputs))}.",
                    slug="no-such-output",
                    fix="give one of these.",
                )
        outputs = {label: outputs[label] for label in listed}
    if not outputs:
        raise refused("it gives no tensor")
    try:
        return builder.build(outputs).with_notes(dict.fromkeys([*notes, *drawn]))
    except GraphError as error:
        raise LoadError(error.message, slug="bad-exported-program", fix=error.fix) from error


def _inputs(program: ExportedProgram, builder: GraphBuilder) -> Iterator[Any]:
    """The value of each input of the graph: a placeholder, a tensor of the file, or a plain value."""
    if len(program.inputs) != len(program.graph.inputs):
        raise refused(f"it describes {len(program.inputs)} of its {len(program.graph.inputs)} inputs")
    for argument, (kind, stored) in zip(program.graph.inputs, program.inputs, strict=True):
        if not isinstance(argument, ValueName):
            yield argument  # None, or a number that was fixed when the module was exported
        elif kind in _STORED:
            if stored is None or stored not in program.tensors:
                raise refused(f"it has no values for the {kind.replace('_', ' ')} {stored!r}")
            value = builder.constant(program.tensors[stored], name=stored)
            _check(argument, value, program)
            yield new_tensor(value, stored)
        elif kind in ("user_input", "constant_input"):
            meta = program.graph.types.get(argument.name)
            try:
                if meta is None:
                    dtype = {"sym_int": "int64", "sym_float": "float64", "sym_bool": "bool"}.get(argument.kind)
                    yield Number(builder.placeholder(argument.name, dtype, ()))
                else:
                    value = builder.placeholder(argument.name, meta.type.dtype, meta.type.shape)
                    yield new_tensor(value, argument.name)
            except WorkbenchError as error:
                raise refused(f"its input {argument.name[:80]!r} cannot be one: {error.message}") from error
        else:
            raise refused(f"it has an input of the kind {kind[:40]!r}, which is not read")


def _check(argument: ValueName, value: Value, program: ExportedProgram) -> None:
    meta = program.graph.types.get(argument.name)
    if meta is None or meta.type != value.type:
        raise refused(f"it says that {argument.name[:80]!r} is {meta and meta.type}, but holds {value.type}")


def _outputs(
    program: ExportedProgram, lowering: TorchLowering, given: Sequence[Any], made: Sequence[Any]
) -> tuple[dict[str, Value], list[str]]:
    """The results by their place in the module's return value, then the new values of buffers that the module writes
    to.
    """
    if len(program.outputs) != len(made):
        raise refused(f"it describes {len(program.outputs)} of its {len(made)} outputs")
    outputs: dict[str, Value] = {}
    written: dict[str, tuple[str, Value]] = {}
    paths = iter(result_paths(program.result) or ())
    count = sum(kind == "user_output" for kind, _ in program.outputs)
    number = 0
    for (kind, target), value in zip(program.outputs, made, strict=True):
        if kind in _WRITTEN:
            written[str(target)] = _WRITTEN[kind], lowering.tensor(value)
        elif kind in ("user_output", "loss_output"):
            path = next(paths, None) or (f"[{number}]" if count > 1 else "")
            number += 1
            if value is not None:
                outputs[f"result{path}"] = lowering.tensor(value)
        elif kind != "token":
            raise refused(f"it has an output of the kind {kind[:40]!r}, which is not read")
    for argument, (kind, stored), value in zip(program.graph.inputs, program.inputs, given, strict=True):
        if isinstance(value, Tensor) and value.base.version and isinstance(argument, ValueName):
            what = "input" if kind == "user_input" else kind.replace("_", " ")
            written.setdefault(stored or argument.name, (what, value.base.value))
    notes = [
        f"The module writes to its {what} {name!r}: the graph begins with the value in the file, and the new value is "
        f"its output {name!r}."
        if what != "input"
        else f"The module writes to its input {name!r}: the new value is the output {name!r}."
        for name, (what, _) in written.items()
    ]
    return outputs | {name: value for name, (_, value) in written.items()}, notes


def result_paths(tree: Any, path: str = "", depth: int = 0) -> list[str]:
    """The place of each result in a module's return value: ``[0]``, ``['loss']``; none if the tree is not known."""
    if not isinstance(tree, dict) or depth > 50:
        return []
    children = tree.get("children_spec")
    if not isinstance(children, list):
        return []
    if tree.get("type") is None:
        return [path]
    keys: list[str] = [f"[{k}]" for k in range(len(children))]
    if tree.get("type") in ("builtins.dict", "collections.OrderedDict"):
        import json

        try:
            keys = [f"[{k!r}]" for k in json.loads(str(tree.get("context")))]
        except (ValueError, TypeError):
            return []
    return [p for key, child in zip(keys, children, strict=False) for p in result_paths(child, path + key, depth + 1)]
