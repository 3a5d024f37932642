"""In a Jupyter kernel the live view of a watch appears automatically, and causes no error without a front end."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from workbench.widgets.watch.appear import MOST

LOOP = """
def loop(name, **options):
    with wb.watch(name, **options) as w:
        for k in range(5):
            w(error=0.5**k)
    return w
"""
CELLS = {
    "one": f"import workbench as wb\n{LOOP}one = loop('one', until={{'error': ('<', 1e-3)}})",
    "quiet": "quiet = loop('quiet', show=False)",
    "many": "many = [loop(f'loop {k}') for k in range(10)]",
    "each": "each = [loop(f'loop {k}', show=True) for k in range(6)]",
    "thread": "import threading\nt = threading.Thread(target=loop, args=('thread',))\nt.start()\nt.join()",
    "forked": "import multiprocessing\ndef worker(k):\n    return loop(f'worker {k}').calls\n"
    "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
    "    print(sorted(pool.map(worker, range(2))))",
    "magic": "%%watch x\nx = 1.0\nfor k in range(4):\n    x = 0.5 * x",
    "failed": "try:\n    with wb.watch('failed') as w:\n        1 / w(x=1.0)\nexcept ZeroDivisionError:\n    pass",
}


@pytest.fixture(scope="module")
def outputs():
    """Outputs of the cells, by their names; run as nbconvert and papermill run them, without a front end."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS.values()])
    NotebookClient(notebook, timeout=300, kernel_name="python3", store_widget_state=False).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def views(outputs: list) -> list[str]:
    """The texts of the views among the outputs of a cell, as a reader without a kernel sees them."""
    widget = "application/vnd.jupyter.widget-view+json"
    return [o["data"]["text/plain"] for o in outputs if o.output_type == "display_data" and widget in o["data"]]


@pytest.mark.slow
def test_a_view_appears_and_tells_in_the_end_how_the_loop_ended(outputs):
    (text,) = views(outputs["one"])
    assert text.startswith("<WatchView of 'one': Stopped by its caller after 5 iterations")
    assert "error ≥ 0.001 still holds (0.0625 ≥ 0.001)" in text
    assert len(outputs["one"]) == 1


def test_show_false_shows_nothing(outputs):
    assert outputs["quiet"] == []


def test_a_cell_with_many_loops_shows_a_few_unless_told_otherwise(outputs):
    assert len(views(outputs["many"])) == MOST and len(views(outputs["each"])) == 6


def test_a_loop_of_a_thread_is_shown_and_one_of_a_worker_process_is_not(outputs):
    assert len(views(outputs["thread"])) == len(outputs["thread"]) == 1
    assert views(outputs["forked"]) == [] and "".join(o.get("text", "") for o in outputs["forked"]) == "[5, 5]\n"


def test_the_loop_of_a_watched_cell_and_one_that_fails_are_shown(outputs):
    assert views(outputs["magic"])[0].startswith("<WatchView of 'loop_line_3': Finished after 4 iterations")
    assert views(outputs["failed"])[0].startswith("<WatchView of 'failed': Failed after 1 iteration,")
