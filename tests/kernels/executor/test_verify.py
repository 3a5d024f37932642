"""Listing and checks of programs: a small loop, and the same loop broken in every way that the checks are for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.plan.random_graphs import Maker
from workbench.execution import prepare_feeds
from workbench.ir.types import TensorType
from workbench.kernels import machine
from workbench.kernels.opcodes import ARRAY, BACK, CALL, GUARD, HALT, KERNEL, LOOP, MARK, MOVE, NOP, START, TEST, UFUNC
from workbench.plan import make_plan, signature_of

LESS, ADD = "less_int64_int64_bool", "add_int64_int64_int64"
#: the kernels' addresses are never called: these programs do not run
LESS_5 = {"op": KERNEL, "kernel": 1, "scalar_op": LESS}
ADD_1 = {"op": KERNEL, "kernel": 1, "scalar_op": ADD}
MOVE_8 = {"op": KERNEL, "kernel": machine.move_kernel(8), "scalar_op": "move_8"}


def loop() -> dict[str, Any]:
    """``while i < 5: i = i + 1`` behind a guard: the arguments of a Program.

    Frame 0 has the start value at 0, the flag of the guard at 8, the result at 16 and an object at 24; a row of frame 1
    has i at 0 and the condition at 8.
    """
    code = [
        {"op": NOP, "event": True},
        {"op": GUARD, "x0": 0, "x1": 1, "jump": 15},
        {"op": LOOP, "frame": 1},
        {**MOVE_8, "frame": 1, "a": (1, 0), "out": (2, 0)},
        {"op": START, "frame": 1},
        {"op": NOP, "frame": 1, "event": True},
        {"op": MARK, "frame": 1},
        {
            "op": KERNEL,
            "kernel": 1,
            "scalar_op": LESS,
            "frame": 1,
            "a": (2, -16),
            "b": (0, 0),
            "out": (2, 8),
            "event": True,
        },
        {"op": TEST, "frame": 1, "a": (2, 8), "jump": 11},
        {
            "op": KERNEL,
            "kernel": 1,
            "scalar_op": ADD,
            "frame": 1,
            "a": (2, -16),
            "b": (0, 8),
            "out": (2, 0),
            "event": True,
        },
        {"op": BACK, "frame": 1, "jump": 7},
        {**MOVE_8, "frame": 1, "a": (2, -16), "out": (1, 16), "event": True},
        {"op": MARK},
        {"op": CALL, "x0": 0, "event": True},
        {"op": MARK},
        {"op": HALT},
    ]
    return {
        "instructions": code,
        "literals": [(1, 8, 1)],
        "frames": [(40, -1, 1, [24]), (16, 0, 0, [])],
        "pool": np.array([5, 1]).tobytes(),
        "pool_objects": {},
        "calls": [(max, [(1, 0, np.dtype("int64"), ())], [(1, 24, None, ())], 0, None, None)],
        "releases": [(14, 24)],
    }


def test_a_listing_has_one_line_for_each_instruction():
    assert machine.Program(**loop()).listing().splitlines() == [
        "    0* NOP",
        "    1  GUARD   row+8 is true, else -> 15",
        "    2  LOOP    frame 1",
        "    3  KERNEL  row+0 = move_8(frame0.row+0)",
        "    4  START   frame 1",
        "    5* NOP",
        "    6  MARK",
        f"    7* KERNEL  row+8 = {LESS}(row[-1]+0, pool+0)",
        "    8  TEST    row+8 -> 11",
        f"    9* KERNEL  row+0 = {ADD}(row[-1]+0, pool+8)",
        "   10  BACK    frame 1 -> 7",
        "   11* KERNEL  frame0.row+16 = move_8(row[-1]+0)",
        "   12  MARK",
        "   13* CALL    row+24 = max(row+0)",
        "   14  MARK",
        "   15  HALT",
    ]


def test_the_listing_names_arrays_and_constants():
    array = {"kind": "flat", "fn": 1, "n": 2, "stride": (8, 8, 0, 8)}
    row = {"op": ARRAY, "array": array, "a": (2, 0), "b": (5, 0), "out": (3, 16)}
    made = machine.Program([row, {"op": HALT}], [], [(8, -1, 1, [])], b"", {}, [], [(0, 64, [], [])], [np.zeros(2)])
    assert made.listing().splitlines()[0] == "    0  ARRAY   arrays[-1]+16 = flat(arrays+0, const0+0)"
    made.verify()


def test_arrays_that_rows_do_not_hold_begin_behind_what_they_record():
    array = {"kind": "flat", "fn": 1, "n": 2, "stride": (8, 8, 0, 8)}
    store = (0, 128, [], [], 64, [(64, 16, (0,))], (-1, 2))

    def program(offset: int) -> machine.Program:
        row = {"op": ARRAY, "array": array, "a": (2, 0), "out": (4, offset)}
        return machine.Program([row, {"op": HALT}], [], [(8, -1, 1, [])], b"", {}, [], [store])

    assert program(64).listing().splitlines()[0] == "    0  ARRAY   arrays[again]+64 = flat(arrays+0)"
    program(64).verify()
    with pytest.raises(machine.ProgramError, match="expected 64 to 127"):
        program(16).verify()


def test_a_sound_program_passes():
    machine.Program(**loop()).verify()


def changed(ip: int, **fields: Any) -> Any:
    """The change of one instruction; None takes a field away."""

    def change(program: dict[str, Any]) -> None:
        row = {**program["instructions"][ip], **fields}
        program["instructions"][ip] = {k: v for k, v in row.items() if v is not None}

    return change


def part(name: str, value: Any) -> Any:
    """The change of another argument of the program."""
    return lambda program: program.update({name: value})


def without(ip: int) -> Any:
    return lambda program: program["instructions"].pop(ip)


BROKEN = {
    "base beyond the program": (changed(3, a=(3, 0)), "instruction 3 (KERNEL): a has base 3"),
    "negative base": (changed(3, a=(-1, 0)), "a has base -1"),
    "base of the result": (changed(9, out=(7, 0)), "out has base 7"),
    "byte behind the row": (changed(3, a=(1, 40)), "a is at byte 40 of base 1"),
    "byte before the row before": (changed(7, a=(2, -24)), "a is at byte -24 of base 2"),
    "row before the outermost row": (changed(3, a=(1, -40)), "a is at byte -40 of base 1"),
    "byte behind the pool": (changed(7, b=(0, 16)), "b is at byte 16 of base 0"),
    "result in the pool": (changed(9, out=(0, 0)), "out is a constant"),
    "kernel without code": (changed(9, kernel=0), "expected a compiled function"),
    "kernel without result": (changed(9, out=None), "expected a compiled function"),
    "loop of NumPy with 4 inputs": (changed(9, op=UFUNC, x0=4), "expected 0 to 3 inputs, got 4"),
    "array without description": (changed(9, op=ARRAY), "expected a description"),
    "test without operand": (changed(8, a=None), "an operand is missing"),
    "move without operand": (changed(0, op=MOVE, out=(1, 24)), "an operand is missing"),
    "move into numbers": (changed(0, op=MOVE, a=(1, 24), out=(1, 16)), "holds no object reference"),
    "move from numbers": (changed(0, op=MOVE, a=(1, 0), out=(1, 24)), "holds no object reference"),
    "jump behind the end": (changed(1, jump=16), "jumps to 16, expected 2 to 15"),
    "negative jump": (changed(1, jump=-1), "jumps to -1"),
    "guard jumps back": (changed(1, jump=0), "jumps to 0"),
    "test jumps back": (changed(8, jump=7), "jumps to 7, expected 9"),
    "back jumps forward": (changed(10, jump=11), "jumps to 11, expected 5 to 10"),
    "back jumps out of its loop": (changed(10, jump=1), "jumps to 1, expected 5 to 10"),
    "jump into a straight run": (changed(1, jump=14), "behind 1 events of a straight run"),
    "back jump into a straight run": (changed(10, jump=8), "behind 1 events of a straight run"),
    "control flow as event": (changed(6, event=True), "is an event"),
    "guard without literals": (changed(1, x1=0), "expected literals"),
    "literals beyond the list": (changed(1, x1=2), "expected literals from 0 to 0, got 0 to 1"),
    "literal of an unknown base": (part("literals", [(9, 8, 1)]), "literal 0 has base 9"),
    "literal with unknown meaning": (part("literals", [(1, 8, 4)]), "literal 0 expects 4"),
    "unknown call": (changed(13, x0=1), "expected a call from 0 to 0, got 1"),
    "input of a call": (part("calls", [(max, [(5, 0, None, ())], [], 0, None, None)]), "input 0 has base 5"),
    "object of a call": (part("calls", [(max, [], [(1, 0, None, ())], 0, None, None)]), "holds no object reference"),
    "frame beyond the program": (changed(0, frame=2), "expected a frame from 0 to 1, got 2"),
    "negative frame": (changed(0, frame=-1), "expected a frame from 0 to 1, got -1"),
    "instruction of another frame": (changed(9, frame=0), "runs in frame 0, expected frame 1"),
    "frame that has not started": (changed(0, frame=1), "runs in frame 1, expected frame 0"),
    "frame that starts twice": (changed(4, op=LOOP), "or a second time"),
    "second START": (changed(6, op=START), "starts a second time"),
    "no START": (changed(4, op=MARK), "goes back before its START"),
    "second BACK": (changed(12, op=BACK, frame=1, jump=7), "or a second time"),
    "frame inside of itself": (part("frames", [(40, -1, 1, [24]), (16, 1, 0, [])]), "frame 1 has parent 1"),
    "HALT in the middle": (changed(12, op=HALT), "only the last instruction"),
    "no HALT": (without(15), "expected HALT at the end"),
    "release of a number": (part("releases", [(14, 16)]), "release 0: byte 16"),
    "releases out of order": (part("releases", [(14, 24), (13, 24)]), "release 1 is out of order"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_program_is_refused(case: str):
    change, text = BROKEN[case]
    arguments = loop()
    change(arguments)
    with pytest.raises(machine.ProgramError, match=re.escape(text)):
        machine.Program(**arguments).verify()


def test_an_unknown_opcode_is_refused_at_once():
    with pytest.raises(ValueError, match="expected an opcode from 0 to 13, got 14"):
        machine.Program([{"op": 14}], [], [(8, -1, 1, [])], b"", {}, [])


@pytest.mark.parametrize("seed", range(20))
def test_the_program_of_a_random_graph_passes_and_is_listed(seed: int):
    graph, feeds = Maker(seed).make()
    types = {n: TensorType.of(a) for n, a in prepare_feeds(graph, feeds).items()}
    program = make_plan(graph, graph.outputs, signature_of(graph, types)).program
    program.verify()
    lines = program.listing().splitlines()
    assert len(lines) == program.length and lines[-1].endswith("HALT")
