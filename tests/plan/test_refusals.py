"""Frames that do not nest are raw, with the reason; unusual frames that do nest are run right."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.plan import house
from tests.plan.reference import Reference
from tests.plan.test_reference import check_against_reference, run_of
from workbench.errors import ExecutionError, GraphError
from workbench.ir import Graph, Node, Ref


class Raw:
    """A raw loop ``while x < 3: x += 1`` with places to spoil."""

    def __init__(self):
        self.b = b = wb.GraphBuilder("raw")
        self.x0 = b.placeholder("x0")
        self.p = b.placeholder("p", "bool")
        self.enter = b.enter(self.x0, "loop", name="enter")
        self.merge, self.index = b.merge(self.enter, name="merge")
        self.less = self._less()

    def _less(self):
        b = self.b
        three = b.enter(b.constant(3.0), "loop", is_constant=True, name="three")
        return b.less(self.merge, three, name="less")

    def switch(self, value=None):
        self.cond = self.b.loop_cond(self.less, name="cond")
        self.off, self.on = self.b.switch(self.merge if value is None else value, self.cond, name="switch")
        return self

    def back(self, value=None):
        self.next = self.b.next_iteration(self.b.add(self.on, self.on) if value is None else value, name="next")
        self.b.add_back_edge(self.merge, self.next)
        return self

    def leave(self, value=None):
        self.exit = self.b.exit(self.off if value is None else value, name="exit")
        return self

    def build(self, **more):
        return self.b.build({"out": self.exit, **more})


def no_loop_cond():
    raw = Raw()
    raw.off, raw.on = raw.b.switch(raw.merge, raw.less)
    return raw.back().leave().build()


def two_loop_conds():
    raw = Raw().switch()
    other = raw.b.loop_cond(raw.b.logical_not(raw.less), name="cond2")
    off, _ = raw.b.switch(raw.merge, other, name="switch2")
    return raw.back().leave(raw.off + off).build()


def next_under_more():
    raw = Raw().switch()
    inside = raw.b.enter(raw.p, "loop", is_constant=True, name="p_in")
    _, further = raw.b.switch(raw.on, inside, name="further")
    return raw.back(further).leave().build()


def exit_on_true():
    raw = Raw().switch()
    return raw.back().leave(raw.on).build()


def exit_always():
    raw = Raw().switch()
    return raw.back().leave(raw.merge).build()


def enter_without_merge():
    raw = Raw()
    other = raw.b.enter(raw.x0, "loop", name="loose")
    raw.switch().back(raw.on + raw.on)
    return raw.leave(raw.b.switch(other, raw.cond, name="loose_switch")[0]).build()


def started_under_other_conditions():
    raw = Raw()
    b = raw.b
    _, on = b.switch(raw.x0, raw.p, name="outside")
    second = b.enter(on, "loop", name="enter2")
    merge2, _ = b.merge(second, name="merge2")
    raw.switch().back().leave()
    off2, on2 = b.switch(merge2, raw.cond, name="switch2")
    b.add_back_edge(merge2, b.next_iteration(on2, name="next2"))
    return raw.build(out2=b.exit(off2, name="exit2"))


def invariant_under_more():
    raw = Raw()
    b = raw.b
    _, on = b.switch(raw.x0, raw.p, name="outside")
    extra = b.enter(on, "loop", is_constant=True, name="extra")
    raw.switch()
    return raw.back(raw.on + extra).leave().build()


#: graph, the reason why its frame is raw, a word of it, what comes out for x0 = 1 and for x0 = 5 (None: dead; a pair:
#: the iterations in which the Exit was alive)
RAW = [
    (no_loop_cond, "0 LoopCond", 4.0, 5.0),
    (two_loop_conds, "2 LoopCond", None, None),
    (next_under_more, "'next' does not depend on exactly", None, 5.0),
    (exit_on_true, "'exit' does not leave where the condition is false", (0, 1), None),
    (exit_always, "'exit' does not leave", (0, 1), 5.0),
    (enter_without_merge, "'loose' is alive in iteration 0 only", None, 5.0),
    (started_under_other_conditions, "enters under other conditions", 4.0, 5.0),
    (invariant_under_more, "invariant 'extra' enters under more conditions", None, 5.0),
]


@pytest.mark.parametrize(("make", "why", "low", "high"), RAW, ids=lambda v: getattr(v, "__name__", None))
def test_frames_that_do_not_nest(make, why, low, high):
    """With p false: what is under it is dead."""
    graph = make()
    for x0, expected in ((1.0, low), (5.0, high)):
        feeds = {n: np.bool_(False) if n == "p" else np.float64(x0) for n in graph.inputs}
        run = house.check_run(graph, feeds)
        if isinstance(expected, tuple):
            assert run is None
            with pytest.raises(ExecutionError, match=f"iteration {expected[0]} of 'loop' .* iteration {expected[1]}"):
                graph.run(feeds)
            continue
        assert why in run.plan.raw[("loop",)]
        outcome = run.trace[graph.outputs["out"]].values.tolist()
        assert outcome == ([] if expected is None else [expected])
        house.check_steps(run, graph, feeds)


def test_the_same_frame_name_for_two_loops_in_a_row():
    b = wb.GraphBuilder()
    value = b.placeholder("x0")
    for k in range(2):
        enter = b.enter(value, "loop", name=f"enter{k}")
        merge, _ = b.merge(enter, name=f"merge{k}")
        three = b.enter(b.constant(3.0 + 10.0 * k), "loop", is_constant=True)
        cond = b.loop_cond(b.less(merge, three), name=f"cond{k}")
        off, on = b.switch(merge, cond)
        b.add_back_edge(merge, b.next_iteration(on + on))
        value = b.exit(off)
    graph = b.build({"out": value})
    run = house.check_run(graph, {"x0": np.float64(1.0)})
    assert run.outputs()["out"] == 16.0 and run.trace["merge1"].values.tolist() == [4.0, 8.0, 16.0]


def check(graph, **feeds):
    reference = Reference(graph, feeds, list(graph.outputs.values())).run()
    run = run_of(graph, feeds)
    while run.go() != "halt":
        pass
    check_against_reference(run, reference)
    return run.outputs()


def spoiled(**changes):
    """The raw loop with some nodes replaced."""
    graph = Raw().switch().back().leave().build()
    nodes = [changes.get(n.name, n) for n in graph.nodes.values()]
    extra = [n for name, n in changes.items() if name not in graph.nodes]
    outputs = {**graph.outputs, **{n.name: n.ref() for n in extra if n.op == "Exit"}}
    return Graph.from_nodes("spoiled", [*nodes, *extra], inputs=graph.inputs, outputs=outputs)


def test_the_plain_loop():
    assert check(spoiled(), x0=1.0, p=True) == {"out": 4.0}


def test_a_merge_with_its_back_edge_first():
    """value_index is then 1 in iteration 0 and 0 afterwards."""
    merge = Node("merge", "Merge", (Ref("next"), Ref("enter")))
    seen = Node("seen", "Switch", (Ref("merge", 1), Ref("cond")))
    left = Node("left", "Exit", (Ref("seen", 0),))
    outputs = check(spoiled(merge=merge, seen=seen, left=left), x0=1.0, p=True)
    assert outputs == {"out": 4.0, "left": 0}
    assert check(spoiled(merge=merge, seen=seen, left=left), x0=5.0, p=True) == {"out": 5.0, "left": 1}


def test_one_next_iteration_for_two_variables():
    merge2 = Node("merge2", "Merge", (Ref("enter2"), Ref("next")))
    enter2 = spoiled().nodes["enter"]
    enter2 = Node("enter2", "Enter", enter2.inputs, attrs=enter2.attrs)
    switch2 = Node("switch2", "Switch", (Ref("merge2"), Ref("cond")))
    exit2 = Node("exit2", "Exit", (Ref("switch2", 0),))
    graph = spoiled(merge2=merge2, enter2=enter2, switch2=switch2, exit2=exit2)
    assert check(graph, x0=1.0, p=True) == {"out": 4.0, "exit2": 4.0}


def test_nothing_may_wait_for_a_next_iteration():
    late = Node("late", "Identity", (Ref("merge"),), ("next",))
    with pytest.raises(GraphError) as caught:
        spoiled(late=late)
    assert caught.value.slug == "next-iteration-not-merged" and "'late'" in str(caught.value)


@pytest.mark.parametrize("p", [False, True])
def test_an_exit_that_waits_for_a_branch(p):
    inside = Node("p_in", "Enter", (Ref("p"),), attrs=spoiled().nodes["three"].attrs)
    fork = Node("fork", "Switch", (Ref("switch", 0), Ref("p_in")))
    taken = Node("taken", "Identity", (Ref("fork", 1),))
    left = Node("left", "Exit", (Ref("switch", 0),), ("taken",))
    graph = spoiled(p_in=inside, fork=fork, taken=taken, left=left)
    run = house.check_run(graph, {"x0": np.float64(1.0), "p": np.bool_(p)})
    assert "'left' waits for a node that is under a further condition" in run.plan.raw[("loop",)]
    assert run.trace["left"].values.tolist() == ([4.0] if p else []) and run.trace["exit"].values.tolist() == [4.0]


def test_a_loop_in_the_condition_of_a_loop_that_nests():
    """x doubles while it has more than one doubling left below 20."""
    b = wb.GraphBuilder()
    x = b.placeholder("x0", "int64")

    def cond(x):
        _, n = b.while_loop(lambda j, n: j < 20, lambda j, n: (j + j, n + 1), (x, b.constant(0)), name="inner")
        return n > 1

    graph = b.build({"out": b.while_loop(cond, lambda x: x + x, (x,), name="outer")[0]})
    run = house.check_run(graph, {"x0": np.int64(1)})
    assert not run.plan.raw and run.outputs()["out"] == 16
    house.check_steps(run, graph, {"x0": np.int64(1)})


def test_a_merge_of_both_sides_of_the_loops_own_condition():
    """It stands in front of the decision, in every iteration; the Exits come when all else has fired."""
    both = Node("both", "Merge", (Ref("switch", 0), Ref("merge"), Ref("switch", 0)))
    index = Node("index", "Identity", (Ref("both", 1),))
    late = Node("late", "Switch", (Ref("switch", 0), Ref("cond")))
    last = Node("last", "Exit", (Ref("late", 0),))
    graph = spoiled(both=both, index=index, late=late, last=last)
    graph = Graph.from_nodes(
        "both", graph.nodes.values(), inputs=graph.inputs, outputs={**graph.outputs, "index": Ref("index")}
    )
    feeds = {"x0": np.float64(1.0), "p": np.bool_(True)}
    run = house.check_run(graph, feeds)
    assert not run.plan.raw and run.trace["index"].values.tolist() == [1, 1, 0]
    house.check_steps(run, graph, feeds)


def test_a_loop_whose_next_iteration_can_never_fire_ends_at_once():
    """Its next value needs both sides of the condition."""
    torn = Node("torn", "add", (Ref("switch", 0), Ref("switch", 1)))
    graph = spoiled(torn=torn, next=Node("next", "NextIteration", (Ref("torn"),)))
    feeds = {"x0": np.float64(1.0), "p": np.bool_(True)}
    run = house.check_run(graph, feeds)
    assert "'next' can never fire" in run.plan.raw[("loop",)] and run.trace["merge"].values.tolist() == [1.0]
