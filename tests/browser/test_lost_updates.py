"""A figure in the browser that lost an update is drawn anew, and still answers afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.lab import CHROMIUM, browser_page, lab_server
from tests.browser.notebook import ask_kernel, open_cells

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed"),
]

CELL = """
import workbench as wb
b = wb.GraphBuilder("newton")
a = b.placeholder("a", "float64")
x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
session = wb.Session(b.build(x), {"a": 2.0})
session.run()
view = wb.widgets.EvolutionView(session)
view
"""
FIGURE = "document.querySelector('.workbench-figure')"
TRACES = f"() => {FIGURE}?.data?.length"


def test_a_lost_update_is_found_and_drawn(tmp_path):
    with lab_server(tmp_path) as (url, token), browser_page(url, token) as page:
        open_cells(page, tmp_path, "lost.ipynb", [CELL])
        count = int(ask_kernel(page, "print(len(view.live.data))"))
        page.page.wait_for_function(f"({TRACES})() === {count}", timeout=60_000)
        # the browser alone drops two traces; the next update tells
        ask_kernel(page, "view.live._send_deleteTraces_msg([0, 1]); view.live.push({0: {'name': 'x'}})")
        page.page.wait_for_function(f"({TRACES})() === {count}", timeout=60_000)
        assert int(ask_kernel(page, "print(len(view.live.data))")) == count
        points = page.page.evaluate(f"{FIGURE}.data.map(t => (t.x ?? []).length)")
        assert max(points) >= 5
        # each message is carried out once, also after the redraw
        ask_kernel(page, "view.live.push({0: {'name': 'again'}}, {'height': 300})")
        page.page.wait_for_function(f"() => {FIGURE}.data[0].name === 'again'", timeout=60_000)
        assert page.page.evaluate(TRACES) == count
        ask_kernel(page, "view.close(); session.close()")
        assert [e for e in page.errors if "Canceled" not in e] == []
