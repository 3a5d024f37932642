"""Long and deep graphs: work in proportion to their size, and loops in loops beyond what Python calls allow."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FrameError
from workbench.ir.frames.frame_tree import ROOT
from workbench.ir.frames.nesting import MAX_DEPTH
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import TensorType
from workbench.plan.plan import choose_outputs, make_plan
from workbench.plan.schedule.frame_schedule import ScheduledItem, _order
from workbench.plan.schedule.guards import OPEN, Guard


class _Counted(frozenset):  # type: ignore[type-arg]
    """A guard that counts how often a table looks it up."""

    looked_up = 0

    def __hash__(self) -> int:
        _Counted.looked_up += 1
        return super().__hash__()


def _work(size: int) -> int:
    """Look-ups of guards while ``size`` items are ordered, each under a guard of its own and all ready at once."""
    guards: list[Guard] = [_Counted({(Ref(f"p{k}"), True)}) for k in range(size)]
    items = {f"n{k}": ScheduledItem(f"n{k}", guard) for k, guard in enumerate(guards)}
    _Counted.looked_up = 0
    ordered = _order(items, {name: set() for name in items}, dict.fromkeys(items, 0), ROOT)
    assert [item.name for item in ordered] == list(items)
    return _Counted.looked_up


def test_work_grows_with_the_number_of_ready_guards_and_not_with_its_square() -> None:
    assert _work(2000) <= 2.5 * _work(1000)


def test_nodes_of_one_guard_stay_together_and_sections_come_in_order() -> None:
    one, two = frozenset({(Ref("p"), True)}), frozenset({(Ref("q"), True)})
    guards = {"a": OPEN, "b": one, "c": two, "d": one, "e": OPEN, "f": two, "g": one}
    waits: dict[str, set[str]] = {name: set() for name in guards}
    waits["f"] = {"b"}
    decides = dict.fromkeys(guards, 0) | {"g": 1}
    ordered = _order({n: ScheduledItem(n, g) for n, g in guards.items()}, waits, decides, ROOT)
    assert "".join(item.name for item in ordered) == "aebdcfg"


def test_many_loops_in_a_row_are_children_of_the_outermost_level() -> None:
    b = wb.GraphBuilder()
    start = b.placeholder("x", "int64", ())
    x = start
    for _ in range(40):
        x = b.while_loop(lambda v, k: k < 2, lambda v, k: (v + 1, k + 1), [x, b.constant(0, "int64")])[0]
    graph = b.build([x])
    assert len(graph.frames[ROOT].children) == 40
    assert [graph.frames[p].parent for p in graph.frames[ROOT].children] == [ROOT] * 40


def chain(size: int, shape: tuple[int, ...]) -> Graph:
    b = wb.GraphBuilder()
    x = value = b.placeholder("x", "float64", shape)
    for _ in range(size):
        value = value + x
    return b.build([value])


def _calls(function: Callable[[], Any]) -> int:
    """Calls of Python functions that ``function`` makes."""
    count = 0

    def saw(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(saw)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", [(), (3,)], ids=["numbers", "arrays"])
def test_a_plan_takes_few_calls_for_each_node(shape: tuple[int, ...]) -> None:
    """Nodes that are alike are looked at once, and nothing is done again for each other node."""
    feed = (("x", TensorType("float64", shape)),)

    def work(size: int) -> int:
        graph = chain(size, shape)
        return _calls(lambda: make_plan(graph, choose_outputs(graph, None), feed))

    small, large = work(500), work(2500)
    assert (large - small) / 2000 <= 190


def test_the_collector_runs_again_after_a_plan_that_failed() -> None:
    graph = chain(3, ())
    assert gc.isenabled()
    with pytest.raises(wb.WorkbenchError):
        make_plan(graph, choose_outputs(graph, None), ())
    assert gc.isenabled()


def nested(b: wb.GraphBuilder, depth: int, value: Any) -> Any:
    """``depth`` loops in loops; each runs its body once, and the innermost adds one."""
    if depth == 0:
        return value + 1
    first = b.constant(0, "int64")
    return b.while_loop(lambda i, w: i < 1, lambda i, w: (i + 1, nested(b, depth - 1, w)), [first, value])[1]


@pytest.mark.slow
def test_a_thousand_loops_in_loops() -> None:
    limit = sys.getrecursionlimit()
    b = wb.GraphBuilder()
    graph = b.build({"y": nested(b, 1000, b.placeholder("x", "int64", ()))})
    assert sys.getrecursionlimit() == limit
    assert max(map(len, graph.frames)) == 1000
    assert graph.run(x=3)["y"] == 4
    with wb.Session(graph, {"x": np.int64(3)}) as session:
        session.run()
        assert session.value("y") == 4
        inner = max(graph.frames, key=len)
        assert session.value(graph.frames[inner].merges[1]) == 4
        session.step_back()
        session.step()
        assert session.value("y") == 4


def branched(b: wb.GraphBuilder, depth: int, value: Any) -> Any:
    """``depth`` branches in branches, each of which goes on to the next for a value of one or more."""
    return value + 1 if depth == 0 else b.cond(value >= 1, lambda: branched(b, depth - 1, value), lambda: value)


@pytest.mark.slow
def test_hundreds_of_branches_in_branches() -> None:
    limit = sys.getrecursionlimit()
    b = wb.GraphBuilder()
    graph = b.build({"y": branched(b, 300, b.placeholder("x", "int64", ()))})
    assert sys.getrecursionlimit() == limit
    assert (graph.run(x=3)["y"], graph.run(x=0)["y"]) == (4, 0)


def test_branches_without_end_in_branches_are_refused() -> None:
    b = wb.GraphBuilder()
    with pytest.raises(FrameError) as caught:
        branched(b, 10**9, b.placeholder("x", "int64", ()))
    assert caught.value.slug == "too-deep" and str(MAX_DEPTH) in caught.value.message


def test_loops_without_end_in_loops_are_refused() -> None:
    b = wb.GraphBuilder()
    with pytest.raises(FrameError) as caught:
        nested(b, 10**9, b.placeholder("x", "int64", ()))
    assert caught.value.slug == "too-deep" and str(MAX_DEPTH) in caught.value.message


def test_a_node_may_be_named_like_a_frame() -> None:
    b = wb.GraphBuilder()
    x = b.placeholder("x", "int64", ())
    y = b.while_loop(lambda v: v < 10, lambda v: v * 2, x, name="double")
    z = b.op("add", x, 1, name="frame double")
    assert b.build({"y": y, "z": z}).run(x=3) == {"y": 12, "z": 4}
