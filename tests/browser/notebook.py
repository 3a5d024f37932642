"""A notebook of a few cells, written into the folder of a started JupyterLab and opened in its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[2]


def open_cells(page: Any, folder: Path, name: str, cells: Sequence[str]) -> None:
    """Write ``name`` with these cells (the tests' modules can be imported in them), open it and run all cells."""
    first = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in (first, *cells)])
    book.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nbformat.write(book, folder / "notebooks" / name)
    page.open(name)
    page.run_all()


def ask_kernel(page: Any, code: str) -> str:
    """What ``code`` prints in the notebook's kernel."""
    return str(
        page.page.evaluate(
            """async (code) => {
              const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              let text = '';
              const future = kernel.requestExecute({code});
              future.onIOPub = m => {
                if (m.header.msg_type === 'stream') text += m.content.text;
                if (m.header.msg_type === 'error') text += m.content.ename + ': ' + m.content.evalue;
              };
              await future.done;
              return text.trim();
            }""",
            code,
        )
    )
