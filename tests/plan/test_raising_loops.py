"""Exceptions in inner loops of NumPy fail the node that runs them: integers to negative powers, of every dtype."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ExecutionError

SIGNED = ("int8", "int16", "int32", "int64")


def power(dtype: str, shape: tuple[int, ...], loop: bool) -> wb.Graph:
    b = wb.GraphBuilder("g")
    x, y = b.placeholder("x", dtype, shape), b.placeholder("y", dtype, shape)
    if not loop:
        return b.build({"z": b.power(x, y)})
    _, out = b.while_loop(
        lambda i, v: b.less(i, np.int64(3)),
        lambda i, v: (b.add(i, np.int64(1)), b.power(v, y)),
        [b.constant(np.int64(0)), x],
    )
    return b.build({"z": out})


@pytest.mark.parametrize("loop", [False, True], ids=["outside", "in a loop"])
@pytest.mark.parametrize("shape", [(), (3,), (3000,)], ids=str)
@pytest.mark.parametrize("dtype", SIGNED)
def test_a_negative_power_of_integers_fails_its_node(dtype, shape, loop):
    graph = power(dtype, shape, loop)
    base = np.full(shape, 2, dtype)
    with pytest.raises(ExecutionError, match="Integers to negative integer powers") as caught:
        graph.run({"x": base, "y": np.full(shape, -1, dtype)})
    assert caught.value.slug == "node-failed" and "power" in caught.value.node
    # the thread is clean again, and what is allowed is computed
    assert np.all(graph.run({"x": base, "y": np.full(shape, 1, dtype)})["z"] == 2)
