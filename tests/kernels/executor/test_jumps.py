"""Guards that are decided already are jumped over: random programs of guards end as they do instruction by instruction.

A program is a row of blocks, each of some moves and a guard or a mark behind them; guards ask for a few bytes, which
moves rewrite now and then, and lead to the start of any later block.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from workbench.kernels import machine
from workbench.kernels.opcodes import GUARD, HALT, KERNEL, MARK

PREDICATES, RESULTS = 3, 6
#: bytes of the row: predicates from 0 on, results from 8 on
ROW = 8 + 8 * RESULTS
#: 0 and 1, eight mixed predicates, and the numbers that results get
POOL = np.array([0, 1, 0, 0, 0, 0, 0, 0], np.uint8).tobytes() + bytes([1, 0, 1, 0, 0, 1, 1, 0])
POOL += np.arange(100, 164, dtype=np.int64).tobytes()


def drawn(seed: int) -> machine.Program:
    """A program of 4 to 14 blocks."""
    r = random.Random(seed)
    blocks: list[list[dict[str, Any]]] = []
    literals: list[tuple[int, int, int]] = []
    for number in range(r.randint(4, 14)):
        block = [move(r, number) for _ in range(r.randint(0, 3))]
        if r.random() < 0.75:
            literals.append((1, r.randrange(PREDICATES), r.randint(0, 1)))
            block.append({"op": GUARD, "x0": len(literals) - 1, "x1": 1})
        else:
            block.append({"op": MARK})
        blocks.append(block)
    starts = [sum(map(len, blocks[:k])) for k in range(len(blocks) + 1)]
    for number, block in enumerate(blocks):
        if block[-1]["op"] == GUARD:
            block[-1]["jump"] = r.choice(starts[number + 1 :])
    code = [row for block in blocks for row in block]
    return machine.Program([*code, {"op": HALT}], literals, [(ROW, -1, 1, [])], POOL, {}, [])


def move(r: random.Random, number: int) -> dict[str, Any]:
    """A number for a result; or another value for a predicate, or for all."""
    kind, place = r.random(), 16 + 8 * r.randrange(64)
    size, source, out = 8, place, 8 + 8 * r.randrange(RESULTS)
    if kind < 0.15:
        size, source, out = 1, r.randint(0, 1), r.randrange(PREDICATES)
    elif kind < 0.2:
        source, out = 8, 0
    named = {"scalar_op": f"move_{size}"} if r.random() < 0.5 else {}
    return {
        "op": KERNEL,
        "kernel": machine.move_kernel(size),
        "a": (0, source),
        "out": (1, out),
        "event": True,
        **named,
    }


def ended(program: machine.Program, predicates: int, exact: bool) -> tuple[str, int, int, bytes]:
    """(status, instruction, events, row) at the end of a run from these values of the predicates."""
    it = machine.Machine(program)
    for k in range(PREDICATES):
        machine.put(it, 1, k, np.dtype("bool"), (), np.bool_(predicates >> k & 1))
    for k in range(RESULTS):
        machine.put(it, 1, 8 + 8 * k, np.dtype("int64"), (), np.int64(-1))
    status, view = it.run(exact=exact), machine.View(it)
    row = [view.column(0, k, np.dtype("uint8"), 0, 1)[1] for k in range(PREDICATES)]
    row += [view.column(0, 8 + 8 * k, np.dtype("int64"), 0, 1)[1] for k in range(RESULTS)]
    return status, view.ip, view.events, b"".join(c.tobytes() for c in row)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_guards_lead_where_they_do_one_by_one(first: int) -> None:
    ways = set()
    for seed in range(first, first + 100):
        program = drawn(seed)
        for predicates in range(1 << PREDICATES):
            wanted = ended(program, predicates, exact=True)
            assert ended(program, predicates, exact=False) == wanted, (seed, predicates, program.listing())
            ways.add((seed, wanted[2:]))
    assert len(ways) > 150  # most programs end in several ways
