"""Every scalar op as machine code against the interpreter, at the values where arithmetic goes wrong."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.kernels.executor.test_checked import EDGES, Left
from tests.kernels.executor.test_machine import edges
from tests.kernels.executor.test_scalar_ops import address, split
from workbench.kernels import machine
from workbench.kernels.opcodes import BACK, CALL, HALT, KERNEL, LOOP, MARK, START, TEST
from workbench.plan.native import compile_loops

pytestmark = pytest.mark.watch

OPS = [n for n in machine.scalar_ops() if not n.startswith(("move_", "checked_item", "checked_put"))]
ROW = 48
POINTS = 24  # pairs of values for each op
CONSTANTS = (0, -1, 2, 3, -5)  # divisors that are known when the code is made


def raises(arrays: Any) -> None:
    raise Left


def kernel(name: str) -> dict[str, Any]:
    op, inputs, output = split(name)
    return {"op": KERNEL, "kernel": address(op, inputs, output), "scalar_op": name, "frame": 1}


def move(dtype: str) -> dict[str, Any]:
    size = np.dtype(dtype).itemsize
    return {"op": KERNEL, "kernel": machine.move_kernel(size), "scalar_op": f"move_{size}", "frame": 1}


def program(name: str, constant: Any = None) -> machine.Program:
    """``while i < 3``, with the op on values of the iteration before, and on values of the enclosing frame.

    Frame 0: a at 0, b at 8. Frame 1: i at 0, condition at 8, a at 16, b at 24, results at 32 and 40. With a constant
    the second operand of both is that one.
    """
    op, inputs, output = split(name.removeprefix("checked_"))
    pool = np.array([0, 3, 1]).tobytes()
    if constant is not None:
        pool += np.array(constant, inputs[-1]).tobytes().ljust(8, b"\0")
    calls: list[Any] = []

    def apply(a: tuple[int, int], b: tuple[int, int], out: int) -> dict[str, Any]:
        operands = [a, b if constant is None else (0, 24)][: len(inputs)]
        given = dict(zip("ab", operands, strict=False))
        if not name.startswith("checked_"):
            return {**kernel(name), **given, "out": (2, out), "event": True}
        ins = [(*place, np.dtype(t), ()) for place, t in zip(operands, inputs, strict=True)]
        calls.append((raises, ins, [(2, out, np.dtype(output), ())], 0, None, None))
        return {
            "op": CALL,
            "x0": len(calls) - 1,
            "scalar_op": name,
            "frame": 1,
            **given,
            "out": (2, out),
            "event": True,
        }

    code = [
        {"op": LOOP, "frame": 1},
        {**move("int64"), "a": (0, 0), "out": (2, 0)},
        {**move(inputs[0]), "a": (1, 0), "out": (2, 16)},
        {**move(inputs[-1]), "a": (1, 8), "out": (2, 24)},
        {"op": START, "frame": 1},
        {"op": MARK, "frame": 1},
        {**kernel("less_int64_int64_bool"), "a": (2, -ROW), "b": (0, 8), "out": (2, 8), "event": True},
        {"op": TEST, "frame": 1, "a": (2, 8), "jump": 14},
        apply((2, 16 - ROW), (2, 24 - ROW), 32),
        apply((1, 0), (2, 24 - ROW), 40),
        {**move(inputs[0]), "a": (2, 16 - ROW), "out": (2, 16)},
        {**move(inputs[-1]), "a": (2, 24 - ROW), "out": (2, 24)},
        {**kernel("add_int64_int64_int64"), "a": (2, -ROW), "b": (0, 16), "out": (2, 0), "event": True},
        {"op": BACK, "frame": 1, "jump": 6},
        {**move("int64"), "a": (2, -ROW), "out": (1, 16), "event": True},
        {"op": MARK},
        {"op": HALT},
    ]
    made = machine.Program(code, [], [(24, -1, 1, []), (ROW, 0, 0, [])], pool, {}, calls)
    made.verify()
    return made


def run(made: machine.Program, name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    op, inputs, output = split(name.removeprefix("checked_"))
    it = machine.Machine(made)
    for k, value in enumerate(values):
        machine.put(it, 1, 8 * k, np.dtype(inputs[k]), (), np.array(value, inputs[k])[()])
    status, view = it.run(), machine.View(it)
    columns = [view.column(1, offset, np.dtype(output), 1, view.rows(1)[1])[1] for offset in (32, 40)]
    columns.append(view.column(1, 0, np.dtype("int64"), 0, view.rows(1)[1])[1])
    return status, view.ip, view.events, view.rows(1), columns


def agree(made: machine.Program, name: str, grid: list[tuple[Any, ...]]) -> None:
    expected = [run(made, name, values) for values in grid]
    assert compile_loops(made) == {6: ""}
    for values, wanted in zip(grid, expected, strict=True):
        got = run(made, name, values)
        assert got[:4] == wanted[:4], (values, got, wanted)
        for a, b in zip(got[4], wanted[4], strict=True):
            numbers = a == a
            assert np.array_equal(numbers, b == b), (values, a, b)  # NaN: sign and payload are left open
            assert a[numbers].tobytes() == b[numbers].tobytes(), (values, a, b)


def values_of(name: str) -> list[tuple[Any, ...]]:
    op, inputs, _ = split(name.removeprefix("checked_"))
    sources = [EDGES[t] if name.startswith("checked_") else list(edges(t)) for t in inputs]
    grid = [
        v
        for v in itertools.product(*sources)
        if not (op in ("power", "left_shift") and isinstance(v[0], int) and abs(v[1]) > 10**4)
    ]
    return [grid[k] for k in np.random.default_rng(1).permutation(len(grid))[:POINTS]]


@pytest.mark.parametrize("name", OPS)
def test_machine_code_gives_the_interpreters_values(name: str) -> None:
    agree(program(name), name, values_of(name))


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize(
    "name",
    [
        n
        for n in OPS
        if n.startswith(("floor_divide_int", "truncate_divide_int", "remainder_int"))
        or n
        in (
            "checked_floor_divide_int64_int64_int64",
            "checked_remainder_int64_int64_int64",
            "multiply_int64_int64_int64",
        )
    ],
)
def test_constant_divisors(name: str, constant: int) -> None:
    dtype = split(name.removeprefix("checked_"))[1][0]
    agree(program(name, constant), name, [(a, 1) for a in edges(dtype)])
