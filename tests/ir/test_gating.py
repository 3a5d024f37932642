"""Loops end when their condition says so: what the builder makes of loop invariants, and what the checker refuses."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of
from tests.plan.test_refusals import Raw
from workbench.errors import FrameError, GraphError
from workbench.ir import Graph, Ref

#: more events than any of these programs needs
MOST_EVENTS = 20_000


def nest(inner: str, side: bool) -> Graph:
    """A branch on an invariant in a loop, with a loop, or a branch and a loop, on one side; all read invariants."""
    b = wb.GraphBuilder("nest")
    x, p, q = b.placeholder("x"), b.placeholder("p", "bool"), b.placeholder("q", "bool")

    def deep(a):
        if inner == "loop":
            return b.while_loop(lambda j, a: j < 3, lambda j, a: (j + 1, x), (0, a))[1]
        if inner == "loop in loop":
            step = lambda j, a: (j + 1, b.while_loop(lambda k, a: k < 2, lambda k, a: (k + 1, x), (0, a))[1])  # noqa: E731
            return b.while_loop(lambda j, a: j < 3, step, (0, a))[1]
        if inner == "branch in loop":
            step = lambda j, a: (j + 1, b.cond(q, lambda: x, lambda: a))  # noqa: E731
            return b.while_loop(lambda j, a: j < 3, step, (0, a))[1]
        if inner == "condition of loop":
            return b.while_loop(lambda j, a: b.op("logical_and", j < 3, q), lambda j, a: (j + 1, x), (0, a))[1]
        return b.cond(q, lambda: b.while_loop(lambda j, a: j < 3, lambda j, a: (j + 1, x), (0, a))[1], lambda: a)

    def body(i, y, a):
        sides = [lambda: (x, a), lambda: (y, deep(a))]
        return (i + 1, *b.cond(p, *(sides[::-1] if side else sides)))

    _, y, a = b.while_loop(lambda i, y, a: i < 6, body, (0, 0.0, 0.0))
    return b.build({"y": y, "a": a})


@pytest.mark.parametrize("side", [False, True])
@pytest.mark.parametrize("inner", ["loop", "loop in loop", "branch in loop", "condition of loop", "branch"])
def test_branches_on_invariants_around_loops_end(inner, side):
    graph = nest(inner, side)
    for p, q in itertools.product([False, True], repeat=2):
        run = run_of(graph, {"x": np.float64(2), "p": np.bool_(p), "q": np.bool_(q)})
        while not run.finished and run.event < MOST_EVENTS:
            run.go(MOST_EVENTS)
        assert run.finished, (p, q)
        x_taken, loops = p != side, q or inner in ("loop", "loop in loop")
        assert run.outputs() == {"y": 2.0 if x_taken else 0.0, "a": 2.0 if not x_taken and loops else 0.0}


def test_a_value_of_the_condition_that_the_body_takes_waits_for_the_condition():
    """It is alive once more than the body, so the next value of a variable must not be made of it alone."""
    b = wb.GraphBuilder()
    p, kept = b.placeholder("p", "bool"), []

    def cond(i, y):
        kept[:] = [y * 2.0]
        return i < 3

    def body(i, y):
        merged, _ = b.merge(b.switch(y, p)[0], b.switch(kept[0], p)[1])
        return i + 1, merged

    graph = b.build({"y": b.while_loop(cond, body, (0, 1.0))[1]})
    assert graph.run(p=True) == {"y": 8.0} and graph.run(p=False) == {"y": 1.0}


def invariant(raw: Raw):
    return raw.b.enter(raw.x0, "loop", is_constant=True)


def flag(raw: Raw):
    return raw.b.enter(raw.p, "loop", is_constant=True)


def under(raw: Raw, value, pred):
    return raw.b.switch(value, pred)[1]


#: next values that do not depend on the condition
ENDLESS = {
    "the variable itself": lambda raw: raw.merge + raw.merge,
    "an invariant": invariant,
    "an invariant under an invariant": lambda raw: under(raw, invariant(raw), flag(raw)),
    "the variable under an invariant": lambda raw: under(raw, raw.merge, flag(raw)),
    "under another decision": lambda raw: under(raw, raw.merge, raw.b.greater(raw.merge, raw.merge - raw.merge)),
    "one side of a Merge": lambda raw: raw.b.merge(under(raw, raw.on, flag(raw)), under(raw, raw.merge, flag(raw)))[0],
}
#: next values that do
ENDING = {
    "of the body": lambda raw: raw.on + raw.on,
    "with a control edge": lambda raw: raw.b.op("Identity", invariant(raw), control=[raw.b.op("Identity", raw.on)]),
    "under what the condition is made of": lambda raw: under(raw, raw.merge, raw.less),
    "under what is made of the condition": lambda raw: under(raw, raw.merge, raw.b.logical_and(raw.cond, flag(raw))),
    "where the condition is false": lambda raw: raw.off,
    "both sides of a branch": lambda raw: raw.b.merge(*raw.b.switch(raw.on, flag(raw)))[0],
}


@pytest.mark.parametrize("value", ENDLESS.values(), ids=ENDLESS)
def test_a_next_iteration_that_does_not_depend_on_the_condition_is_refused(value):
    raw = Raw().switch()
    raw.back(value(raw)).leave()
    with pytest.raises(FrameError) as caught:
        raw.build()
    assert caught.value.slug == "endless-next-iteration" and caught.value.node == "next"
    assert all(part in str(caught.value) for part in ("'next'", "'loop'", "'cond'", "Switch"))


@pytest.mark.parametrize("value", ENDING.values(), ids=ENDING)
def test_a_next_iteration_that_depends_on_the_condition_is_taken(value):
    raw = Raw().switch()
    raw.back(value(raw)).leave().build()


def test_text_and_nodes_go_through_the_same_check():
    graph = Raw().switch().back().leave().build()
    text = graph.text().replace('NextIteration("add:0")', 'NextIteration("merge:0")')
    assert text != graph.text()
    with pytest.raises(FrameError) as caught:
        wb.parse(text)
    assert caught.value.slug == "endless-next-iteration"


@pytest.mark.parametrize("op", ["Switch", "Exit", "NextIteration", "Enter"])
def test_frame_ops_with_too_few_inputs_are_told_as_that(op):
    """The check of conditions comes after that of the inputs."""
    graph = Raw().switch().back().leave().build()
    name = next(n.name for n in graph.nodes.values() if n.op == op)
    short = {n.name: replace(n, inputs=n.inputs[1:]) if n.name == name else n for n in graph.nodes.values()}
    with pytest.raises(GraphError) as caught:
        Graph.from_nodes("short", short.values(), inputs=graph.inputs, outputs=graph.outputs)
    assert caught.value.slug != "endless-next-iteration" and caught.value.node is not None


def test_a_loop_that_says_it_never_ends_is_taken():
    b = wb.GraphBuilder()
    graph = b.build(b.while_loop(lambda i: b.constant(True), lambda i: i + 1, b.constant(0)))
    assert graph.frames[("while",)].loop_cond is not None
    assert isinstance(graph.outputs["i"], Ref)
