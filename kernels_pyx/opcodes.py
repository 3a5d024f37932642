"""The executor's opcodes (executor/opcodes.def): ``opcodes.GUARD`` is a number, ``opcodes.OPCODES`` the table."""

from __future__ import annotations

from typing import NamedTuple

from workbench.kernels import machine


class Opcode(NamedTuple):
    """One kind of instruction; ``is_control``: it ends a straight run and counts the run's events."""

    name: str
    is_control: bool
    operands: str
    meaning: str


#: by number
OPCODES = tuple(Opcode(*row) for row in machine.opcodes())

globals().update({opcode.name: number for number, opcode in enumerate(OPCODES)})


def __getattr__(name: str) -> int:  # tells type checkers that the names above are numbers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
