"""The panel and the live view in a real marimo server, in a real Chromium: `make test-watch`."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.lab import CHROMIUM, chromium, patient, wait_for
from tests.browser.waits import until
from tests.ports import free_port

pytestmark = [
    pytest.mark.watch,
    pytest.mark.timeout(600),
    pytest.mark.skipif(importlib.util.find_spec("marimo") is None, reason="marimo is not installed"),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed"),
]

NOTEBOOK = """
import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import time

    import marimo as mo
    import numpy as np

    import workbench as wb

    return mo, np, time, wb


@app.cell
def _(np, wb):
    b = wb.GraphBuilder("newton")
    a, start = b.placeholder("a", "float64", ()), b.placeholder("start", "float64", ())
    root = b.while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), start)
    panel = wb.debug(b.build({"root": root}), {"a": 2.0, "start": 100.0})
    panel
    return


@app.cell
def _(wb):
    with wb.watch("halving", until={"error": ("<", 1e-12)}) as loop:
        error = 1.0
        while error > 1e-12:
            error *= 0.5
            loop(error=error)
    return


@app.cell
def _(mo, time, wb):
    slow = wb.watch("slow", until={"error": ("<", 1e-300)})

    def work():
        value = 1.0
        while not slow(error=value):
            value *= 0.9999
            time.sleep(0.005)
        slow.finish()

    thread = mo.Thread(target=work)
    thread.start()
    return
"""
#: all elements of a page with a class, also those in shadow roots
FIND = """
window.everywhere = selector => {
  const found = [];
  const look = root => {
    found.push(...root.querySelectorAll(selector));
    for (const node of root.querySelectorAll('*')) if (node.shadowRoot) look(node.shadowRoot);
  };
  look(document);
  return found;
};
window.said = (selector, words) => everywhere(selector).some(e => e.innerText.includes(words));
"""


@contextlib.contextmanager
def server(folder: Path):
    """marimo on the notebook as an app, which runs all cells automatically; yields its address."""
    notebook = folder / "loops.py"
    notebook.write_text(NOTEBOOK)
    port = free_port()
    command = [sys.executable, "-m", "marimo", "run", str(notebook), "--headless", "--no-token", f"--port={port}"]
    home = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    log = folder / "marimo.log"
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env={**os.environ, **home})
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with server(tmp_path_factory.mktemp("marimo")) as url, chromium() as browser:
        page = patient(browser, viewport={"width": 1400, "height": 1000}).new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.add_init_script(FIND)
        page.goto(url)
        yield page


def test_a_panel_is_drawn_and_steps(page):
    page.wait_for_function("everywhere('.workbench-debugger .workbench-figure').length >= 4", timeout=120_000)
    page.wait_for_function("everywhere('.workbench-state')[0]?.dataset.state === 'ready'")
    page.evaluate("everywhere('button[data-command=run]')[0].click()")
    page.wait_for_function("everywhere('.workbench-state')[0].dataset.state === 'finished'")
    page.wait_for_function("said('.workbench-card-verdict', 'nded after')")
    page.wait_for_function("said('.workbench-state', 'Finished')")


def test_a_pane_opens_inside_of_the_panel(page):
    page.evaluate("everywhere('[data-pane=stack]')[0].click()")
    page.wait_for_function("everywhere('.workbench-debugger .workbench-is-stack')[0]?.innerText")
    page.wait_for_function("everywhere('.workbench-tool-stack')[0].getClientRects().length === 1")


def test_a_watch_shows_itself_below_its_cell(page):
    page.wait_for_function("said('.workbench-watch', 'halving') && said('.workbench-watch-state', 'finished')")
    outlook = page.wait_for_function("said('.workbench-watch-outlook', 'Ended after 40 iterations')")
    assert outlook.json_value()


def watches(page) -> list[str]:
    """The texts of all watches on the page."""
    return page.evaluate("everywhere('.workbench-watch').map(e => e.innerText)")


def test_the_button_stops_a_loop_of_a_thread(page):
    until(lambda: watches(page), lambda texts: any("slow" in t and "running" in t for t in texts))
    found = "everywhere('.workbench-watch').find(e => e.innerText.includes('slow'))"
    page.evaluate(f"{found}.querySelector('button').click()")
    until(lambda: watches(page), lambda texts: any("slow" in t and "stopped" in t for t in texts))
    page.wait_for_function(f"{found}.querySelector('button').disabled")


def test_no_script_failed(page):
    assert page.errors == []
