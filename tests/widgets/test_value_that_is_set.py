"""The value that the Value pane shows is the one that an edit writes, with its iteration."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import newton
from workbench.widgets import ValueInspector

FEEDS = {"a": 2.0, "x0": 100.0}


def vector() -> wb.Graph:
    b = wb.GraphBuilder("vector")
    k, w = b.while_loop(
        lambda k, w: k < 9,
        lambda k, w: (k + 1, w * 2.0),
        (b.constant(0, "int64"), b.constant(np.array([1.0, 2.0, 4.0]))),
    )
    return b.build({"k": k, "w": w})


@pytest.mark.parametrize("back", [0, 1, 3])
def test_the_value_shown_is_the_one_that_is_replaced(back):
    with wb.Session(newton(), FEEDS) as session:
        session.next_iteration(6)
        if back:
            session.previous_iteration(back)
        iteration = session.position.iteration[-1]
        view = ValueInspector(session, "x")
        told = view.part.status
        assert (
            told["editable"]
            and told["where"] == f"iteration {iteration}"
            and told["note"] == "about to take this value"
        )
        shown = float(told["text"])
        view.edit("3")
        assert session.stop.reason is wb.StopReason.EDITED
        (edit,) = session.trace.edits()
        assert float(edit.before) == shown and session.value("x", iteration) == 3.0
        view.show(session.snapshot())
        assert view.part.status["where"] == f"iteration {iteration}" and float(view.part.status["text"]) == 3.0
        view.close()


def test_at_every_event_the_number_shown_is_what_an_edit_replaces():
    with wb.Session(newton(), FEEDS) as session:
        view = ValueInspector(session, "x")
        seen = 0
        while session.stop.reason is not wb.StopReason.FINISHED and seen < 40:
            session.step()
            view.show(session.snapshot())
            told = view.part.status
            if not told["editable"]:
                continue
            event = session.position.event
            view.edit("5")
            edit = session.trace.edits()[-1]
            assert float(edit.before) == float(told["text"])
            session.undo_edit()
            assert session.position.event == event
            seen += 1
        assert seen > 20
        view.close()


def test_a_cell_is_set_in_the_array_that_the_variable_is_about_to_take():
    with wb.Session(vector()) as session:
        session.next_iteration(3)
        iteration = session.position.iteration[-1]
        taken = np.array([1.0, 2.0, 4.0]) * 2.0**iteration
        view = ValueInspector(session, "w")
        told = view.part.status
        assert told["editable"] and told["where"] == f"iteration {iteration}"
        assert [float(cell) for cells in told["cells"] for cell in cells] == taken.tolist()
        view.edit("7", *((0, 1) if len(told["cells"]) == 1 else (1, 0)))
        assert session.value("w", iteration).tolist() == [taken[0], 7.0, taken[2]]
        view.close()
