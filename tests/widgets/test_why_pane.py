"""The pane behind a card: the chain of a NaN from its cause on, the two halves of a verdict, and the failure."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import quotients
from workbench.errors import WorkbenchError
from workbench.widgets.text.numerals import spaced


def overflow() -> wb.Graph:
    """exp overflows, and the infinity becomes a NaN one node later."""
    b = wb.GraphBuilder("overflow")
    start = b.placeholder("start", "float64", (3,))
    _, y = b.while_loop(
        lambda k, y: k < 4, lambda k, y: (k + 1, np.exp(y) - np.exp(y * 1.5)), (b.constant(0, "int64"), start)
    )
    return b.build({"y": y})


@pytest.fixture
def panel():
    made = wb.debug(overflow(), {"start": np.array([0.0, 800.0, 1.0])})
    open_view(made.toolbar)
    yield made
    made.close()


def test_the_chain_begins_at_the_overflow_and_each_row_is_what_the_run_has_computed(panel):
    session = panel.session
    session.run()
    panel.toolbar.update_now()
    assert until(lambda: panel.why.part.status["health"].get("chain")), panel.toolbar.status
    chain = panel.why.part.status["health"]["chain"]
    origin = wb.nan_origin(session)
    assert [row["node"] for row in chain] == [*([origin.because.node] if origin.because else []), origin.node]
    for row in chain:
        value = session.trace[row["node"]].at(tuple(row["iteration"]))
        assert (np.isnan(value) if row["gives"].startswith("NaN") else np.isinf(value)).any(), row
        assert row["where"] == f"iteration {row['iteration'][-1]}" and "while/" not in row["formula"] + row["why"]
    assert any(item in chain[0]["formula"] for item in ("800", "1200")) and " at [1]" in chain[0]["gives"], chain[0]
    assert panel.why.part.status["health"]["title"] == panel.toolbar.status["health_title"]


def test_a_row_leads_to_its_place(panel):
    panel.session.run()
    panel.toolbar.update_now()
    assert until(lambda: panel.why.part.status["health"].get("chain")), panel.toolbar.status
    first = panel.why.part.status["health"]["chain"][0]
    panel.why.handle_message("go", {"row": 0})
    assert panel.selection.node == first["node"] and list(panel.selection.moment.iteration) == first["iteration"]
    panel.why.handle_message("go", {"row": 99})
    panel.why.handle_message("go", {"row": None})
    assert panel.selection.node == first["node"]


def test_stop_at_the_first_adds_one_breakpoint_that_stops_there(panel):
    panel.why.stop_at_the_first()
    panel.why.stop_at_the_first()
    assert len(list(panel.session.breakpoints)) == 1
    panel.session.run()
    assert panel.session.state == "paused" and panel.session.position.node


def test_the_table_stays_below_the_strips_and_the_rest_goes_to_the_pane(panel):
    panel.termination.update_now()
    below, behind = panel.termination.verdict.status, panel.termination.why.status
    assert (below["part"], behind["part"]) == ("clauses", "why")
    assert {k: v for k, v in below.items() if k != "part"} == {k: v for k, v in behind.items() if k != "part"}
    with wb.Session(overflow(), {"start": np.zeros(3)}) as session:
        alone = wb.widgets.TerminationView(session)
        assert alone.why is None and alone.verdict.status["part"] == "all"
        alone.close()


def test_a_recorded_run_has_no_cards_and_no_pane(panel, tmp_path):
    panel.session.run()
    recorded = wb.open_finding(panel.save(tmp_path / "found.wbfinding"))
    assert recorded.why is None and recorded.termination.verdict.status["part"] == "all"
    recorded.close()


def test_a_failure_is_told_with_its_report():
    panel = wb.debug(quotients(2), {"n": 2})
    open_view(panel.toolbar)
    panel.session.run()
    panel.toolbar.update_now()
    assert until(lambda: panel.why.part.status["failure"]), panel.toolbar.status
    failure = panel.why.part.status["failure"]
    assert "100 // k failed: k is 0 (" in failure["error"] and "operands:" in failure["report"]
    panel.session.restart()
    panel.toolbar.update_now()
    assert until(lambda: panel.why.part.status["failure"] == {}), panel.why.part.status
    panel.close()


def test_show_opens_it_by_code_and_knows_the_cards(panel):
    panel.why.show("verdict")
    assert (panel.why.part.status["card"], panel.why.part.status["opened"]) == ("verdict", 1)
    panel.why.show("")
    assert (panel.why.part.status["card"], panel.why.part.status["opened"]) == ("", 2)
    with pytest.raises(WorkbenchError, match="Unknown card 'graph'") as caught:
        panel.why.show("graph")
    assert caught.value.slug == "no-card"


def test_the_pane_lists_what_is_known_with_its_check_and_repeats_nothing_of_the_card():
    @wb.graph
    def search(limit):
        i = 0
        step = 0
        while i < limit:
            i = i + step
        return i

    panel = wb.debug(search.graph_for(10), {"limit": 10})
    panel.termination.update_now()
    shown, answer = panel.termination.why.status, panel.session.termination()
    card = panel.toolbar.status["verdict"]
    said = {spaced(c.sentence): spaced(c.checked_by) for c in answer.claims if c.check()}
    on_card = [text for text in said if text.rstrip(".") in card["detail"]]
    rows = shown["claims"]
    assert len(rows) == len(said) and len(on_card) > 1 and all(row["how"] in said.values() for row in rows)
    # in the order of the card, and by number: its sentences are not written again
    found = sorted(on_card, key=card["detail"].find)
    assert [row["text"] for row in rows[: len(found)]] == [f"Sentence {k + 1} on the card" for k in range(len(found))]
    assert [row["how"] for row in rows[: len(found)]] == [said[text] for text in found]
    assert {row["text"] for row in rows[len(found) :]} == set(said) - set(on_card)
    panel.close()
