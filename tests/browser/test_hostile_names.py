"""Names with tags and scripts in them, in every view and pane of a panel in a real JupyterLab: shown, not obeyed."""

from __future__ import annotations

from tests.browser.panel import Panel

HOSTILE = """
import workbench as wb
EVIL = "<img src=x onerror=window.obeyed=1><script>window.obeyed=1</script>"
b = wb.GraphBuilder(f"g{EVIL}")
x0 = b.placeholder(f"x{EVIL}", "float64", ())
x = b.while_loop(lambda v: v < 10.0, lambda v: v + 1.0, x0, name=f"loop{EVIL}")
panel = wb.debug(b.build({f"out{EVIL}": x}), {f"x{EVIL}": 0.0})
panel.session.breakpoints.add(f"x{EVIL}")
for name in panel.panes.names:
    panel.panes.show(name)
panel
"""
CELLS = [HOSTILE]


def test_names_are_shown_and_not_obeyed(opened):
    panel = Panel(opened.page, 0)
    panel.show()
    for command in ("next_iteration", "next_iteration", "step", "step_back"):
        panel.click(command, "paused")
    panel.time(0)
    for name in ("breakpoints", "stack", "timeline", "explain", "code", "export"):
        panel.until("return panel.querySelector(`.workbench-is-${args[0]}`)", name)
    opened.kernel("panel.selection.select(list(panel.session.graph.inputs)[0])")
    panel.until("return panel.innerText.includes('<img')")
    assert opened.page.evaluate("() => window.obeyed === undefined")
    assert panel.ask("return panel.querySelectorAll('img[src=x], script').length") == 0
    assert opened.script_errors() == [] and opened.outside() == []
    assert opened.kernel("print(panel.graph.pump.errors)") == "[]"
