"""Values that a user wrote are marked as such: in the chain of a value, and in a comparison, which blames no node."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.widgets.compare.diff_model import diff_model
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.values.explain_model import explain_rows


@wb.graph
def newton(a: float, x: float, tol: float):
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@pytest.fixture(params=["session", "file"])
def runs(request, tmp_path):
    """(the run with an edit, the run without)."""
    inputs = {"a": 2.0, "x": 100.0, "tol": 1e-12}
    with wb.Session(newton, inputs) as plain, wb.Session(newton, inputs) as edited:
        plain.run()
        edited.run_to("x", iteration=8)
        edited.step()
        edited.set_value("x", 3.0)
        edited.run()
        if request.param == "session":
            yield edited, plain
            return
        for k, session in enumerate((edited, plain)):
            session.trace.save(tmp_path / f"{k}.wbtrace")
        yield tuple(wb.Trace.load(tmp_path / f"{k}.wbtrace") for k in range(2))


def test_the_chain_says_what_was_set_by_hand(runs):
    edited, plain = runs
    chain = edited.explain("x", max_links=500)
    told = [link for link in chain if link.edited]
    assert told and all(link.value == 3.0 for link in told)
    assert {link.edited.split(", was 1.41624")[0] for link in told} == {"set by hand to 3.0"}
    assert "x[" in str(told[0]) or "(set by hand to 3.0, was 1.41624" in str(told[0])
    assert "set by hand" in chain.text(most=None)
    assert "set by hand" not in plain.explain("x", max_links=500).text(most=None)
    assert [d["edited"] for d in chain.to_dict()["links"]] == [link.edited for link in chain]
    # a value computed from existing operands is the result of its op
    for link in chain:
        values = [chain.links[k].value for k in link.sources]
        if link.op == "multiply" and not link.edited:
            assert link.value == values[0] * values[-1], link
    graph = edited.graph
    rows = explain_rows(chain, Spoken(graph))
    assert any("set by hand to 3.0" in row["note"] for row in rows)


@pytest.mark.parametrize("turned", [False, True])
def test_a_comparison_blames_no_node_for_an_edit(runs, turned):
    a, b = runs if turned else reversed(runs)
    found = wb.diff(a, b)
    side = "a" if turned else "b"
    text = str(found)
    assert f"was set by hand to 3.0 in {side}, was 1.41624" in text and "no node is to blame" in text
    assert "its output does not" not in text
    assert found.first.edited.startswith(f"set by hand to 3.0 in {side}")
    rows = diff_model(found, None, None)["rows"]
    assert rows[0]["word"] == "edited" and not rows[0]["source"]
    assert all(row["word"] != "edited" for row in rows if row["iteration"] > [8])


def test_without_edits_nothing_is_called_edited():
    with (
        wb.Session(newton, {"a": 2.0, "x": 100.0, "tol": 1e-12}) as one,
        wb.Session(newton, {"a": np.nextafter(2.0, 3.0), "x": 100.0, "tol": 1e-12}) as two,
    ):
        one.run()
        two.run()
        assert all(row.edited == "" for row in wb.diff(one, two).rows)
