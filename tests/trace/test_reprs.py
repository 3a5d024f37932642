"""Sessions, traces and answers as a notebook shows them: short, escaped, in the page's colours; and as NumPy and pandas
take them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import nested
from tests.session.test_edits import newton
from tests.widgets.graphs import EVIL, evil
from workbench.errors import TraceError


@pytest.fixture
def session():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.breakpoints.add("x", when="value < 0")
        session.run_to("x", iteration=2)
        session.set_value("x", 3.0)
        session.run()
        yield session


def things(session: wb.Session) -> dict:
    return {
        "session": session,
        "graph": session.graph,
        "trace": session.trace,
        "series": session.trace["x"],
        "breakpoints": session.breakpoints,
        "breakpoint": session.breakpoints[1],
        "stop": session.run(),
        "forecast": wb.iterations_to_tolerance([1 + 0.5**k for k in range(12)], 1e-6),
        "termination": session.termination(),
        "evolution": wb.classify(session.trace["x"].values),
        "explanation": session.explain("x"),
        "diff": wb.diff(session, session.histories[0]),
    }


def test_all_are_short_and_take_the_colours_of_the_page(session):
    for name, thing in things(session).items():
        shown = thing._repr_html_()
        assert len(repr(thing)) < 200 and "\n" not in repr(thing), name
        assert len(shown) < 20_000 and "#fff" not in shown and "color:" not in shown and "<script" not in shown, name
    shown = {name: thing._repr_html_() for name, thing in things(session).items()}
    assert "before edit 1" in shown["session"] and "finished" in shown["session"]
    assert "<th" in shown["series"] and "... " not in shown["series"] and "1 more" in shown["series"]
    assert "value &lt; 0" in shown["breakpoints"] and "1 values" in shown["trace"]
    assert "value &lt; 0" in shown["breakpoint"] and "session.breakpoints.add(" in shown["breakpoint"]
    assert "Stop FINISHED" in shown["stop"] and "<td" in shown["stop"] and "20 to 20" in shown["forecast"]
    assert repr(things(session)["termination"]).startswith("<Termination PROVED")


def test_names_are_shown_and_not_obeyed():
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.run()
        for thing in (session, session.graph, session.trace, session.termination()):
            assert "<img" not in thing._repr_html_()


def test_numpy_takes_a_series(session):
    series = session.trace["x"]
    assert np.array_equal(np.asarray(series), series.values) and np.asarray(series, np.float32).dtype == np.float32
    assert float(np.max(series)) == 3.0


def test_pandas_takes_them(session):
    pytest.importorskip("pandas")
    column = session.trace["x"].to_pandas()
    assert column.name == "x" and column.index.tolist() == list(range(7)) and column[2] == 3.0
    table = session.trace.to_pandas()
    assert list(table.columns) == ["x", "n"] and table["n"].tolist() == list(range(7))
    assert "name" in wb.diff(session, session.histories[0]).to_pandas().columns
    answer = wb.classify([1 + 0.5**k for k in range(20)])
    row = answer.to_pandas()
    assert row["label"] == "CONVERGING" and row["rate"] == answer.rate and row["count"] == 20
    with wb.Session(nested(2), {"start": 0.0}) as deep:
        deep.run()
        inner = next(n for n in deep.trace.names() if len(deep.trace[n].frame) == 2)
        assert deep.trace[inner].to_pandas().index.nlevels == 2
        outer = next(n for n in deep.trace.names() if len(deep.trace[n].frame) == 1)
        with pytest.raises(TraceError) as caught:
            deep.trace.to_pandas([inner, outer])
        assert caught.value.slug == "not-one-loop"


def test_without_pandas_the_error_says_so(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for ask in (
        session.trace["x"].to_pandas,
        session.trace.to_pandas,
        wb.diff(session, session.histories[0]).to_pandas,
        wb.classify([1.0, 2.0, 3.0]).to_pandas,
    ):
        with pytest.raises(TraceError) as caught:
            ask()
        assert caught.value.slug == "missing-library" and "pip install pandas" in str(caught.value)
