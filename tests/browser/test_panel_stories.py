"""Tasks from real issue trackers, done in the panel in a real JupyterLab; 1 and 15 have a module of
their own, test_panel_finding.py."""

from __future__ import annotations

import json

import pytest

from tests.browser.cells import ENDLESS, NESTED
from tests.browser.panel import Panel
from tests.browser.waits import until

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
#: the logarithm of what gets negative is expected here; the NaN and the Inf of the others are not
EXPECTED = """
b = wb.GraphBuilder("expected")
x0 = b.placeholder("x0", "float64", ())
x, y, _ = b.while_loop(
    lambda x, y, i: i < 5, lambda x, y, i: (x - 1.0, np.log(x) * 0.0 + 1.0 / (i - 3) + np.sqrt(x), i + 1),
    (x0, x0, b.constant(0.0)), name="loop")
expected = wb.debug(b.build({"x": x, "y": y}), {"x0": 2.5})
expected
"""
CELLS = [ENDLESS, LONG, NAN, NESTED, EXPECTED]


def test_why_a_loop_never_stops(opened):
    """Story 2: the loop is proved endless, and the input of its condition that does not change is named."""
    panel = Panel.fresh(opened.page, 0)
    for _ in range(4):
        panel.click("next_iteration", "paused")
    panel.card("verdict", "proved: never stops", "i < limit")
    panel.says("termination", "i < limit")
    panel.why("verdict")
    panel.says("why", "cause", "no iteration changes the values that the condition reads")
    blamed = lambda: panel.ask("return panel.querySelector('.workbench-is-why dl').innerText")  # noqa: E731
    until(lambda: blamed().split("Cause")[1].split()[0], "i")
    assert opened.kernel("print(*endless.session.termination().root)") == "i"
    panel.wait_for("evolution", lambda traces: len(traces[0][0]) >= 3 and set(traces[0][1]) == {0})  # a flat curve


def test_the_first_nan_and_where_it_came_from(opened):
    """Story 3: the run stops at the first NaN; op, iteration and responsible operand are shown; a click leads there."""
    panel = Panel.fresh(opened.page, 2)
    opened.kernel("nan.session.breakpoints.clear(); nan.session.breakpoints.add('*', health='nan')")
    panel.click("run", "paused")
    until(lambda: panel.status("reason"), lambda reason: "nan" in reason.lower())
    # the health line is there without being asked for, and leads there
    panel.card("health", "sqrt is NaN in iteration ", "sqrt(")
    panel.ask("panel.querySelector('.workbench-health button').click()")
    panel.until("return panel.querySelector('.workbench-time-told').textContent.startsWith('looking at iteration ')")
    panel.pane("explain")
    panel.press("explain", "Find NaN")
    panel.says("explain", "has no square root")
    found = opened.kernel("o = wb.nan_origin(nan.session); print(o.iteration[0])")
    until(
        lambda: panel.ask("return panel.querySelector('.workbench-explain-origin').innerText"),
        lambda words: "sqrt" in words and "no square root" in words and f"iteration {found}" in words,
    )
    panel.ask("panel.querySelector('.workbench-explain-origin button').click()")
    panel.until(
        "return panel.querySelector('.workbench-time-told').textContent.endsWith(args[0])", f"iteration {found}"
    )
    opened.tells("print(nan.selection.node)", "while/sqrt")
    opened.kernel("nan.session.breakpoints.clear()")


def test_expected_nans_are_ignored_and_the_others_logged(opened):
    """Story 4: what is expected is ignored by name, all the rest is logged, and the run never halts."""
    panel = Panel.fresh(opened.page, 4)
    panel.pane("breakpoints")
    box = opened.page.locator(".workbench-debugger").nth(4).locator(".workbench-is-breakpoints")
    for kind, health, where in (
        ("log health", "nan", "*"),
        ("log health", "inf", "*"),
        ("ignore", "nan", "loop/log*"),
        ("ignore", "nan", "loop/mul*"),
    ):
        box.locator("input[name=where]").fill(where)
        box.locator("select").first.select_option(kind)
        box.locator("select").nth(1).select_option(health)
        box.locator("button[type=submit]").click()
        panel.says("breakpoints", f"ignore nan of {where}" if kind == "ignore" else "logs")
    panel.click("run", "finished")
    panel.says("breakpoints", "inf at", "nan at")
    lines = until(  # of x, from where on it is negative
        box.locator(".workbench-flow-log button").all_text_contents,
        lambda lines: any("sqrt" in line and "nan" in line for line in lines) and any("inf" in line for line in lines),
    )
    assert not any("/log" in line or "/mul" in line for line in lines), lines
    box.locator(".workbench-flow-log button").first.click()
    panel.until("return panel.querySelector('.workbench-time-told').textContent.startsWith('looking at iteration ')")


OPS = [
    ("Enter", "outer/i/Enter", "starts as", ""),
    ("Merge", "outer/i/Merge", "", ""),
    ("Switch", "outer/i/Switch", "", ""),
    ("NextIteration", "inner/j/NextIteration", "", "dead in an earlier iteration: on a branch not taken"),
    ("Exit", "inner/j/Exit", "", ""),
]


def press_in_view(box, command):
    """Press a button of the graph that is behind "View" where the graph is narrow; what is pressed folds it again."""
    button = box.locator(f"button[data-command={command}]")
    if not button.is_visible():
        box.get_by_text("View \u25be").click()
    button.click()


@pytest.mark.parametrize(("op", "name", "drawn", "told"), OPS)
def test_what_frames_are_made_of(opened, op, name, drawn, told):
    """Story 8: each of the five is found by its kind, and told with its frame, its value, or why it has none."""
    panel = Panel.fresh(opened.page, 3)
    panel.click("next_iteration", "paused")
    panel.click("next_iteration", "paused")
    box = opened.page.locator(".workbench-debugger").nth(3).locator(".workbench-is-graph")
    press_in_view(box, "ops")
    panel.until("return panel.querySelector('button[data-command=ops]').ariaPressed === 'true'")
    press_in_view(box, "all-open")
    box.locator("input[type=search]").fill(f"op:{op} name~{name.split('/')[1]}")
    box.locator("input[type=search]").press("Enter")
    panel.until("return panel.querySelector('.workbench-is-graph .workbench-facts b').textContent === args[0]", name)
    facts = "return [...panel.querySelectorAll('.workbench-facts span')].map(s => s.textContent)"
    until(
        lambda: panel.ask(facts),
        lambda facts: facts[0] == op and any(f.startswith("in outer") for f in facts) and told in [*facts, ""],
    )
    until(lambda: panel.data("graph"), lambda graph: drawn in graph and op in graph)
    press_in_view(box, "ops")
    panel.until("return panel.querySelector('button[data-command=ops]').ariaPressed === 'false'")
    panel.wait_for("graph", lambda traces: f"<b>{op}</b>" not in json.dumps(traces))


def test_dead_tokens_and_inputs_from_different_frames(opened):
    """Story 8: why a token is dead is told with the decision; an edge out of a frame is an error that names both."""
    panel = Panel.fresh(opened.page, 3)
    panel.click("run", "finished")
    opened.kernel("nested_panel.selection.select('outer/cond/subtract'); nested_panel.time.look(1)")
    panel.press("control flow", "Dead paths")
    panel.says("control flow", "outer/cond/subtract is dead at outer 1")
    shown = opened.add_cell(
        "b = wb.GraphBuilder('wrong')\n"
        "inside = b.op('Enter', b.placeholder('x', 'float64', ()), frame_name='loop', is_constant=False)\n"
        "b.build({'y': inside + b.placeholder('y', 'float64', ())})"
    )
    assert "come from different frames: 'Enter' is in loop, 'y' is in the outermost level" in shown
    assert "Enter(is_constant=True)" in shown and len(opened.failed_cells()) == 1
    opened.delete_cell()


def test_iteration_65_of_140(opened):
    """Story 11: a number and Enter, and the session stands there."""
    panel = Panel.fresh(opened.page, 1)
    panel.until("return panel.querySelector('.workbench-time-count').textContent === 'has not run yet'")
    panel.ask("panel.querySelector('.workbench-time-jump').focus()")
    opened.page.keyboard.type("65")
    opened.page.keyboard.press("Enter")
    panel.until("return panel.querySelector('.workbench-crumbs').textContent.includes('65')")
    opened.tells("print(long.session.position.iteration)", "(65,)")
    panel.click("run", "finished")
    panel.time(64)
    panel.looks_at("looking at iteration 64")  # and in what is recorded the slider looks at any


def test_how_long_until_it_converges(opened):
    """Story 12: the curve is called converging, with its limit, and the number of iterations left is told."""
    panel = Panel.fresh(opened.page, 1)
    for _ in range(12):
        panel.click("next_iteration", "paused")
    panel.says("evolution", "converging")
    panel.says("evolution", "ends at 2")
    now = int(opened.kernel("print(long.session.snapshot().iterations[('while',)])"))
    panel.card("verdict", f"stops after {140 - now} more iterations")


def test_inspect_and_plot_while_it_is_paused(opened):
    """Story 13: at a breakpoint in the middle, cells of the notebook read and plot; the run goes on afterwards."""
    panel = Panel.fresh(opened.page, 1)
    opened.kernel("long.session.breakpoints.clear(); long.session.breakpoints.add('k', when='value == 70')")
    panel.click("run", "paused")
    shown = opened.add_cell("values = long.session.trace['y'].values\nlen(values), round(float(values[10]), 6)")
    assert shown.endswith("(70, 2.095703)"), shown
    opened.delete_cell()
    opened.add_cell("curve = wb.widgets.EvolutionView(long.session, ['y'])\ncurve")
    plotted = """count => [...document.querySelectorAll('.jp-Notebook .jp-Cell')].at(-1)
        .querySelector('.workbench-figure')?.data?.some(t => t.x?.length === count)"""
    opened.page.wait_for_function(plotted, arg=70, timeout=120_000)
    assert panel.state() == "paused", "nobody moved it"
    panel.click("step", "paused")
    panel.click("run", "finished")
    opened.page.wait_for_function(plotted, arg=141, timeout=120_000)
    opened.kernel("curve.close(); long.session.breakpoints.clear()")
    opened.delete_cell()


def test_two_runs_that_differ_show_the_first_difference(opened):
    panel = Panel.fresh(opened.page, 1)
    opened.kernel(
        "long.session.run_to('y', 5); other = long.session.fork(); other.step(); other.set_value('y', 7.0);"
        "other.run(); long.session.run()"
    )
    panel.pane("compare")
    opened.kernel("view = long.panes.views['compare']; view.refresh(); view.right.value = 'copy 1'")
    panel.press("compare", "Compare")
    panel.says("compare", "values differ")
    panel.until("return panel.querySelector('.workbench-is-compare').innerText.includes('5')")


def test_no_script_and_no_view_failed(opened):
    assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
    panels = "(long, nan, endless, nested_panel, expected)"
    assert opened.kernel(f"print([e for p in {panels} for e in p.graph.pump.errors])") == "[]"
