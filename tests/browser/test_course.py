"""The course in a real JupyterLab: notebooks from top to bottom, on one server and one page."""

from __future__ import annotations

import time

import pytest

from tests.browser.lab import NOTEBOOKS
from tests.browser.waits import PATIENCE_S, until

#: 01 and A2 have browser tests of their own; `make test-jax` and `make test-watch` execute what needs JAX or PyTorch
NAMES = [
    path.name
    for path in sorted(NOTEBOOKS.glob("[0-9A]*.ipynb"))
    if path.name[:2] not in ("01", "A2")
    and not {"import jax", "import torch"}
    & {*(NOTEBOOKS / "sources" / f"{path.stem}.py").read_text("utf-8").split("\n")}
]

#: one of each kind; `make test-notebooks` runs all of them without a browser, `make test-sweep` in one
ALWAYS = ("02", "07", "13")

pytestmark = pytest.mark.skipif(not NAMES, reason="no notebooks; `make notebooks` writes them")

#: a cell that says whether an answer is right
ANSWER = "course.check_answer"
#: opens a notebook in a tab; the tab before is closed with its kernel
OPEN = """async path => {
  const before = jupyterapp.shell.currentWidget;
  if (before?.sessionContext) { await before.sessionContext.shutdown(); before.dispose(); }
  const panel = await jupyterapp.commands.execute('docmanager:open', {path});
  await panel.context.ready;
  await panel.sessionContext.ready;
  panel.content.scrollbar = false;
}"""
#: what each code cell shows
SHOWN = """() => [...jupyterapp.shell.currentWidget.content.widgets].filter(c => c.model.type === 'code').map(c => {
  const outputs = Array.from({length: c.model.outputs.length}, (_, i) => c.model.outputs.get(i).toJSON());
  return {
    source: c.model.sharedModel.getSource().slice(0, 60),
    errors: outputs.filter(o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue),
    views: outputs.filter(o => o.data && 'application/vnd.jupyter.widget-view+json' in o.data).length,
    drawn: c.node.querySelectorAll('.jp-OutputArea-output .lm-Widget, .workbench-figure, .js-plotly-plot').length,
    verdicts: [...c.node.querySelectorAll('[role=status]')].map(e => e.innerText)
      .filter(text => text.includes('Exercise')),
  };
})"""
#: figures that can be seen and are not drawn (those in closed panes have no width)
UNDRAWN = """() => [...jupyterapp.shell.currentWidget.content.widgets].filter(c => c.model.type === 'code').flatMap(
  c => [...c.node.querySelectorAll('.workbench-figure, .js-plotly-plot')]
    .filter(g => g.offsetParent !== null && !g._fullLayout)
    .map(g => c.model.sharedModel.getSource().slice(0, 60)))"""


@pytest.fixture(scope="module")
def opened(desk):
    """JupyterLab with no notebook open."""
    with desk.page() as page:
        page.page.goto(f"{page.url}/lab?token={page.token}&reset")
        page.page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        page.page.evaluate("async () => { await jupyterapp.restored; jupyterapp.shell.collapseLeft(); }")
        yield page


def show(opened, name):
    opened.page.evaluate(OPEN, name)
    opened.run_all()
    end = time.monotonic() + PATIENCE_S
    while True:  # views come after the cells that show them
        cells, undrawn = opened.page.evaluate(SHOWN), opened.page.evaluate(UNDRAWN)
        waiting = undrawn + [cell["source"] for cell in cells if cell["views"] and not cell["drawn"]]
        waiting += [c["source"] for c in cells if ANSWER in c["source"] and not c["verdicts"] and not c["errors"]]
        if not waiting:
            return cells
        assert time.monotonic() < end, waiting
        opened.page.wait_for_timeout(100)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name[:2] in ALWAYS else pytest.mark.sweep) for name in NAMES]
)
def test_all_cells_run_and_all_pictures_are_drawn(name, opened):
    started, seen = time.monotonic(), len(opened.errors)
    cells = show(opened, name)
    assert [cell for cell in cells if cell["errors"]] == []
    pictures = [cell for cell in cells if cell["views"]]
    assert pictures and all(cell["drawn"] for cell in pictures)
    asked = [cell for cell in cells if ANSWER in cell["source"]]
    verdicts = [text for cell in cells for text in cell["verdicts"]]
    assert len(verdicts) >= max(2, len(asked))
    assert all("No answer yet" in text or "Not yet" in text for text in verdicts), verdicts
    assert not [e for e in opened.errors[seen:] if "Canceled" not in e and "Failed to initialize model" not in e]
    assert opened.outside() == []
    print(f"{name}: {time.monotonic() - started:.1f} s")


def test_a_solution_passes_and_its_verdicts_can_be_read_in_light_and_dark(opened):
    verdicts = [text for cell in show(opened, "solutions/02_dataflow_graphs.ipynb") for text in cell["verdicts"]]
    assert len(verdicts) == 3 and all("Right" in text for text in verdicts)
    for theme in ("Dark", "Light"):
        opened.theme(theme)
        colour = "() => getComputedStyle(document.querySelector('[role=status] b')).color"
        until(lambda colour=colour: opened.page.evaluate(colour), light if theme == "Dark" else dark)


def brightness(colour: str) -> float:
    return sum(int(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3]) / 3


def light(colour: str) -> bool:
    return brightness(colour) > 150


def dark(colour: str) -> bool:
    return brightness(colour) < 100
