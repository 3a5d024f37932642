"""``%%watch`` in a kernel of Jupyter: ``await`` at the top, an error that stops "run all", the next cell untouched."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def ran(*cells: str) -> list[str]:
    """Texts that the cells print, run in a kernel of their own."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return ["".join(o.get("text", "") for o in cell.outputs if o.get("name") == "stdout") for cell in notebook.cells]


@pytest.mark.slow
def test_a_watched_cell_awaits_and_the_next_is_untouched():
    watched = "%%watch x\nimport asyncio\nfor k in range(3):\n    x = k * k\n    await asyncio.sleep(0)\n"
    said = ran(
        "import workbench", watched, "for k in range(5):\n    x = k\nprint(_watch['x'].values.tolist(), _watch.state)"
    )
    assert said[-1] == "[0, 1, 4] finished\n"


@pytest.mark.slow
def test_an_error_of_a_watched_cell_stops_the_notebook():
    with pytest.raises(CellExecutionError) as caught:
        ran("%load_ext workbench", "%%watch x\nfor k in range(3):\n    x = k\n    1 / (1 - k)", "print('not reached')")
    assert caught.value.ename == "ZeroDivisionError" and "line 4" in str(caught.value).replace("\x1b[32m", "")
