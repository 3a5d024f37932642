"""Values and views in pandas, matplotlib and kaleido: `make test-watch`."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch


@pytest.fixture(scope="module")
def session():
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    with wb.Session(b.build(x), {"a": 2.0}) as session:
        session.run()
        yield session


def test_pandas_takes_a_series_as_an_array(session):
    pandas = pytest.importorskip("pandas")
    series = session.trace["x"]
    assert pandas.Series(np.asarray(series)).tolist() == series.values.tolist()
    assert pandas.DataFrame({"x": series})["x"].tolist() == series.values.tolist()
    assert series.to_pandas().iloc[-1] == series[-1]


def test_matplotlib_draws_a_series_as_it_is(session):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    series = session.trace["x"]
    figure, axes = pyplot.subplots()
    (line,) = axes.plot(series)
    assert line.get_ydata().tolist() == series.values.tolist()
    pyplot.close(figure)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium: `make browser`")
def test_views_are_written_as_pictures(session, tmp_path, monkeypatch):
    pytest.importorskip("kaleido")
    monkeypatch.setenv("BROWSER_PATH", shutil.which("chromium"))
    from workbench.widgets import EvolutionView

    view = EvolutionView(session)
    try:
        svg = view.to_image(tmp_path / "curve.svg")
        png = view.to_image(tmp_path / "curve.png", "dark", scale=1)
    finally:
        view.close()
    assert b"<svg" in svg.read_bytes()[:200] and png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert png.stat().st_size > 2_000
