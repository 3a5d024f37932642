"""Panes that open and close, and cells that are run again, leave no elements, listeners or scripts in the page."""

from __future__ import annotations

import pytest

from tests.browser.panel import Panel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(480)]

CELLS = [
    """
import workbench as wb
b = wb.GraphBuilder("halving")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 40, lambda k, y: (k + 1, y * 0.5 + 1.0), (b.constant(0, "int64"), start))
panel = wb.debug(b.build({"y": y}), {"start": 100.0})
panel
"""
]
OPEN = """return args[0].every(key => {
  const pane = panel.querySelector(`.workbench-is-${key}`);
  return pane && pane.childElementCount && [...pane.querySelectorAll('.workbench-figure')].every(f => f._fullLayout);
})"""
CLOSED = "return panel.querySelectorAll('.workbench-pane').length === 0"
TIMES = 6
#: counts that seem to grow are looked at for up to so many times: the page around the panel swings by up to 16 nodes
LONG = 24
#: the page's caches (fonts, styles, plotly's own) are full after so many times
SETTLED = 3


def counted(page, client) -> dict[str, int]:
    """Elements and listeners of the page once it is at rest and what nobody holds is collected."""
    page.wait_for_timeout(600)
    found: dict[str, int] = {}
    for _ in range(20):
        client.send("HeapProfiler.collectGarbage")
        metrics = {m["name"]: int(m["value"]) for m in client.send("Performance.getMetrics")["metrics"]}
        now = {name: metrics[name] for name in ("Nodes", "JSEventListeners")}
        if now == found:
            break
        found = now
        page.wait_for_timeout(200)
    return found


def objects(client, prototype: str) -> int:
    """How many live objects of the page have this prototype; what nobody holds is collected first."""
    root = client.send("Runtime.evaluate", {"expression": prototype})["result"]["objectId"]
    found = client.send("Runtime.queryObjects", {"prototypeObjectId": root})["objects"]["objectId"]
    length = {"functionDeclaration": "function() { return this.length; }", "objectId": found, "returnByValue": True}
    number = client.send("Runtime.callFunctionOn", length)["result"]["value"]
    for one in (root, found):
        client.send("Runtime.releaseObject", {"objectId": one})
    return number


def grown(counts: list[dict[str, int]]) -> dict[str, int]:
    """By how much it grew once caches were full, up to the last time or the one before it, whichever is less.

    Something of the browser's own may be on its way at one of them; what each time leaves is there at both.
    """
    spans = ((SETTLED - 1, -1), (SETTLED - 2, -2))
    return {
        name: min(counts[last][name] - counts[first][name] for first, last in spans)
        for name in ("Nodes", "JSEventListeners")
    }


def counted_each_time(once, page, client) -> list[dict[str, int]]:
    """Counts after each of `once()`, called 6 times, and more often for as long as they grew by one each time.

    Parts of JupyterLab that are drawn again (the kernel's state, buttons that React keeps twice) move the count up and
    down by a few nodes; against what is left each time, even a single node, they do not matter when it is many times.
    """
    counts: list[dict[str, int]] = []
    while len(counts) < TIMES or (len(counts) < LONG and max(grown(counts).values()) >= len(counts) - SETTLED):
        once()
        counts.append(counted(page, client))
    return counts


def test_panes_that_open_and_close_again_and_again_leave_no_nodes_and_no_listeners(opened):
    panel = Panel(opened.page, 0)
    panel.click("run", "finished")
    client = opened.page.context.new_cdp_session(opened.page)
    client.send("Performance.enable")
    parsed: list[int] = []
    client.on("Debugger.scriptParsed", lambda of: of["url"].startswith("blob:") and parsed.append(of["length"]))
    client.send("Debugger.enable")
    keys = opened.kernel("print(*panel.panes.names)").split()
    assert len(keys) == 11
    script: list[int] = []

    def once():
        opened.kernel("for name in panel.panes.names: panel.panes.show(name)")
        panel.until(OPEN, keys)
        opened.kernel("for name in panel.panes.names: panel.panes.hide(name)")
        panel.until(CLOSED)
        script.append(sum(parsed))

    counts = counted_each_time(once, opened.page, client)
    assert max(grown(counts).values()) < len(counts) - SETTLED, counts  # not even one for each time
    # of a widget that is made again only the loader is, as long as the page is open
    assert len(parsed) > TIMES and script[-1] - script[0] < (len(script) - 1) * 20_000, script
    assert opened.script_errors() == [] and opened.outside() == []


def test_a_cell_that_is_run_again_leaves_nothing_of_its_last_panel(opened):
    client = opened.page.context.new_cdp_session(opened.page)
    client.send("Performance.enable")

    def once():
        opened.run_cell(0)
        Panel(opened.page, 0).click("run", "finished")

    counts = counted_each_time(once, opened.page, client)
    assert max(grown(counts).values()) < len(counts) - SETTLED, counts
    assert opened.script_errors() == []


def test_a_cell_that_is_run_again_keeps_no_objects_of_its_scripts_but_those_of_jupyterlab_and_anywidget(opened):
    """JupyterLab keeps a listener for each comm that was ever open, and the browser a module for each widget of
    anywidget: about 480 functions and 600 other objects each time, for the 92 comms of a panel."""
    client = opened.page.context.new_cdp_session(opened.page)
    client.send("Performance.enable")
    comms = "jupyterapp.shell.currentWidget.sessionContext.session.kernel._comms.size"

    def look() -> dict[str, int]:
        counted(opened.page, client)
        kinds = {"functions": "Function.prototype", "others": "Object.prototype"}
        now = {kind: objects(client, prototype) for kind, prototype in kinds.items()}
        now["others"] -= now["functions"]
        return {**now, "comms": opened.page.evaluate(f"() => {comms}")}

    counts: list[dict[str, int]] = []
    for _ in range(SETTLED + 5):
        opened.run_cell(0)
        Panel(opened.page, 0).click("run", "finished")
        counts.append(look())
    first, last = counts[SETTLED - 1], counts[-1]
    assert first["comms"] == last["comms"] > 50, counts
    for kind, of_comm in (("functions", 7), ("others", 10)):
        assert last[kind] - first[kind] < 5 * of_comm * last["comms"], counts
