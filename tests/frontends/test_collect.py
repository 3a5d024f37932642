"""Lists that grow in a loop: immutable values, with constant cost for each append."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ExecutionError, TypeMismatchError
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType
from workbench.ir.values import ArrayList

APPEND, STACK = REGISTRY["list_append"], REGISTRY["list_stack"]


def grown(n: int) -> list[ArrayList]:
    lists = [ArrayList()]
    for k in range(n):
        lists.append(lists[-1].appended(np.float32(k)))
    return lists


def test_every_list_keeps_its_own_length():
    lists = grown(5)
    assert [len(x) for x in lists] == [0, 1, 2, 3, 4, 5]
    assert [float(v) for v in lists[3]] == [0, 1, 2] and float(lists[5][-1]) == 4
    assert lists[2] == grown(2)[2] and lists[2] != lists[3]
    with pytest.raises(IndexError):
        lists[3][3]


def test_a_fork_leaves_the_first_history_alone():
    lists = grown(4)
    fork = lists[2].appended(np.float32(99))
    assert [float(v) for v in fork] == [0, 1, 99]
    assert [float(v) for v in lists[4]] == [0, 1, 2, 3]


def test_elements_are_copies():
    x = np.zeros(2)
    got = ArrayList().appended(x)
    x[:] = 1
    assert got[0].tolist() == [0, 0] and not got[0].flags.writeable


def test_appending_costs_the_same_at_any_length():
    """No append copies the list: all of them share one buffer."""
    items = first = ArrayList()
    for _ in range(10_000):
        items = items.appended(1.0)
        assert items._buffer is first._buffer
    assert len(items) == 10_000


def test_stack():
    items = ArrayList().appended(np.ones((2, 3), np.float32)).appended(np.zeros((2, 3), np.float32))
    (out,) = STACK.evaluate([items], {"dtype": "float32", "shape": (2, 3)})
    assert out.shape == (2, 2, 3) and out.dtype == np.float32
    with pytest.raises(ExecutionError) as caught:
        STACK.evaluate([items.appended(np.zeros(3, np.float32))], {})
    assert caught.value.slug == "wrong-shape"


def test_no_elements_give_an_empty_array_of_the_right_rank():
    (out,) = STACK.evaluate([ArrayList()], {"dtype": "int64", "shape": (-1, 3)})
    assert out.shape == (0, 0, 3) and out.dtype == np.int64
    (scalars,) = STACK.evaluate([ArrayList()], {"dtype": "bool", "shape": ()})
    assert scalars.shape == (0,)


def test_types():
    (stacked,) = STACK.infer([TensorType("opaque")], {"dtype": "float32", "shape": (-1, 3)}, [None])
    assert str(stacked) == "float32[?,?,3]"
    with pytest.raises(TypeMismatchError):
        APPEND.infer([TensorType("float32", ()), TensorType("float32", ())], {}, [None, None])
