"""Scalar ops of the executor's table by their names, and their code."""

from __future__ import annotations

from workbench.plan.native.checked_ops import CHECKED, CHECKED_INPUTS
from workbench.plan.native.code import TYPES, Code
from workbench.plan.native.plain_ops import PLAINLY, ScalarOp


def parse(name: str) -> ScalarOp | None:
    """The op for a name of the executor's table; None for functions that are called by address."""
    checked = name.startswith("checked_")
    parts = name.removeprefix("checked_").split("_")
    if name.startswith("move_"):
        dtype = {"move_1": "bool", "move_4": "int32", "move_8": "int64"}.get(name)
        return ScalarOp("move", (dtype,), dtype, False) if dtype else None
    at = next((k for k, part in enumerate(parts) if part in TYPES), None)
    if at is None:
        return None
    found = ScalarOp("_".join(parts[:at]), tuple(parts[at:-1]), parts[-1], checked)
    known = (CHECKED if checked else PLAINLY).get(found.op)
    return found if known is not None and (not checked or found.inputs in CHECKED_INPUTS[found.op]) else None


def emit(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str | None]:
    """(value, an i1 that is true if Python must compute it, or None); ``constant``: the second operand, if known."""
    if op.op == "move":
        return operands[0], None
    if op.checked:
        return CHECKED[op.op](code, op, operands, constant)
    return PLAINLY[op.op](code, op, operands, constant), None
