"""Writes the .ipynb of the course and its solutions from their text files, executed: ``make notebooks``.

``python .ci/notebooks.py 03 solutions/05`` writes only those whose names begin so.

The text file (jupytext, py:percent) under notebooks/sources/ is the source; the .ipynb is committed too, with outputs,
so that a reader can open it at once and nbval has something to compare with. Saved widget state (megabytes) and widget
outputs, which cannot be drawn without it, are left out; a cell that shows a widget is tagged ``nbval-ignore-output``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = FOLDER / "sources"
WIDGET = "application/vnd.jupyter.widget-view+json"
IGNORE = "nbval-ignore-output"


def write(source: Path) -> None:
    notebook = jupytext.read(source)
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    target = (FOLDER / source.relative_to(SOURCES)).with_suffix(".ipynb")
    where = {"metadata": {"path": str(target.parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate(notebook.cells):
        # Fixed ids and no times: the same text gives the same file.
        cell["id"] = f"cell-{number:02d}"
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        shown = [output for output in cell.outputs if WIDGET in output.get("data", {})]
        if shown and IGNORE not in cell.metadata.get("tags", []):
            sys.exit(f'{source.name}: cell {number} shows a widget: add tags=["{IGNORE}"] to its "# %%" line')
        cell.outputs = joined([output for output in cell.outputs if output not in shown])
    # Paired files would be compared by their times whenever JupyterLab opens one, and after a clone these say nothing.
    notebook.metadata.pop("jupytext", None)
    nbformat.validate(notebook)
    nbformat.write(notebook, target)
    print(f"wrote {target.relative_to(FOLDER)}")


def joined(outputs: list[Any]) -> list[Any]:
    """Text that came in several pieces, by chance of time, as one piece."""
    found: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and found and found[-1].get("name") == output.name:
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def chosen(prefixes: list[str]) -> list[Path]:
    """The text files whose names under notebooks/sources/ begin with one of the prefixes; all of them without any."""
    found = sorted((*SOURCES.glob("[0-9A]*.py"), *SOURCES.glob("solutions/[0-9A]*.py")))
    return [path for path in found if not prefixes or path.relative_to(SOURCES).as_posix().startswith(tuple(prefixes))]


if __name__ == "__main__":
    paths = chosen(sys.argv[1:])
    if not paths:
        sys.exit(f"no text file under {SOURCES} begins with {' or '.join(sys.argv[1:])}")
    for path in paths:
        write(path)
