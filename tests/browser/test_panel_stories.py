"""What people of real issue trackers wanted to do, done in the panel in a real JupyterLab."""

from __future__ import annotations

from tests.browser.cells import ENDLESS
from tests.browser.panel import Panel

LONG = """
b = wb.GraphBuilder("halving")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 140, lambda k, y: (k + 1, y * 0.5 + 1.0), (b.constant(0, "int64"), start))
long = wb.debug(b.build({"y": y}), {"start": 100.0})
long
"""
NAN = """
b = wb.GraphBuilder("roots")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 20, lambda k, y: (k + 1, np.sqrt(y - 1.0)), (b.constant(0, "int64"), start))
nan = wb.debug(b.build({"y": y}), {"start": 30.0})
nan
"""


CELLS = [ENDLESS, LONG, NAN]


def test_why_a_loop_never_stops(opened):
    panel = Panel.fresh(opened.page, 0)
    for _ in range(3):
        panel.click("next_iteration", "paused")
    panel.says("termination", "never")
    words = panel.ask("return panel.querySelector('.workbench-is-termination').innerText")
    assert "PROVED" in words.upper(), words


def test_iteration_65_of_140(opened):
    panel = Panel.fresh(opened.page, 1)
    panel.until("return panel.querySelector('.workbench-time-count').textContent === 'has not run'")
    panel.ask("panel.querySelector('.workbench-time-jump').focus()")
    opened.page.keyboard.type("65")
    opened.page.keyboard.press("Enter")
    panel.until("return panel.querySelector('.workbench-crumbs').textContent.includes('65')")
    assert opened.kernel("print(long.session.position.iteration)") == "(65,)"


def test_how_long_until_it_converges(opened):
    panel = Panel.fresh(opened.page, 1)
    for _ in range(12):
        panel.click("next_iteration", "paused")
    panel.says("evolution", "converging")
    panel.says("termination", "more iterations")


def test_inspect_and_plot_while_it_is_paused(opened):
    panel = Panel.fresh(opened.page, 1)
    panel.click("run", "finished")
    found = opened.kernel("print(len(long.session.trace['y'].values), round(float(long.session.value('y', 10)), 6))")
    assert found.split()[0] == "141"
    panel.time(10)
    panel.click("step_back", "paused")


def test_the_first_nan_and_where_it_came_from(opened):
    panel = Panel.fresh(opened.page, 2)
    opened.kernel("nan.session.breakpoints.clear(); nan.session.breakpoints.add('*', health='nan')")
    panel.click("run", "paused")
    assert "nan" in panel.status("reason").lower()
    panel.pane("explain")
    panel.press("explain", "Find NaN")
    panel.says("explain", "sqrt")


def test_an_expected_nan_is_ignored(opened):
    panel = Panel.fresh(opened.page, 2)
    opened.kernel(
        "nan.session.breakpoints.clear(); nan.session.breakpoints.add('*', health='nan');"
        "nan.session.breakpoints.ignore('*', health='nan')"
    )
    panel.pane("breakpoints")
    panel.click("run", "finished")
    opened.kernel("nan.session.breakpoints.clear()")


def test_dead_tokens_are_explained(opened):
    panel = Panel.fresh(opened.page, 1)
    panel.click("next_iteration", "paused")
    panel.click("step_into", "")
    words = panel.ask("return panel.querySelector('.workbench-is-control-flow').innerText")
    assert "dead" in words.lower()


def test_two_runs_that_differ_show_the_first_difference(opened):
    panel = Panel.fresh(opened.page, 1)
    panel.ask("panel.querySelector('.workbench-time-jump').focus()")
    opened.kernel(
        "long.session.run_to('y', 5); other = long.session.fork(); other.step(); other.set_value('y', 7.0);"
        "other.run(); long.session.run()"
    )
    panel.pane("compare")
    panel.ask("return panel.querySelectorAll('.workbench-is-compare select').length")
    opened.kernel("view = long.panes.views['compare']; view.refresh(); view.right.value = 'fork 1'")
    panel.press("compare", "Compare")
    panel.says("compare", "values differ")
    panel.until("return panel.querySelector('.workbench-is-compare').innerText.includes('5')")


def test_the_finding_is_one_file(opened):
    panel = Panel.fresh(opened.page, 1)
    panel.click("next_iteration", "paused")
    panel.pane("export")
    panel.ask("panel.querySelector('[data-write=finding]').click()")
    panel.until("return panel.querySelector('.workbench-is-export [data-file]')", seconds=60)
    place = panel.ask("return panel.querySelector('.workbench-is-export [data-file]').dataset.file")
    told = opened.kernel(
        f"again = wb.open_finding({place!r}, live=True);"
        "print(again.session.position == long.session.position); again.close()"
    )
    assert told == "True"
    panel.pane("code")
    panel.says("code", "panel.save(")


def test_no_script_and_no_view_failed(opened):
    assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
    assert opened.kernel("print(long.graph.pump.errors + nan.graph.pump.errors + endless.graph.pump.errors)") == "[]"
