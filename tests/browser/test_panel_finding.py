"""An export that computes other numbers: found in the panel against onnxruntime's values, and attached as one file."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.lab import TESTS
from tests.browser.panel import Panel
from tests.browser.waits import until

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

#: two loops in each other; the original multiplies where the export adds
MODELS = """
import onnx, workbench as wb
from tests.analysis.diff.test_run_with import NESTED, f, i, model
onnx.save(model(NESTED.format(op="Mul")), "original.onnx")
onnx.save(model(NESTED.format(op="Add")), "export.onnx")
feeds = {"x0": f(0.3), "M": i(4)}
"""
PANEL = """
panel = wb.debug(wb.load("export.onnx"), feeds)
panel
"""
ADD = """
record = wb.run_with("onnxruntime", "original.onnx", feeds)
panel.panes.show("compare").add("onnxruntime", record)
"""
CELLS = [TESTS, MODELS, PANEL, ADD]


@pytest.fixture
def panel(opened):
    assert opened.failed_cells() == []
    return Panel.fresh(opened.page, 0)


def test_the_first_node_that_differs_from_onnxruntime(opened, panel):
    """Story 1: in the Compare pane the first row is the node inside of both loops from which the error comes; a click
    looks at it in all views."""
    panel.click("run", "finished")
    box = opened.page.locator(".workbench-is-compare")
    box.locator("select").nth(1).select_option("onnxruntime")
    box.locator("input[type=number]").fill("1e-6")
    box.locator("input[type=number]").press("Enter")
    panel.press("compare", "Compare")
    panel.says("compare", "values differ")
    rows = box.locator(".workbench-diff-rows tbody tr")
    first = rows.nth(0)
    until(first.locator("code").first.text_content, "w")
    until(first.inner_text, lambda row: "source" in row)
    names = rows.locator("code:first-of-type").all_text_contents
    until(names, lambda names: names[0] == "w" and {"y", "xN"} <= set(names))  # what comes of it stands below
    first.click()
    panel.until(
        "return panel.querySelector('.workbench-time-told').textContent.startsWith('looking at while i < M and c: 0')"
    )
    opened.tells("print(panel.selection.node, panel.selection.moment.iteration)", "w (0, 0)")
    panel.until("return panel.querySelector('.workbench-is-value [data-field=name]').value === 'w'")
    panel.until(
        """const curve = panel.querySelector('.workbench-is-compare .workbench-figure');
           return curve?.layout?.title?.text?.startsWith('w:') && curve.data[0].x.length > 0"""
    )
    panel.pane("code")
    panel.says("code", "wb.diff(a, b, rtol=1e-06)")


def _downloaded(opened, panel, what, tmp_path):
    """Write a file with its button, press its link, and return the file that the browser downloaded."""
    panel.pane("export")
    panel.ask("panel.querySelector(`[data-write=${args[0]}]`).click()", what)
    done = f"panel.querySelector('.workbench-is-export [data-write={what}]').closest('div').nextElementSibling"
    panel.until(f"return {done}?.querySelector('[data-file]')")
    with opened.page.expect_download(timeout=120_000) as coming:
        panel.ask(f"{done}.querySelector('button').click()")
    path = tmp_path / coming.value.suggested_filename
    coming.value.save_as(path)
    written = panel.ask(f"return {done}.querySelector('[data-file]').dataset.file")
    size = opened.kernel(f"import os; print(os.path.getsize({written!r}))")
    assert path.stat().st_size == int(size) > 1000, "all of it"
    return path


def test_the_page_is_downloaded_and_works_offline(opened, panel, offline, tmp_path):
    """Story 15: the link of the Export pane brings one HTML file, whose slider moves the pictures, offline."""
    for _ in range(3):
        panel.click("next_iteration", "paused")
    path = _downloaded(opened, panel, "page", tmp_path)
    assert path.suffix == ".html"
    page = offline(path)
    seen = []
    for k in range(2):
        page.evaluate(
            """k => { const range = document.querySelector('input[type=range]');
                      range.value = k; range.dispatchEvent(new Event('input')); }""",
            k,
        )
        page.wait_for_function(f"() => document.querySelector('output').textContent.endsWith(' {k}')")
        picture = "document.querySelector('.workbench-picture').innerText"
        page.wait_for_function(f"seen => !seen.includes({picture})", arg=seen)
        seen.append(page.evaluate(f"() => {picture}"))
    assert page.errors_ == [] and [r for r in page.requests_ if not r.startswith(("file:", "data:", "blob:"))] == []


def test_the_finding_is_downloaded_and_opened_by_somebody_else(opened, panel, tmp_path):
    """Story 15: the other file goes on in another process, from the same place, looking at the same value."""
    for _ in range(3):
        panel.click("next_iteration", "paused")
    opened.kernel("panel.selection.select('y'); panel.session.breakpoints.clear(); panel.session.breakpoints.add('w')")
    path = _downloaded(opened, panel, "finding", tmp_path)
    again = wb.open_finding(path, live=True)
    try:
        assert str(again.session.position) == opened.kernel("print(panel.session.position)")
        assert again.selection.node == "y" and [p.text for p in again.session.breakpoints] == ["w"]
        assert again.session.run().reason.name == "BREAKPOINT"
    finally:
        again.close()
    panel.pane("code")
    panel.says("code", "panel.save(")


def test_no_script_and_no_view_failed(opened, panel):
    assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
    assert opened.kernel("print(panel.graph.pump.errors)") == "[]"
