"""Scalar ops with Python's checks, each way an operand can reach them: Python's result, or Python is called."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest

from tests.kernels.executor.test_scalar_ops import NEUTRAL, address, split
from workbench.kernels import machine
from workbench.kernels.opcodes import CALL, HALT, KERNEL

PARTS = ("checked_item_1", "checked_item_2", "checked_put_1")  # of arrays; tests/session/test_checked.py has them
OPS = [name for name in machine.scalar_ops() if name.startswith("checked_") and name not in PARTS]
PYTHON = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "divide": operator.truediv,
    "negative": operator.neg,
    "abs": abs,
    "cast": int,
    "power": operator.pow,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    **{
        f: getattr(math, f)
        for f in ("sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "atan", "tanh")
    },
}
INTS = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    -10,
    62,
    63,
    64,
    2**31,
    -(2**31) - 1,
    3037000500,
    -3037000500,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**62,
    -(2**62),
    2**63 - 1,
    -(2**63),
    -(2**63) + 1,
]
FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    2.0,
    3.0,
    -3.0,
    0.1,
    0.3,
    -7.5,
    1e-300,
    5e-324,
    1e300,
    -1e308,
    2.0**53,
    2.0**63,
    -(2.0**63),
    9.3e18,
    710.0,
    -745.5,
    math.pi,
    math.inf,
    -math.inf,
    math.nan,
]
EDGES = {"int64": INTS, "float64": FLOATS}


class Left(Exception):
    """Compiled code has left the case to Python."""


def program(name, call):
    """One instruction for each way, on the values in the row; returns the offsets of the results and which is which."""
    op, inputs, output = split(name.removeprefix("checked_"))
    code, calls, results, free = [], [], [], 8 * len(inputs)
    pool = b"".join(np.array(NEUTRAL[t][1], t).tobytes() for t in inputs) + bytes(16)
    for ways in itertools.product("rfa", repeat=len(inputs)):
        operands = {}
        if ways == ("a", "a") and len(set(inputs)) > 1:
            continue  # one register cannot hold operands of two types
        if "a" in ways:
            k = ways.index("a")
            neutral = NEUTRAL[inputs[k]][0]
            code.append(
                {
                    "op": KERNEL,
                    "kernel": address(neutral, (inputs[k],) * 2, inputs[k]),
                    "scalar_op": f"{neutral}_{inputs[k]}_{inputs[k]}_{inputs[k]}",
                    "a": (1, 8 * k),
                    "b": (0, 8 * k),
                    "out": (1, free),
                }
            )
            held, free = (1, free), free + 8
        for k, way in enumerate(ways):
            operands["ab"[k]] = held if way == "a" else (1, 8 * k) if way == "r" else (0, 8 * (k + len(inputs)))
        ins = [(*operands[letter], np.dtype(t), ()) for letter, t in zip("ab", inputs, strict=False)]
        calls.append((call, ins, [(1, free, np.dtype(output), ())], 0, None, None))
        code.append({"op": CALL, "x0": len(calls) - 1, "scalar_op": name, "out": (1, free), **operands})
        results.append((free, ways))
        free += 8
    code.append({"op": HALT})
    return code, calls, results, free, pool


def run(name, values, call):
    """The status of the machine and the results by way; ways with the register for both mean the first value twice."""
    op, inputs, output = split(name.removeprefix("checked_"))
    code, calls, results, free, pool = program(name, call)
    constants = b"".join(np.array(v, t).tobytes() for v, t in zip(values, inputs, strict=True))
    pool = pool[: 8 * len(inputs)] + constants
    it = machine.Machine(machine.Program(code, [], [(free, -1, 1, [])], pool, {}, calls))
    for k, value in enumerate(values):
        machine.put(it, 1, 8 * k, np.dtype(inputs[k]), (), np.array(value, inputs[k])[()])
    status = it.run()
    return status, {w: machine.View(it).column(0, o, np.dtype(output), 0, 1)[1][0] for o, w in results}, it


def python(op, values, output):
    """Python's result as an item of the row; None where it fails or does not fit."""
    try:
        result = PYTHON[op](*values)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(result, complex) or (output == "int64" and not (type(result) is int and -(2**63) <= result < 2**63)):
        return None
    return np.array(result, output)[()]


@pytest.mark.parametrize("name", OPS)
def test_every_way_gives_pythons_result(name):
    op, inputs, output = split(name.removeprefix("checked_"))
    grid = [
        v
        for v in itertools.product(*(EDGES[t] for t in inputs))
        if not (op in ("power", "left_shift") and isinstance(v[0], int) and abs(v[1]) > 10**4)
    ]
    kept = 0

    def left(arrays):
        raise Left

    for values in grid:
        same = (values[0],) * len(values) if len(set(inputs)) == 1 else None
        wanted = python(op, values, output)
        if same is not None and op in ("power", "left_shift") and isinstance(same[0], int) and abs(same[0]) > 10**4:
            continue
        twice = wanted if same is None else python(op, same, output)
        status, found, it = run(name, values, left)
        if status == "failed":
            assert isinstance(it.error, Left)
            continue
        kept += 1
        assert wanted is not None and twice is not None, (values, found)
        for ways, got in found.items():
            expected = twice if ways.count("a") == 2 else wanted
            both_nan = got != got and expected != expected
            assert both_nan or got.tobytes() == expected.tobytes(), (values, ways, got, expected)
    assert kept >= len(grid) // 16  # enough cases need no Python


def test_what_python_computes_goes_on():
    """The callable's result is stored where compiled code refuses, and the run continues."""
    seen = []

    def call(arrays):
        seen.append(tuple(a.item() for a in arrays))
        return [np.array(4.5)]

    status, found, _ = run("checked_divide_int64_int64_float64", [2**60 + 1, 3], call)
    assert status == "halt" and set(found.values()) == {np.float64(4.5)}
    assert seen == [(2**60 + 1, 2**60 + 1) if "".join(w) == "aa" else (2**60 + 1, 3) for w in found]


def test_the_table_has_what_loops_on_ints_use():
    wanted = ("add", "subtract", "multiply", "floor_divide", "remainder")
    assert {f"checked_{op}_int64_int64_int64" for op in wanted} <= set(OPS)
    assert set(PARTS) <= set(machine.scalar_ops())
