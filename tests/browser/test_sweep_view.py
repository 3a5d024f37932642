"""The view of a sweep in a real JupyterLab: it fills while the sweep runs, a click opens that very run."""

from __future__ import annotations

import pytest

from tests.browser.lab import TESTS

MAKE = """
import numpy as np
import workbench as wb
from tests.sweep.graphs import newton
found = wb.sweep(
    newton(), {"a": np.linspace(-3.0, 9.0, 49), "tol": np.geomspace(1e-12, 1e-2, 21)}, work=20_000, wait=False
)
view = found.view("iterations")
view
"""
CELLS = [TESTS, MAKE]
FIGURE = "document.querySelectorAll('.workbench-figure')[0]"


def test_a_map_fills_and_a_click_opens_that_run(opened):
    page = opened.page
    page.wait_for_function(f"() => {FIGURE}?._fullLayout", timeout=60_000)
    assert opened.kernel("print(found.wait().state)") == "finished"
    page.wait_for_function(
        f"() => {{ const z = {FIGURE}.data[0].z; return z.length === 21 && Number.isFinite(z[20][48]); }}",
        timeout=30_000,
    )
    page.evaluate(
        f"() => {FIGURE}.emit('plotly_click', {{points: [{{curveNumber: 0, pointNumber: [0, 28], x: 4.0, y: 1e-12,"
        " data: {}}], event: {}})"
    )
    page.wait_for_function("() => document.body.innerText.includes('a 4, tol 1e-12')", timeout=30_000)
    page.get_by_role("button", name="Open this run").click()
    page.wait_for_selector(".workbench-debugger", timeout=60_000)
    told = opened.kernel("s = view._opened[0].session; s.run(); print(bool(s.outputs['x'] == found['x'][view.point]))")
    assert told == "True"


@pytest.fixture(scope="module", autouse=True)
def _ended(opened):
    yield
    opened.kernel("view.close()")
