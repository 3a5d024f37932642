"""One label for a value at a moment: every screen shows it, and it is computed once, whichever screen is first."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.live import label
from workbench.analysis.live.follower import Follower
from workbench.analysis.live.label import label_of
from workbench.cli.mcp.held import hold
from workbench.cli.mcp.looking import workbench_value
from workbench.recorder.outlook import Outlooks
from workbench.session.run_setup import pattern_of
from workbench.widgets.evolution.evolution_model import EvolutionModel

#: updates of x, and iterations after which it is looked at
LOOPS = {
    "settles": (lambda x: 0.9 * x + 1.0, 3.0, (7, 40, 300)),
    "turns": (lambda x: -x, 2.0, (9, 33, 64)),
    "grows": (lambda x: 1.5 * x + 1.0, 1.0, (6, 30, 60)),
    "wanders": (lambda x: 3.9 * x * (1.0 - x), 0.3, (20, 600, 5000)),
    "rests": (lambda x: x * 1.0, 4.0, (5, 50)),
    "arrives and rests": (lambda x: 0.5 * x, 1e300, (5000,)),
}


def stepped(name):
    update, start, moments = LOOPS[name]
    b = wb.GraphBuilder("one")
    out = b.while_loop(
        lambda i, x: i < 9999, lambda i, x: (i + 1, update(x)), {"i": b.constant(np.int64(0)), "x": b.constant(start)}
    )
    with wb.Session(b.build({"x": out["x"]}), {}) as session:
        for k in moments:
            session.run_to("x", k)
            yield session, k


def screens(session):
    """The label of x on each screen, one after the other."""
    trace, ref = session.trace, session.trace.ref("x")
    (panel,) = EvolutionModel(["x"], judged=True).update(trace)["verdicts"]
    yield "panel", panel["label"].upper()
    yield "breakpoint", pattern_of(trace, ref, tuple(trace["x"].iterations[-1]))
    yield "report", wb.analyze(session).variables["x"].label.name
    yield "report of the trace", wb.analyze(trace).variables["x"].label.name
    yield "follower", Follower(session).evolution("x").label.name
    yield "agent", workbench_value(hold(session), "x")["evolution"]["label"]


@pytest.mark.parametrize("name", LOOPS)
def test_all_screens_show_one_label_which_is_computed_once(name, monkeypatch):
    asked = []
    judged = label._judged

    def counted(column):
        asked.append((len(column), float(column.values[-1])))
        return judged(column)

    monkeypatch.setattr(label, "_judged", counted)
    for session, k in stepped(name):
        label._answers.clear()
        asked.clear()
        shown = dict(screens(session))
        assert set(shown.values()) == {label_of(session.trace, "x").label.name}, shown
        now = float(session.trace["x"][-1])
        assert [at for at in asked if at[1] == now] == [(min(k, 4096), now)]


def test_a_watch_shows_the_label_of_its_report():
    watch = wb.watch("one", show=False)
    for k in range(80):
        watch(x=3.0 + 0.8**k, c=complex(np.cos(k), np.sin(k)))
        rows = {v.name: v.evolution for v in Outlooks().look(watch).variables}
        for name, row in rows.items():
            told = watch.analyze().variables[name].evolution if k in (3, 20, 79) else row
            assert (row.label, row.limit, row.issues) == (told.label, told.limit, told.issues), (k, name)
    assert rows["x"].label is wb.Pattern.CONVERGING and rows["c"].method == "norm"


def test_what_a_screen_does_with_an_answer_changes_no_other():
    for session, _ in stepped("settles"):
        one = label_of(session.trace, "x")
        one.why.append("changed")
        one.issues["nan"], one.label = 3, wb.Pattern.CHAOTIC
        other = label_of(session.trace, "x")
        assert "changed" not in other.why and "nan" not in other.issues and other.label is not one.label


def test_a_label_of_an_iteration_that_is_not_kept_is_none():
    for session, k in stepped("settles"):
        assert pattern_of(session.trace, session.trace.ref("x"), (k + 50,)) is None
        assert label_of(session.trace, "x", (k - 2,)).count == k - 1


def test_a_breakpoint_stops_where_the_label_of_the_panel_changes():
    b = wb.GraphBuilder("breaks")
    out = b.while_loop(
        lambda i, x: i < 600,
        lambda i, x: (i + 1, b.where(i < 200, x * 0.9 + 1.0, x * 1.3)),
        {"i": b.constant(np.int64(0)), "x": b.constant(3.0)},
    )
    with wb.Session(b.build({"x": out["x"]}), {}) as session:
        point = session.breakpoints.add("x", health="pattern")
        session.run()
        (at,) = session.trace["x"].iterations[-1].tolist()
        (panel,) = EvolutionModel(["x"], judged=True).update(session.trace)["verdicts"]
        assert (at, panel["label"]) == (208, "diverging")
        assert label_of(session.trace, "x", (192,)).label is wb.Pattern.CONVERGING
        session.run()
        assert session.state == "finished"
        assert [tag.iteration for tag in session.breakpoints.recheck(point)] == [(208,)]
