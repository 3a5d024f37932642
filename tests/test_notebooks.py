"""Notebooks are paired: the committed .ipynb says what its text file says, and carries outputs but no widget state."""

from __future__ import annotations

import ast
from pathlib import Path

import jupytext
import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = sorted(path.stem for pattern in ("[0-9]*.py", "*.ipynb") for path in FOLDER.glob(pattern))

pytestmark = pytest.mark.skipif(not NAMES, reason="notebooks/ holds no notebook yet")


@pytest.fixture(params=sorted(set(NAMES)))
def pair(request):
    text, notebook = FOLDER / f"{request.param}.py", FOLDER / f"{request.param}.ipynb"
    for path in (text, notebook):
        assert path.exists(), f"{path.name} is missing: both are committed; `make notebooks` writes the .ipynb"
    return jupytext.read(text), nbformat.read(notebook, as_version=4)


def test_both_files_say_the_same(pair):
    text, notebook = ([(cell.cell_type, cell.source) for cell in each.cells] for each in pair)
    assert notebook == text, "run `make notebooks`"


def test_every_cell_was_executed_without_an_error(pair):
    for cell in pair[1].cells:
        # jupytext and IPython number no empty cell, nor one of comments only.
        if cell.cell_type == "code" and (cell.source.startswith(("%", "!")) or ast.parse(cell.source).body):
            assert cell.execution_count, cell.source
            assert all(output.output_type != "error" for output in cell.outputs), cell.source


def test_jupyterlab_does_not_take_the_files_for_a_pair(pair):
    """With jupytext installed it would compare their times and refuse to open the notebook after a clone."""
    assert "jupytext" not in pair[1].metadata


def test_no_widget_state_is_saved(pair):
    notebook = pair[1]
    assert "widgets" not in notebook.metadata
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if "application/vnd.jupyter.widget-view+json" in output.get("data", {})]
    assert len(nbformat.writes(notebook)) < 1_000_000
