"""Sentences of other parts, which name nodes and loops as programs do, are shown with the names of the screens."""

from __future__ import annotations

import workbench as wb
from workbench.widgets.control_flow.call_stack_model import callstack_model
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.termination.termination_model import TerminationModel
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.loop_names import loops_spoken


def hanging() -> wb.Graph:
    """A loop within a loop, both without a name, of which the inner one never ends."""
    b = wb.GraphBuilder("nest")
    n, zero = b.placeholder("n", "int64", ()), b.constant(0, "int64")

    def outer(i, s):
        _, t = b.while_loop(lambda j, t: j < i, lambda j, t: (j + 0, t + j), (b.constant(0, "int64"), s))
        return i + 1, t

    i, s = b.while_loop(lambda i, s: i < n, outer, (zero, zero))
    return b.build({"i": i, "s": s})


def test_the_verdict_names_a_loop_by_its_condition():
    with wb.Session(hanging(), {"n": 8}) as session:
        answer = session.termination("while", seconds=0.2)
        assert "loop while/while_1 inside" in answer.reason.sentence
        told = TerminationModel(session.graph, ("while",)).update(session.trace, lambda: answer)["verdict"]
        assert told["reason"].startswith(
            "The loop while j < i inside never ends, in iteration 1 of this one: j stays 0"
        )
        assert "while_1" not in str([told[key] for key in ("reason", "proof", "claims", "fix", "blocking")])


def test_names_of_programs_become_names_of_screens():
    graph = hanging()
    for text, shown in (
        ("The loop while was not entered.", "The loop while i < n was not entered."),
        ("The loop while/while_1 has not begun", "The loop while j < i has not begun"),
        ("while_1.t > 3 and awhile_1.t", "t > 3 and awhile_1.t"),
        ("while/while_1/add of awhile/while_1/add", "add of awhile/while_1/add"),
        ("loop while_12 and loop while/while_1/x", "loop while_12 and loop while/while_1/x"),
    ):
        assert loops_spoken(graph, text) == shown
    spoken = Spoken(graph)
    assert spoken.sentence("'while_1/j/Merge:0' has not fired.") == "j has not fired."
    assert spoken.sentence("'no such name' and 'while_1/less'") == "'no such name' and j < i"
    with wb.Session(graph, {"n": 8}) as session:
        session.step(8)
        stack = callstack_model(ViewSource(session), session.snapshot(), None, None)
        assert stack["headline"] == f"Paused before {spoken.step(session.position.node)}"
        assert "while" not in stack["headline"]


def test_the_only_loop_is_the_loop():
    b = wb.GraphBuilder("one")
    k = b.while_loop(lambda k: k < 3, lambda k: k + 1, {"k": b.constant(0, "int64")})
    graph = b.build(k)
    assert loops_spoken(graph, "The loop while was not entered.") == "The loop was not entered."
