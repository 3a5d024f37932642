"""After each command of the panel, each strip draws what the trace holds: never a curve of two runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import nested, newton
from workbench.widgets import ControlFlowView, EvolutionView, TerminationView


def vector() -> wb.Graph:
    """Three numbers that shrink towards ``a``, and a counter."""
    b = wb.GraphBuilder("vector")
    a = b.placeholder("a", "float64", ())
    k, w = b.while_loop(
        lambda k, w: k < 40,
        lambda k, w: (k + 1, 0.5 * (w + a)),
        (b.constant(0, "int64"), b.constant(np.array([1.0, 2.0, 4.0]))),
    )
    return b.build({"k": k, "w": w})


def branching() -> wb.Graph:
    """``x`` is halved where it is large and grows by ``a`` where it is not."""
    b = wb.GraphBuilder("branching")
    a = b.placeholder("a", "float64", ())

    def body(k, x):
        return k + 1, b.cond(x > 5.0, lambda: x * 0.5, lambda: x + a)

    k, x = b.while_loop(lambda k, x: k < 30, body, (b.constant(0, "int64"), a * 1.0))
    return b.build({"k": k, "x": x})


def run_again(session, changes, variable):
    session.restart()
    session.next_iteration(4)


def new_inputs(session, changes, variable):
    session.update(changes)


def new_inputs_from_the_start(session, changes, variable):
    session.update(changes)
    session.restart()
    session.next_iteration(5)


def edited(session, changes, variable):
    value = np.asarray(session.value(variable))
    session.set_value(variable, value + np.ones(value.shape, value.dtype))
    session.next_iteration(2)


def edited_further_back(session, changes, variable):
    session.previous_iteration(2)
    edited(session, changes, variable)
    session.next_iteration(2)


def undone(session, changes, variable):
    edited(session, changes, variable)
    session.undo_edit()
    session.next_iteration(2)


def edited_and_seen_and_undone(session, changes, variable):
    session.undo_edit()
    session.next_iteration(3)


def step_back(session, changes, variable):
    session.step_back(4)


def back_and_on(session, changes, variable):
    session.previous_iteration(2)
    session.next_iteration(3)


def back_to_a_breakpoint(session, changes, variable):
    session.breakpoints.add(variable)
    session.reverse_continue()


def forked(session, changes, variable):
    session.fork().set_value(variable, session.value(variable))


COMMANDS = (
    run_again,
    new_inputs,
    new_inputs_from_the_start,
    edited,
    edited_further_back,
    undone,
    edited_and_seen_and_undone,
    step_back,
    back_and_on,
    back_to_a_breakpoint,
    forked,
)
WORKLOADS: dict[str, tuple[Any, dict[str, Any], dict[str, Any], str]] = {
    "newton": (newton, {"a": 2.0, "x0": 100.0}, {"a": 3.0, "x0": 77.0}, "x"),
    "one input": (newton, {"a": 2.0, "x0": 100.0}, {"a": 900.0}, "x"),
    "vector": (vector, {"a": 2.0}, {"a": -3.0}, "w"),
    "branching": (branching, {"a": 2.0}, {"a": 3.0}, "x"),
    "nested": (nested, {"n": 9}, {"n": 12}, "s"),
}


def looked(view, session) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model and the drawn figure, after as many looks as it takes to read all."""
    for _ in range(50):
        model = view.model(session.snapshot())
        if not view.behind:
            break
    return model, view.spec(model)


def drawn(view, session) -> dict[str, Any]:
    """The lines of the figure by name."""
    return {t["name"]: t for t in looked(view, session)[1]["data"] if t.get("name")}


def assert_as_recorded(line, series, component=None):
    values = np.asarray(series.values, np.float64)
    values = values if component is None else values.reshape(len(values), -1)[:, component]
    x = series.iterations[:, 0] if series.iterations.shape[1] == 1 else np.arange(len(values))
    np.testing.assert_array_equal(line["x"], x)
    np.testing.assert_array_equal(line["y"], values)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.__name__)
def test_a_strip_equals_the_trace(workload, command):
    make, feeds, changes, variable = WORKLOADS[workload]
    with wb.Session(make(), feeds) as session:
        session.next_iteration(5)
        if command is edited_and_seen_and_undone:
            session.set_value(variable, np.asarray(session.value(variable)) + 1)
            session.next_iteration(2)
        view, gaps, sides = EvolutionView(session, [variable]), TerminationView(session), ControlFlowView(session)
        try:
            for look in (view, gaps, sides):
                drawn(look, session)
            command(session, changes, variable)
            lines, series = drawn(view, session), session.trace[variable]
            if variable == "w":
                for k in range(3):
                    assert_as_recorded(lines[f"w[{k}]"], series, k)
            else:
                assert_as_recorded(lines[variable], series)
            assert_gap_as_recorded(gaps, session)
            assert_decisions_as_recorded(sides, session)
        finally:
            for look in (view, gaps, sides):
                look.close()


def assert_gap_as_recorded(view, session):
    """Each side of the condition that moves is drawn as it was computed."""
    model, spec = looked(view, session)
    lines = {t["name"]: t for t in spec["data"] if t.get("name")}
    for clause in model["clauses"]:
        names = clause["left_text"], clause["right_text"]
        for name, ref, fixed in zip(names, clause["refs"], clause["fixed"], strict=True):
            if fixed is None and session.trace[ref].iterations.shape[1] == 1:
                assert_as_recorded(lines[name], session.trace[ref])


def assert_decisions_as_recorded(view, session):
    """How often each predicate was true and false is counted anew."""
    model, spec = looked(view, session)
    for row, note in zip(model["rows"], spec["layout"]["annotations"], strict=True):
        values = np.asarray(session.trace[row["pred"]].values, bool)
        told = f"{int(values.sum())} true, {int((~values).sum())} false"
        assert note["text"].endswith(told), (note["text"], told)
