"""Frames of TensorFlow 1 that are wired wrongly raise one clear error each; unusual but valid ones run."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.protobytes import (
    argument,
    const,
    data,
    float32,
    function,
    integer,
    library,
    node,
    placeholder,
    tensor,
)
from workbench.errors import WorkbenchError
from workbench.frontends import from_graphdef

FLOAT = integer(6, 1)
X = placeholder("x")
ONE = tensor(1, (), float32(5, 1.0))
ENTER = node("Enter", "Enter", "x", T=FLOAT, frame_name=data(2, "loop"))
MERGE = node("Merge", "Merge", "Enter", "Next", T=FLOAT)
TEST = b"".join(
    [
        const("ten", tensor(1, (), float32(5, 10.0)), "^Merge"),
        node("Less", "Less", "Merge", "ten", T=FLOAT),
        node("LoopCond", "LoopCond", "Less"),
        node("Switch", "Switch", "Merge", "LoopCond", T=FLOAT),
        node("Identity", "Identity", "Switch:1", T=FLOAT),
    ]
)
BODY = const("one", ONE, "^Identity") + node("Add", "AddV2", "Identity", "one", T=FLOAT)
NEXT, EXIT = node("Next", "NextIteration", "Add", T=FLOAT), node("Exit", "Exit", "Switch", T=FLOAT)
LOOP = X + ENTER + MERGE + TEST + BODY + NEXT + EXIT
STACK = const("most", tensor(3, (), integer(7, -1))) + node("Stack", "StackV2", "most", elem_type=FLOAT)


def test_the_loop_itself_is_right():
    assert from_graphdef(LOOP).run({"x:0": np.float32(2.5)})["Exit:0"] == 10.5


FAULTS = {
    "nothing leaves the loop": (X + ENTER + MERGE + TEST + BODY + NEXT, "frame-not-closed"),
    "only its inside is left": (X + ENTER + MERGE + TEST + BODY + NEXT + node("n", "Neg", "Add"), "frame-not-closed"),
    "an Enter alone": (X + ENTER, "frame-not-closed"),
    "a value of the loop is used outside": (LOOP + node("y", "Add", "Add", "x"), "different-frames"),
    "a value from outside is used in the loop": (
        X + ENTER + MERGE + TEST + node("Add", "Add", "Identity", "x") + NEXT + EXIT,
        "different-frames",
    ),
    "a cycle": (X + node("a", "Add", "x", "b") + node("b", "Neg", "a"), "cycle"),
    "a cycle of control": (X + node("a", "Neg", "x", "^b") + node("b", "Neg", "a"), "cycle"),
    "a node that reads itself": (node("a", "Neg", "a"), "cycle"),
    "a cycle beside an output": (X + node("y", "Neg", "x") + node("a", "Neg", "b") + node("b", "Neg", "a"), "cycle"),
    "a loop without NextIteration": (
        X + ENTER + MERGE.replace(b"Next", b"Nege") + node("Nege", "Neg", "Merge") + node("Exit", "Exit", "Nege"),
        "cycle",
    ),
    "a NextIteration that no Merge reads": (
        X + ENTER + node("Next", "NextIteration", "Enter") + node("n", "Neg", "Next") + node("Exit", "Exit", "n"),
        "next-iteration-not-merged",
    ),
    "an Exit outside": (X + node("e", "Exit", "x"), "frame-not-open"),
    "a NextIteration outside": (X + node("e", "NextIteration", "x"), "frame-not-open"),
    "a LoopCond outside": (placeholder("p", 10) + node("e", "LoopCond", "p"), "frame-not-open"),
    "a Merge that nothing starts": (
        X + node("Merge", "Merge", "N", "N") + node("N", "NextIteration", "Merge"),
        "frame-not-open",
    ),
    "an Enter that names no frame": (X + node("Enter", "Enter", "x") + node("Exit", "Exit", "Enter"), "no-frame-name"),
    "a Switch that declares another type": (
        X + placeholder("p", 10) + node("s", "Switch", "x", "p", T=integer(6, 3)) + node("y", "Neg", "s:1"),
        "declared-dtype",
    ),
    "a loop variable that changes its type": (
        X + ENTER + MERGE + TEST + node("Add", "Cast", "Identity", DstT=integer(6, 3)) + NEXT + EXIT,
        "carried-dtype",
    ),
    "a stack that comes out of a merge": (
        STACK
        + X
        + placeholder("p", 10)
        + node("s", "Switch", "Stack", "p", T=FLOAT)
        + node("m", "Merge", "s", "s:1")
        + node("push", "StackPushV2", "m", "x"),
        "unknown-stack",
    ),
    "a push to a value that is not a stack": (X + node("push", "StackPushV2", "x", "x"), "wrong-dtype"),
}


@pytest.mark.parametrize("raw, slug", FAULTS.values(), ids=FAULTS)
def test_faults(raw, slug):
    with pytest.raises(WorkbenchError) as caught:
        from_graphdef(raw)
    assert caught.value.slug == slug, caught.value


def test_inside_of_a_loop_that_is_not_closed_can_be_asked_for():
    graph = from_graphdef(X + ENTER + MERGE + TEST + BODY + NEXT, ["Add"])
    assert graph.run({"x:0": np.float32(7.5)})["Add:0"].tolist() == [8.5, 9.5, 10.5]


def test_an_enter_without_merge_is_a_loop_of_one_iteration():
    """As in TensorFlow, an entering value is alive in iteration 0, and may exit."""
    raw = X + ENTER + node("n", "Neg", "Enter", T=FLOAT) + node("Exit", "Exit", "n", T=FLOAT)
    assert from_graphdef(raw).run({"x:0": np.float32(3)})["Exit:0"] == -3


def test_a_loop_without_condition_is_stopped_where_a_second_value_leaves():
    raw = X + ENTER + MERGE + const("one", ONE, "^Merge") + node("Add", "AddV2", "Merge", "one", T=FLOAT)
    graph = from_graphdef(raw + NEXT + node("Exit", "Exit", "Add", T=FLOAT))
    with wb.Session(graph, {"x:0": np.float32(1)}) as session:
        assert "exit-fired-twice" in str(session.run()) or session.error.slug == "exit-fired-twice"


def test_a_stack_in_one_frame():
    """Pushes and pops follow the control edges, whatever the order of the file."""
    raw = b"".join(
        [
            node("b", "StackPopV2", "Stack", "^a", elem_type=FLOAT),
            node("a", "StackPopV2", "Stack", "^q", elem_type=FLOAT),
            node("q", "StackPushV2", "Stack", "y", "^p", T=FLOAT),
            node("p", "StackPushV2", "Stack", "x", T=FLOAT),
            node("y", "Neg", "x", T=FLOAT),
            X,
            STACK,
            node("close", "StackCloseV2", "Stack", "^b"),
        ]
    )
    found = from_graphdef(raw, ["a", "b", "p", "q"]).run({"x:0": np.float32(3)})
    assert {k: float(v) for k, v in found.items()} == {"a:0": -3, "b:0": 3, "p:0": 3, "q:0": -3}


def test_a_stack_under_a_decision():
    """A push on one side only; a later pop returns the top of the taken side."""
    raw = b"".join(
        [
            X,
            placeholder("c", 10),
            STACK,
            node("first", "StackPushV2", "Stack", "x", T=FLOAT),
            node("s", "Switch", "x", "c", T=FLOAT),
            node("n", "Neg", "s:1", T=FLOAT),
            node("push", "StackPushV2", "Stack", "n", "^first", T=FLOAT),
            node("sync", "ControlTrigger", "^push", "^first"),
            node("pop", "StackPopV2", "Stack", "^sync", elem_type=FLOAT),
        ]
    )
    graph = from_graphdef(raw, ["pop"])
    for taken, top in ((True, -3), (False, 3)):
        assert graph.run({"x:0": np.float32(3), "c:0": np.array(taken)})["pop:0"] == top


#: x + 1, from a constant inside the function
NEXT_OF = function(
    "next",
    [argument("x", 1)],
    [argument("y", 1)],
    [const("one", ONE), node("n", "AddV2", "x", "one:output:0", T=FLOAT)],
    {"y": "n:z:0"},
)


def test_a_call_inside_a_frame():
    """A value that the function computes without inputs belongs to the frame, and is dead when the loop ends."""
    raw = X + ENTER + MERGE + TEST + node("Add", "next", "Identity", T=FLOAT) + NEXT + EXIT + library(NEXT_OF)
    graph = from_graphdef(raw)
    assert graph.run({"x:0": np.float32(2.5)})["Exit:0"] == 10.5
    assert graph.frame_of("Add/one") == graph.frame_of("Add/n") == ("loop",)
    with wb.Session(graph, {"x:0": np.float32(7.5)}) as session:
        session.run()
        assert len(session.trace["Add/one"]) == len(session.trace["Add/n"]) == 3


@pytest.mark.parametrize("taken, value", [(True, 4), (False, -3)])
def test_a_call_behind_a_switch(taken, value):
    raw = b"".join(
        [
            X,
            placeholder("p", 10),
            node("s", "Switch", "x", "p", T=FLOAT),
            node("f", "next", "s:1", T=FLOAT),
            node("n", "Neg", "s", T=FLOAT),
            node("m", "Merge", "n", "f", T=FLOAT),
            library(NEXT_OF),
        ]
    )
    graph = from_graphdef(raw, ["m"])
    with wb.Session(graph, {"x:0": np.float32(3), "p:0": np.array(taken)}) as session:
        session.run()
        assert session.value("m") == value
        assert len(session.trace["f/one"]) == taken


def test_a_call_that_gives_back_its_argument_waits_for_what_the_call_waits_for():
    same = function("same", [argument("x", 1)], [argument("y", 1)], [], {"y": "x"})
    raw = b"".join(
        [
            X,
            placeholder("p", 10),
            node("s", "Switch", "p", "p", T=integer(6, 10)),
            node("on", "Identity", "s:1"),
            node("f", "same", "x", "^on", T=FLOAT),
            node("y", "Neg", "f", T=FLOAT),
            library(same),
        ]
    )
    graph = from_graphdef(raw, ["y"])
    assert graph.run({"x:0": np.float32(3), "p:0": np.array(True)})["y:0"] == -3
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run({"x:0": np.float32(3), "p:0": np.array(False)})
    assert caught.value.slug == "dead-value"
