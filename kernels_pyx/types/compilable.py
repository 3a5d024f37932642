"""Decides whether an instance (op, input dtypes, output dtype) can be compiled at all, in a build with all its types.

Standard library only.
"""

from __future__ import annotations

from workbench.kernels.types.dtypes import TYPES, DType, float_of, sum_of
from workbench.kernels.types.ops import OPS, Op, defined
from workbench.kernels.types.rules import decide


def why_not(op: str, inputs: tuple[str, ...], output: str) -> str | None:
    """Why no build compiles this instance, as a sentence; None if profiles with its types do."""
    row = OPS[op]
    if len(inputs) != row.inputs:
        return f"{op} takes {row.inputs} inputs, got {len(inputs)}."
    decision = decide(row.family, inputs, output)
    if not decision.accepted:
        return decision.sentence
    if not row.mixed and len(set(_operands(row, inputs))) > 1:
        return f"{op} is compiled for operands of one type only; cast one of them first."
    if not defined(op, inputs, output):
        return f"{op} is not defined for {', '.join(inputs)} with a result in {output}."
    if not _own_result(row, inputs, output):
        return f"{op} of {', '.join(inputs)} has no result in {output}."
    return None


def _operands(op: Op, inputs: tuple[str, ...]) -> tuple[str, ...]:
    if op.family == "select":
        return inputs[1:]
    return inputs[:1] if op.family == "indexing" else inputs


def _own_result(op: Op, inputs: tuple[str, ...], output: str) -> bool:
    """Return whether the output is one of the op's own: its family admits more, for the sake of other ops."""
    first, out = TYPES[_operands(op, inputs)[0]], TYPES[output]
    if op.result == "any":
        return True
    if op.result == "bool":
        return out.kind == "b"
    if op.result == "count":
        return out.name == "uint8"
    if op.result == "real" and first.kind == "c":
        return out.kind == "f"
    if op.result == "float":
        return out.inexact and (out == float_of(first))
    if op.result == "sum":
        return _adds_up(first, out)
    if op.result == "mean":
        return out.inexact
    return out == first


def _adds_up(first: DType, out: DType) -> bool:
    """Sums keep their kind, in the same or a wider type; bools count."""
    if first.kind == "b":
        return out == sum_of(first)
    return out.kind == first.kind and out.size >= first.size
