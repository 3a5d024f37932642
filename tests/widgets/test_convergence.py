"""Convergence plots: the data, the specifications of the three places that show them, and their bounds."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.analysis.report.test_report import relaxation, slow
from tests.widgets.graphs import counter
from workbench.analysis.forecast.convergence_curve import AHEAD, POINTS, convergence, forecast_gap, forecast_values
from workbench.errors import WorkbenchError
from workbench.widgets import EvolutionView, TerminationView
from workbench.widgets.evolution.convergence_model import convergence_model
from workbench.widgets.termination.termination_model import TerminationModel


def crossing_of(values: np.ndarray, limit: float, tolerance: float) -> int:
    """The first iteration from which on the error stays within the tolerance, by looking at all of them."""
    return int(np.flatnonzero(np.abs(values - limit) > tolerance)[-1]) + 1


@pytest.mark.parametrize(("rate", "seen"), [(0.9, 40), (0.99, 200), (-0.8, 30), (0.5, 14)])
def test_the_forecast_of_a_geometric_error_is_the_error(rate, seen):
    k = np.arange(2000)
    values = 3.0 + 5.0 * rate**k
    plot = convergence(wb.classify(values[:seen]), values[:seen], k[:seen], tolerance=1e-4)
    assert plot is not None and plot.ahead is not None
    truth = np.abs(5.0 * rate**plot.ahead.iterations)
    assert np.allclose(plot.ahead.value, truth, rtol=1e-3, atol=1e-9)
    assert np.all(plot.ahead.low <= plot.ahead.value) and np.all(plot.ahead.value <= plot.ahead.high)
    at, low, high = plot.crossing
    assert low <= at <= high and abs(at - crossing_of(values, 3.0, 1e-4)) <= 1
    assert "expected within 0.0001 in iteration" in plot.sentence


def test_the_band_holds_the_truth_of_noisy_errors():
    """Of 200 noisy geometric errors: a quarter of the record ahead the band holds the true distance in 90 %."""
    rng, inside, asked = np.random.default_rng(5), 0, 0
    for _ in range(200):
        rate, n = rng.uniform(0.8, 0.97), int(rng.integers(30, 60))
        k = np.arange(2 * n)
        clean = 1.0 + rate**k
        values = clean[:n] * (1.0 + 1e-6 * rng.normal(size=n))
        plot = convergence(wb.classify(values), values, k[:n])
        if plot is None or plot.ahead is None:
            continue
        near = int(np.searchsorted(plot.ahead.iterations, n + n // 4))
        at = int(plot.ahead.iterations[min(near, len(plot.ahead.iterations) - 1)])
        truth = abs(1.0 + rate**at - plot.limit)
        asked += 1
        inside += plot.ahead.low[near] <= truth <= plot.ahead.high[near]
    assert asked >= 150 and inside >= 0.87 * asked, (inside, asked)


def test_what_does_not_converge_has_no_such_plot():
    k = np.arange(50.0)
    assert convergence(wb.classify(k), k, np.arange(50)) is None
    assert convergence(wb.classify([1.0]), np.array([1.0]), np.arange(1)) is None


def test_the_values_of_a_counter_go_on():
    ahead = forecast_values(wb.classify(np.arange(20)), 19, np.array([1.0, 5.0]))
    assert ahead.value.tolist() == [20.0, 24.0] == ahead.low.tolist() == ahead.high.tolist()
    assert ahead.iterations.tolist() == [20.0, 24.0]
    gap = forecast_gap(wb.classify(np.arange(10, 0, -1)), 9, np.array([1.0, 2.0]))
    assert gap.value.tolist() == [0.0, 1.0]  # it passes zero


def test_figures_are_bounded_and_complete():
    with wb.Session(slow(), {"n": 300_000}) as session:
        session.run()
        a = wb.analyze(session)
        for name in ("x", "i"):
            for theme in ("light", "dark"):
                figure = a.figure(name, 1e-3, theme)
                assert sum(len(t.x) for t in figure.data) <= POINTS + 3 * AHEAD + 600
        with pytest.raises(WorkbenchError, match="Unknown theme"):
            a.figure("x", theme="pink")
        with pytest.raises(KeyError):
            a.figure("nonsense")
        with pytest.raises(WorkbenchError, match="Unknown theme"):
            a.to_html(theme="pink")


def test_a_plot_has_tolerance_crossing_and_a_table():
    with wb.Session(relaxation(), {"x0": 50.0}) as session:
        for _ in range(60):
            session.next_iteration()
        a = wb.analyze(session)
        model = convergence_model(a.variables["x"], 1e-3)
        truth = crossing_of(2.0 + 48.0 * 0.9 ** np.arange(300), 2.0, 1e-3)
        at, low, high = model["crossing"]
        assert low <= truth <= high and abs(at - truth) <= 1 and model["log"]
        assert model["ahead"]["x"][0] == model["x"][-1] and len(model["rows"]) > 12
        layout = a.figure("x", 1e-3).layout
        assert any(s.y0 == s.y1 == 1e-3 for s in layout.shapes) and any(s.x0 == s.x1 == at for s in layout.shapes)
        assert "within the tolerance from" in layout.title.text
        page = a.to_html()
        assert page.count("<details>") == 1 and "(forecast)" in page and 'role="group"' in page
        assert "cdn" not in page.split("<body>")[0]


def last_iteration(session) -> int:
    """The iteration in which the loop ends, from a copy that runs to the end."""
    with session.fork() as fork:
        fork.run()
        return int(fork.trace["x"].iterations[-1, 0])


def test_the_evolution_view_shows_distances_and_forecasts():
    with wb.Session(relaxation(), {"x0": 50.0}) as session:
        for _ in range(60):
            session.next_iteration()
        recorded = EvolutionView(session.trace, scale="error", tolerance=1e-3)
        _, _, band, forecast, _ = recorded.figure.data
        recorded.close()
        view = EvolutionView(session, scale="error", tolerance=1e-3)
        try:
            line, ahead, *none, _ = view.figure.data
            x = session.trace["x"].values
            assert np.allclose(np.asarray(line.y, float), np.abs(x - 2.0), rtol=1e-6)
            assert view.figure.layout.yaxis.type == "log"
            assert forecast.x[0] == len(x) - 1 and band.fill == "toself" and len(forecast.y) > 5
            assert not any(len(t.x) for t in none), "there is a proof: nothing is forecast"
            assert ahead.x[0] == len(x) - 1 and ahead.x[-1] == last_iteration(session)
            assert any(s.y0 == 1e-3 for s in view.figure.layout.shapes)
            view.show(session.snapshot())
            assert (
                "<summary>Each variable in a sentence</summary>" in view.words.value
                and "distance to the limit" in view.words.value
            )
            view.scale = "linear"
            assert np.allclose(np.asarray(view.figure.data[0].y, float), x)
            count = len(view.figure.data)
            session.restart()
            session.next_iteration()
            assert len(view.figure.data) <= count
        finally:
            view.close()
        with pytest.raises(WorkbenchError, match="Unknown scale"):
            EvolutionView(session, scale="cubic")


def test_the_termination_view_shows_where_the_loop_ends():
    with wb.Session(relaxation(), {"x0": 50.0}) as session:
        for _ in range(60):
            session.next_iteration()
        expected = last_iteration(session)
        proved, forecast = TerminationView(session), TerminationView(session.trace)
        try:
            for view in (proved, forecast):
                shapes = view.figure.layout.shapes
                ends = [s for s in shapes if s.type == "line" and s.x0 == s.x1 and s.x0 > len(session.trace["x"])]
                assert len(ends) == 1 and abs(ends[0].x0 - expected) <= (view is forecast)
            left, ahead, _, none, _ = proved.figure.data
            assert not len(none.x) and ahead.x[-1] == expected and ahead.y[0] == left.y[-1]
            left, ahead, band, line, _ = forecast.figure.data
            assert not len(ahead.x) and abs(line.y[0] - left.y[-1]) < 1e-12 and band.fill == "toself"
            truth = 48.0 * 0.9 ** np.asarray(line.x)
            good = truth > 1e-3
            assert np.allclose(np.asarray(line.y, float)[good], truth[good], rtol=0.05)
        finally:
            proved.close(), forecast.close()


def test_a_loop_that_never_ends_has_no_end_in_the_plot():
    with wb.Session(counter(), {"start": 0.0}) as session:
        for _ in range(30):
            session.next_iteration()
        model = TerminationModel(session.graph).update(session.trace, lambda: session.termination())
        assert model["end"] is None or model["verdict"]["outcome"] == "terminates"
        assert model["clauses"][0]["ahead"] is not None
