"""The view of a sweep in a real JupyterLab: it fills while the sweep runs, a click opens that very run."""

from __future__ import annotations

import pytest

from tests.browser.lab import TESTS
from tests.browser.waits import at_rest

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
    page.wait_for_function(f"() => {FIGURE}?._fullLayout", timeout=120_000)
    assert opened.kernel("print(found.wait().state)") == "finished"
    page.wait_for_function(
        f"() => {{ const z = {FIGURE}.data[0].z; return z.length === 21 && Number.isFinite(z[20][48]); }}",
        timeout=120_000,
    )
    page.evaluate(
        f"() => {FIGURE}.emit('plotly_click', {{points: [{{curveNumber: 0, pointNumber: [0, 28], x: 4.0, y: 1e-12,"
        " data: {}}], event: {}})"
    )
    page.wait_for_function("() => document.body.innerText.includes('a 4, tol 1e-12')", timeout=120_000)
    page.wait_for_selector(".workbench-debugger", timeout=120_000)
    told = opened.kernel("s = view._opened[0].session; s.run(); print(bool(s.outputs['x'] == found['x'][view.point]))")
    assert told == "True"


def test_a_box_that_is_dragged_is_swept_again_and_back_returns(opened):
    page = opened.page
    area = page.locator(".workbench-figure").first.locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    box = at_rest(area.bounding_box)
    place = lambda share: (box["x"] + share * box["width"], box["y"] + share * box["height"])  # noqa: E731
    page.mouse.move(*place(0.25))
    page.mouse.down()
    page.mouse.move(*place(0.5), steps=5)
    page.mouse.move(*place(0.75), steps=5)
    page.mouse.up()
    page.wait_for_function(f"() => {FIGURE}.data[0].x[0] > -1 && {FIGURE}.data[0].x.length === 49", timeout=120_000)
    told = opened.kernel("s = view.sweep.wait(); a = s['a']; print(s.shape, -0.3 < a.min() < 0.3, 5.7 < a.max() < 6.3)")
    assert told == "(49, 21) True True"
    field = page.get_by_label("Box", exact=True)
    field.fill("a=2:3")
    field.press("Enter")
    page.wait_for_function(f"() => {FIGURE}.data[0].x[0] === 2", timeout=120_000)
    for _ in range(2):
        page.get_by_role("button", name="Back", exact=True).click()
    page.wait_for_function(f"() => {FIGURE}.data[0].x[0] === -3", timeout=120_000)
    opened.heard("view.sweep is found")


@pytest.fixture(scope="module", autouse=True)
def _ended(opened):
    yield
    opened.kernel("view.close()")
