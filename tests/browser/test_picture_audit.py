"""The picture audit: twelve panels, three widths, light and dark, all tools, looked over for faults.

The default run looks at one panel, light, at two widths; the rest is slow.
"""

from __future__ import annotations

import pytest

from tests.browser.audit import AUDIT, OUTSIDE, audit
from tests.browser.cells import PLATE
from tests.browser.drawn import wrong_values
from tests.browser.panel import Panel

pytestmark = pytest.mark.timeout(900)

START = "import numpy as np\nimport workbench as wb\n"
#: name -> code that gives ``panel``
WORKLOADS = {
    "no loop": """
b = wb.GraphBuilder("flat")
x = b.placeholder("x", "float32", (8, 16))
for k in range(12):
    x = np.tanh(x @ b.constant(np.random.default_rng(k).normal(size=(16, 16)).astype("f4")))
panel = wb.debug(b.build({"y": x}), {"x": np.ones((8, 16), "f4")})
panel.session.run()
""",
    "nan": """
b = wb.GraphBuilder("roots")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 20, lambda k, y: (k + 1, np.sqrt(y - 1.0)), (b.constant(0, "int64"), start))
panel = wb.debug(b.build({"y": y}), {"start": 30.0})
panel.session.run()
""",
    "endless": """
@wb.graph
def search(limit):
    i = 0
    step = 0
    while i < limit:
        i = i + step
    return i
panel = wb.debug(search.graph_for(10), {"limit": 10})
panel.session.next_iteration(3)
""",
    "nested": """
b = wb.GraphBuilder("nested")
n, zero = b.placeholder("n", "int64", ()), b.constant(0, "int64")
def outer(i, s):
    _, t = b.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (b.constant(0, "int64"), s), name="inner")
    return i + 1, b.cond(t > 10, lambda: t - 3, lambda: t + 1)
i, s = b.while_loop(lambda i, s: i < n, outer, (zero, zero), name="outer")
panel = wb.debug(b.build({"i": i, "s": s}), {"n": 8})
panel.session.next_iteration(5)
panel.session.step(20)
""",
    "three variables": """
b = wb.GraphBuilder("train")
w = b.placeholder("w", "float64", (2,))
k, w, loss = b.while_loop(
    lambda k, w, loss: k < 200, lambda k, w, loss: (k + 1, w * 12.0 * np.sin(w), np.log(w[0])),
    (b.constant(0, "int64"), w, b.constant(1.0)))
panel = wb.debug(b.build({"loss": loss}), {"w": np.array([44.4, -23.3])})
panel.session.run()
""",
    "two dimensions": f"""{PLATE}
panel = wb.debug(graph, {{"u": spot}})
panel.session.next_iteration(30)
""",
    "2595 nodes": """
b = wb.GraphBuilder("deep")
x = b.placeholder("x", "float32", (16,))
for k in range(2594):
    x = (np.tanh, np.sin, np.abs)[k * k % 3](x)
panel = wb.debug(b.build({"y": x}), {"x": np.ones(16, "f4")})
panel.session.run()
""",
    "a million": """
b = wb.GraphBuilder("chaos")
x = b.placeholder("x", "float64", ())
k, y = b.while_loop(lambda k, x: k < 1_000_000, lambda k, x: (k + 1, 3.9 * x * (1.0 - x)), (b.constant(0, "int64"), x))
panel = wb.debug(b.build({"y": y}), {"x": 0.3})
panel.session.run()
""",
    "after an edit": """
b = wb.GraphBuilder("newton")
a, start = b.placeholder("a", "float64", ()), b.placeholder("start", "float64", ())
root = b.while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), {"x": start})
panel = wb.debug(b.build(root), {"a": 2.0, "start": 100.0})
panel.session.run()
panel.session.previous_iteration(4)
panel.session.step()
panel.session.set_value("x", 3.0)
panel.session.run()
""",
    "failed node": """
@wb.graph
def quotients(n):
    k = n
    q = n
    while k > -3:
        q = 100 // k
        k = k - 1
    return q
panel = wb.debug(quotients.graph_for(4), {"n": 4})
assert panel.session.run().reason.name == "FAILED"
""",
    "new inputs": """
b = wb.GraphBuilder("root")
a, start = b.placeholder("a", "float64", ()), b.placeholder("start", "float64", ())
root = b.while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), {"x": start})
panel = wb.debug(b.build(root), {"a": 2.0, "start": 100.0})
panel.session.run()
panel.session.update({"a": 3.0})
panel.session.restart()
panel.session.next_iteration(4)
""",
    "recorded watch": """
residual = 8.0
with wb.watch("relaxation", until={"residual": ("<", 1e-3)}, show=False) as watch:
    while residual > 1e-3:
        residual *= 0.5
        watch(residual=residual, step=2.0 * residual, u=np.full((6, 6), residual))
panel = wb.widgets.Debugger(watch.trace)
""",
}
#: of which something is drawn in the strips as the trace has it, item by item
CURVES = set(WORKLOADS) - {"no loop", "2595 nodes", "nested", "two dimensions"}
CELLS = [START]
#: opens a tool by its tab, if it is not the one in sight
OPEN = """const tab = panel.querySelector(`[data-pane=${args[0]}]`);
          if (tab.ariaExpanded !== 'true' || tab.ariaSelected !== 'true') tab.click();"""
WIDTHS = ((1440, 900), (1024, 768), (1920, 1080))
#: the workload that the default run looks at
THIN = "three variables"
#: errors on the console that JupyterLab's own pages make
FOREIGN = ("favicon", "Failed to load resource", "net::ERR")


def settled(opened) -> None:
    """Until the figures in sight are drawn."""
    opened.page.wait_for_function(
        """() => { const p = [...document.querySelectorAll('.workbench-debugger')].find(p => p.offsetWidth);
             const drawn = f => !f.offsetWidth || f._fullLayout;
             return p?.dataset.mode && [...p.querySelectorAll('.workbench-figure')].every(drawn); }""",
        timeout=120_000,
    )
    opened.page.wait_for_timeout(700)


@pytest.fixture
def shown(opened, request):
    """A panel in the last cell of the notebook, which is deleted afterwards."""
    opened.page.set_viewport_size({"width": 1440, "height": 900})
    opened.add_cell(f"{WORKLOADS[request.param]}\npanel")
    opened.page.wait_for_selector(".workbench-debugger", state="attached")
    opened.page.evaluate("document.querySelector('.workbench-debugger').scrollIntoView()")
    settled(opened)
    yield request.param
    opened.delete_cell()


@pytest.fixture
def console(opened):
    """Errors that the page writes to its console meanwhile, but those of JupyterLab itself."""
    found: list[str] = []

    def hear(message) -> None:
        if message.type == "error" and not any(words in message.text for words in FOREIGN):
            found.append(message.text)

    opened.page.on("console", hear)
    yield found
    opened.page.remove_listener("console", hear)


def faults_at(opened, sizes, theme: str, untouched: bool = False) -> dict[str, list[str]]:
    """Faults of the picture at each of some window sizes; ``untouched``: of a panel in which nothing was pressed."""
    faults = {}
    opened.theme(theme)
    for width, height in sizes:
        opened.page.set_viewport_size({"width": width, "height": height})
        opened.page.evaluate("document.querySelector('.workbench-debugger').scrollIntoView()")
        settled(opened)
        if found := audit(opened.page, opened=untouched):
            faults[f"{width}, {theme}"] = found
    return faults


def values_at(opened, workload: str) -> dict[str, list[str]]:
    """Values that are drawn in the strips and are not in the trace."""
    number, wrong = wrong_values(opened)
    if not number and workload in CURVES:
        wrong = ["values: none is drawn that could be compared"]
    return {"values": wrong} if wrong else {}


@pytest.mark.parametrize("shown", [THIN], indirect=True)
def test_nothing_is_wrong_with_one_picture(opened, shown, console):
    assert faults_at(opened, WIDTHS[:2], "Light", untouched=True) == {}
    assert console == [] and opened.script_errors() == []


@pytest.mark.slow
@pytest.mark.parametrize("shown", WORKLOADS, indirect=True)
def test_nothing_is_wrong_with_the_picture(opened, shown, console):
    faults = faults_at(opened, WIDTHS, "Light", untouched=True)
    faults |= values_at(opened, shown) | faults_at(opened, WIDTHS, "Dark", untouched=True)
    opened.theme("Light")
    assert faults == {}
    assert console == [] and opened.script_errors() == []


@pytest.mark.parametrize(
    "shown",
    [pytest.param(w, marks=pytest.mark.slow if w == "nan" else pytest.mark.sweep) for w in WORKLOADS],
    indirect=True,
)
def test_nothing_is_wrong_with_the_tools(opened, shown, console):
    panel, faults = Panel(opened.page, 0), {}
    for width, height in WIDTHS[:2]:
        opened.page.set_viewport_size({"width": width, "height": height})
        for key in panel.ask("return [...panel.querySelectorAll('[data-pane]')].map(b => b.dataset.pane)"):
            panel.ask(OPEN, key)
            panel.until("return panel.dataset.tool === args[0]", key)
            settled(opened)
            if found := audit(opened.page):
                faults[f"{key}, {width}"] = found
    assert faults == {}
    assert console == [] and opened.script_errors() == []


@pytest.mark.slow
@pytest.mark.parametrize("shown", ["nan"], indirect=True)
def test_the_audit_finds_what_is_wrong(opened, shown):
    """Each kind of fault, made on purpose."""
    panel = Panel(opened.page, 0)
    spoiled = """const title = panel.querySelector('.workbench-area-title');
                 title.parentElement.style.position = 'relative';
                 const over = document.createElement('span');
                 over.textContent = 'over another text'; over.style.cssText = 'position:absolute;left:8px;top:4px';
                 title.parentElement.append(over);
                 const cut = document.createElement('div');
                 cut.textContent = 'a text that is longer than its box';
                 cut.style.cssText = 'width:4em;overflow:hidden;white-space:nowrap';
                 panel.querySelector('.workbench-area-value').append(cut);
                 const svg = panel.querySelector('.workbench-is-evolution .workbench-figure .main-svg');
                 const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
                 line.setAttribute('d', 'M0,NaNL3,4'); svg.append(line);
                 const hint = document.createElement('input');
                 hint.placeholder = 'a hint that is wider than its field'; hint.style.width = '4em';
                 const named = document.createElement('p');
                 named.textContent = 'The loop while_4 never ends';
                 panel.querySelector('.workbench-area-value').append(hint, named);
                 panel.style.minHeight = '2000px';"""
    # in one go: the next drawing would set it right
    found = panel.ask(f"{spoiled} return ({AUDIT})();")
    kinds = {line.split(":")[0] for line in found}
    assert kinds >= {"overlap", "cut", "NaN", "high", "machine"}, kinds
    assert any("a hint that is wider" in line for line in found), found
    assert opened.page.evaluate(OUTSIDE) == []
    narrow = "document.querySelector('.workbench-is-graph .workbench-scroll').style.width = '150px'"
    assert opened.page.evaluate(f"() => {{ {narrow}; return ({OUTSIDE})(); }}"), "what is beyond the edge of the pane"
    upside_down = """const figure = document.querySelector('.workbench-is-evolution .workbench-figure');
                     const { yaxis } = figure._fullLayout; yaxis.range = [yaxis.range[1], yaxis.range[0]];"""
    found = opened.page.evaluate(f"() => {{ {upside_down} return ({AUDIT})(); }}")
    assert any(line.startswith("descends") for line in found), found
    panel.ask("""const { data, layout } = panel.querySelector('.workbench-is-evolution .workbench-figure');
                 const line = data[layout.meta.heads[0].lines[0].trace];
                 line.y = Array.from(line.y); line.y[2] += 0.5;""")
    number, wrong = wrong_values(opened, patience=3.0)
    assert number > 5 and len(wrong) == 1 and "in iteration 2" in wrong[0], (number, wrong)
    panel.ask("""const { data, layout } = panel.querySelector('.workbench-is-evolution .workbench-figure');
                 const line = data[layout.meta.heads[0].lines[0].trace]; line.y[2] -= 0.5;
                 for (const name of ['x', 'y']) line[name] = Array.from(line[name]).slice(0, -1);""")
    assert "the line ends at" in wrong_values(opened, patience=3.0)[1][0]
