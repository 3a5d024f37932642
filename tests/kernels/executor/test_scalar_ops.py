"""The ops of the fast path, each way an operand can reach it, against NumPy bit for bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.kernels.executor.test_machine import edges
from tests.kernels.reference.typed import function
from workbench.kernels import machine, typed
from workbench.kernels.opcodes import HALT, KERNEL

OPS = [name for name in machine.scalar_ops() if not name.startswith(("move_", "checked_"))]
DTYPES = ("float32", "float64", "int32", "int64", "bool")
#: what leaves a value unchanged in a register: x op neutral
NEUTRAL = {
    "float32": ("multiply", 1),
    "float64": ("multiply", 1),
    "int32": ("add", 0),
    "int64": ("add", 0),
    "bool": ("logical_or", False),
}


def split(name: str) -> tuple[str, tuple[str, ...], str]:
    parts = name.split("_")
    at = next(k for k, part in enumerate(parts) if part in DTYPES)
    return "_".join(parts[:at]), tuple(parts[at:-1]), parts[-1]


def address(op: str, inputs: tuple[str, ...], output: str) -> int:
    found = typed.kernel(op, inputs, output)
    assert found is not None, (op, inputs, output)
    return found[0]


def program(name: str, values: list[np.generic]) -> tuple[machine.Program, list[int]]:
    """One instruction for each way; returns the offsets of the results in the row."""
    op, inputs, output = split(name)
    pool = b"".join(v.tobytes().ljust(8, b"\0") for v in values)
    neutral, constant = NEUTRAL[inputs[0]]
    pool += np.array(constant, inputs[0]).tobytes().ljust(8, b"\0")
    keep = f"{neutral}_{inputs[0]}_{inputs[0]}_{inputs[0]}"
    code, results, free = [], [], 8 * len(values)
    for ways in itertools.product("rfa", repeat=len(inputs)):
        operands = {}
        if "a" in ways:  # both operands in the register: the same value
            k = ways.index("a")
            code.append(
                {
                    "op": KERNEL,
                    "kernel": address(neutral, (inputs[0],) * 2, inputs[0]),
                    "scalar_op": keep,
                    "a": (1, 8 * k),
                    "b": (0, 8 * len(values)),
                    "out": (1, free),
                }
            )
            held, free = (1, free), free + 8
        for k, way in enumerate(ways):
            operands["ab"[k]] = held if way == "a" else (1, 8 * k) if way == "r" else (0, 8 * k)
        code.append(
            {"op": KERNEL, "kernel": address(op, inputs, output), "scalar_op": name, "out": (1, free), **operands}
        )
        results.append((free, ways))
        free += 8
    code.append({"op": HALT})
    return machine.Program(code, [], [(free, -1, 1, [])], pool, {}, []), results


def expected(op: str, output: str, values: list[np.generic]) -> np.generic:
    with np.errstate(all="ignore"):
        if op == "cast":
            return values[0].astype(output)
        return function(op)(*values)


@pytest.mark.parametrize("name", OPS)
def test_every_way_gives_numpys_result(name):
    op, inputs, output = split(name)
    grid = list(itertools.product(*(edges(t) for t in inputs)))
    for row in np.random.default_rng(0).permutation(len(grid))[:80]:
        values = [np.array(v, t)[()] for v, t in zip(grid[row], inputs, strict=True)]
        code, results = program(name, values)
        it = machine.Machine(code)
        for k, value in enumerate(values):
            machine.put(it, 1, 8 * k, np.dtype(inputs[k]), (), value)
        assert it.run() == "halt"
        for offset, ways in results:
            same = ways.count("a") == 2
            wanted = expected(op, output, [values[0], values[0]] if same else values)
            _, got = machine.View(it).column(0, offset, np.dtype(output), 0, 1)
            both_nan = got[0] != got[0] and wanted != wanted
            assert both_nan or got[0].tobytes() == wanted.tobytes(), (values, ways, got[0])


def test_the_table_has_what_scalar_loops_use():
    assert {"add_float64_float64_float64", "less_int64_int64_bool", "remainder_int64_int64_int64"} <= set(OPS)
