"""A panel leaves nothing in the kernel when its output, cell, tab or kernel ends: nothing that nobody holds."""

from __future__ import annotations

import json

from tests.browser.lab import write_notebook
from tests.browser.page import KERNEL, Page
from tests.browser.panel import Panel
from tests.browser.waits import at_rest, until

LOOK = """
import json, threading
import ipywidgets
import workbench as wb
from workbench.session import live_sessions
from workbench.widgets.live import acknowledgement, pump
def left():
    print(json.dumps({
        "threads": sorted(t.name for t in threading.enumerate() if t.name.startswith("workbench")),
        "comms": len(ipywidgets.widgets.widget._instances),
        "sessions": sum(w.is_open for w in list(live_sessions._OPEN))}))
def graph():
    b = wb.GraphBuilder("halving")
    start = b.placeholder("start", "float64", ())
    _, y = b.while_loop(lambda k, y: k < 40, lambda k, y: (k + 1, y * 0.5 + 1.0), (b.constant(0, "int64"), start))
    return b.build({"y": y})
"""
OPEN = "panel = wb.debug(graph(), {'start': 100.0})\npanel"
NOTHING = {"threads": [], "comms": 0, "sessions": 0}
# code in a kernel whose notebook is not open
AFAR = """async ([id, code]) => {
  const kernel = jupyterapp.serviceManager.kernels.connectTo({model: {id, name: 'python3'}});
  let text = '';
  const future = kernel.requestExecute({code, store_history: false});
  future.onIOPub = m => { if (m.header.msg_type === 'stream') text += m.content.text; };
  await future.done;
  kernel.dispose();
  return text.trim();
}"""
CELLS = [LOOK, OPEN]


def left(page) -> dict:
    return json.loads(page.kernel("left()"))


def test_a_cell_that_is_run_again_leaves_one_panel(opened):
    Panel(opened.page, 0).click("next_iteration", "paused")
    before = at_rest(lambda: left(opened), pause=1.0)
    assert before["sessions"] == 1 and "workbench-pump" in before["threads"]
    opened.kernel("first = panel.session; del_first = panel.graph.model_id")
    opened.kernel("del first")
    for _ in range(2):
        opened.run_cell(1)
        Panel(opened.page, 0).click("next_iteration", "paused")
        until(lambda: left(opened), before)


def test_a_cleared_output_leaves_no_thread_of_the_views_and_what_has_no_name_is_closed(opened):
    clear = "() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
    opened.page.evaluate(clear)
    until(lambda: "workbench-pump" in left(opened)["threads"], False)
    assert left(opened)["sessions"] == 1  # the name still means it, and it can be shown again
    opened.kernel("del panel")
    until(lambda: left(opened), NOTHING)
    opened.run_cell(1)
    Panel(opened.page, 0).click("next_iteration", "paused")
    opened.kernel("del panel")  # still on the page
    assert left(opened)["sessions"] == 1
    opened.page.evaluate(clear)
    until(lambda: left(opened), NOTHING)


def test_a_closed_panel_leaves_nothing(opened):
    opened.run_cell(1)
    panel = Panel(opened.page, 0)
    panel.click("next_iteration", "paused")
    opened.kernel("for name in panel.panes.names: panel.panes.show(name)")
    panel.until("return panel.querySelector('.workbench-is-stack')")
    panel.click("run", "finished")
    opened.kernel("panel.close(); panel.close()")
    until(lambda: left(opened), NOTHING)
    opened.page.wait_for_function("() => document.querySelectorAll('.workbench-figure').length === 0", timeout=120_000)


def test_a_restarted_kernel_begins_with_nothing(opened):
    opened.run_cell(1)
    Panel(opened.page, 0).click("next_iteration", "paused")
    assert opened.script_errors() == []
    opened.page.evaluate(f"async () => {{ await {KERNEL}.restart(); }}")
    opened.page.wait_for_function(f"() => {KERNEL}.status === 'idle'", timeout=120_000)
    opened.kernel(LOOK)
    until(lambda: left(opened), NOTHING)
    opened.run_cell(1)
    Panel(opened.page, 0).click("next_iteration", "paused")
    assert opened.script_errors() == [] and opened.failed_cells() == []


def test_a_tab_that_was_closed(opened, desk):
    opened.kernel("acknowledgement.PATIENCE_S, pump.KNOCK_S = 0.5, 0.5")
    kernel = opened.page.evaluate(f"() => {KERNEL}.id")
    context = opened.page.context
    opened.page.close()  # no farewell to the kernel
    write_notebook(desk.notebooks / "other.ipynb", ["1"])
    other = Page(context.new_page(), desk.url, desk.token)
    other.open("other.ipynb")

    def afar(code="left()"):
        return other.page.evaluate(AFAR, [kernel, code])

    until(lambda: "workbench-pump" in json.loads(afar())["threads"], False)
    afar("del panel")
    until(lambda: json.loads(afar()), NOTHING)
    assert other.script_errors() == []
