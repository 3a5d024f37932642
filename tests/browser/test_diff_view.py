"""Two runs compared in a real JupyterLab: an ONNX loop against onnxruntime's own values, and a fork after a fix."""

from __future__ import annotations

import pytest

from tests.browser.lab import TESTS
from tests.browser.waits import until

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

STORY = """
from tests.analysis.diff.test_run_with import NESTED, from_onnx, f, i, model
import workbench as wb
from workbench.widgets.live.selection import Selection
feeds = {"x0": f(0.3), "M": i(4)}
record = wb.run_with("onnxruntime", model(NESTED.format(op="Mul")), feeds)
session = wb.Session(from_onnx(model(NESTED.format(op="Add"))), feeds)
session.run()
selection = Selection()
view = wb.widgets.DiffView(wb.diff(session, record, rtol=1e-6, labels=("export", "onnxruntime")), selection=selection)
stack = wb.widgets.CallStackView(session, selection=selection)
"""
HOSTILE = """
import numpy as np
name = "<img src=x onerror='window.obeyed=1'>"
hostile = wb.widgets.DiffView(wb.diff({name: np.arange(40.0)}, {name: np.arange(40.0) ** 1.01}, labels=(name, "b")))
hostile
"""
CELLS = [TESTS, STORY, "view", "stack", HOSTILE]
ROWS = "[...document.querySelectorAll('.workbench-diff')[0].querySelectorAll('.workbench-diff-rows tbody tr')]"
FIGURE = "document.querySelectorAll('.workbench-figure')[0]"


def test_the_first_difference_in_a_notebook(opened, tmp_path):
    page = opened.page
    page.wait_for_function(f"() => {ROWS}.length > 3 && {FIGURE}?._fullLayout", timeout=120_000)

    # story 1: the first node that differs, inside of both loops, and that the error comes from there
    first = lambda: page.evaluate(f"() => {ROWS}[0].innerText")  # noqa: E731
    until(first, lambda first: "source" in first and "w" in first.split() and "0" in first)
    said = lambda: page.evaluate("() => document.querySelector('.workbench-diff-said').textContent")  # noqa: E731
    until(said, lambda said: "onnxruntime" in said and "agree" in said)
    until(lambda: page.evaluate(f"() => {ROWS}[0].getAttribute('aria-selected')"), "true")

    # a click selects in all views of the selection, and shows that value's curve
    number = page.evaluate(f"() => {ROWS}.findIndex(r => r.querySelector('code')?.textContent === 'y')")
    page.evaluate(f"() => {ROWS}[{number}].click()")
    page.wait_for_function(f"() => {ROWS}[{number}].getAttribute('aria-selected') === 'true'", timeout=120_000)
    opened.heard("selection.moment is not None and selection.moment.iteration == (0,)")
    page.wait_for_function(
        f"() => {FIGURE}.layout.title.text.startsWith('y:') && {FIGURE}.data[0].x.length === 4", timeout=120_000
    )
    page.wait_for_function(
        "() => [...document.querySelectorAll('[aria-label=\"Call stack\"]')][0].innerText.includes('Looking at')",
        timeout=120_000,
    )

    # the same by keyboard: up with the arrow, Enter chooses
    page.evaluate(f"() => {ROWS}[{number}].focus()")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {ROWS}[1].getAttribute('aria-selected') === 'true'", timeout=120_000)
    page.wait_for_function(f"() => document.activeElement === {ROWS}[1]")  # the keyboard stays where it was

    # names with tags are shown, not obeyed
    page.wait_for_function("() => document.querySelectorAll('.workbench-diff').length === 2", timeout=120_000)
    page.wait_for_function("() => document.querySelectorAll('.workbench-diff')[1].innerText.includes('<img')")
    assert page.evaluate("() => window.obeyed === undefined && !document.querySelector('.workbench-diff img')")

    for theme in ("Light", "Dark"):
        opened.theme(theme)
        page.evaluate("() => document.querySelector('.workbench-diff').scrollIntoView()")
        page.screenshot(path=str(tmp_path / f"diff-{theme}.png"))
        colours = """() => { const d = document.querySelector('.workbench-diff-rows th');
                return [getComputedStyle(d).color, getComputedStyle(d).backgroundColor]; }"""
        light = theme == "Light"
        until(lambda c=colours: page.evaluate(c), lambda c, light=light: (_bright(c[0]) < _bright(c[1])) is light)
    assert opened.script_errors() == [] and opened.outside() == []
    opened.kernel("view.close(); stack.close(); hostile.close(); session.close()")
    opened.tells("import ipywidgets; print(len(ipywidgets.widgets.widget._instances))", "0")


def _bright(colour: str) -> float:
    parts = [float(p) for p in colour.removeprefix("rgba(").removeprefix("rgb(").rstrip(")").split(",")[:3]]
    return sum(parts) / 3
