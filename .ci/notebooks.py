"""Writes the .ipynb of the course and its solutions from their text files, executed: ``make notebooks``.

``python .ci/notebooks.py 03 solutions/05`` writes only those whose names begin so; ``make pictures`` takes the pictures
of all widgets anew. ``--text`` runs nothing: it renews the Markdown and the tags of notebooks whose code is unchanged.

The text file (jupytext, py:percent) under notebooks/sources/ is the source; the .ipynb is committed too, with outputs,
so that a reader can open it at once and nbval has something to compare with. Saved widget state (megabytes) is left
out, and a widget, which cannot be drawn without it, is stored as a still picture. A picture that is there stays while
the code of its cell stays: two of the same widget are never the same bytes. A cell that shows a widget is tagged
``nbval-ignore-output``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = FOLDER / "sources"
WIDGET = "application/vnd.jupyter.widget-view+json"
IGNORE = "nbval-ignore-output"
PNG = "image/png"
PLOTLY = "application/vnd.plotly.v1+json"


def write(source: Path) -> None:
    """Execute the text file and write its notebook."""
    notebook = jupytext.read(source)
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    target = (FOLDER / source.relative_to(SOURCES)).with_suffix(".ipynb")
    where = {"metadata": {"path": str(target.parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where).execute()
    notebook.metadata.pop("widgets", None)
    old = {} if not target.exists() else stored(nbformat.read(target, as_version=4))
    widgets: dict[int, Any] = {}
    notebook.metadata["language_info"] = {"name": "python"}
    slides(notebook)
    for number, cell in enumerate(notebook.cells):
        # Fixed ids and no times: the same text gives the same file.
        cell["id"] = f"cell-{number:02d}"
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        shown = [output for output in cell.outputs if WIDGET in output.get("data", {})]
        if drawn := shown or [output for output in cell.outputs if PLOTLY in output.get("data", {})]:
            widgets[number] = drawn[-1]
        if shown and IGNORE not in cell.metadata.get("tags", []):
            sys.exit(f'{source.name}: cell {number} shows a widget: add tags=["{IGNORE}"] to its "# %%" line')
        cell.outputs = joined([output for output in cell.outputs if output not in shown])
    known = {number: old[source] for number in widgets if (source := notebook.cells[number].source) in old}
    with_pictures(notebook, widgets, known)
    # Paired files would be compared by their times whenever JupyterLab opens one, and after a clone these say nothing.
    notebook.metadata.pop("jupytext", None)
    nbformat.validate(notebook)
    nbformat.write(notebook, target)
    if missing := widgets.keys() - known.keys():
        take = importlib.import_module("notebook_pictures").pictures
        with_pictures(notebook, widgets, take(target.relative_to(FOLDER).as_posix(), missing))
        nbformat.write(notebook, target)
    print(f"wrote {target.relative_to(FOLDER)}")


def slides(notebook: Any) -> None:
    """Tag the cells for ``jupyter nbconvert --to slides``: a heading begins a slide, a folded check is left out, and
    code comes as a fragment on the slide of the text before it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            kind = "slide" if cell.source.startswith("#") else "subslide" if "\n## " in cell.source else "fragment"
        else:
            kind = "skip" if "check" in cell.metadata.get("tags", []) else "fragment"
        cell.metadata["slideshow"] = {"slide_type": kind}


def renew(source: Path) -> None:
    """Write the Markdown and the tags of a text file into its notebook, which keeps its outputs."""
    notebook = jupytext.read(source)
    target = (FOLDER / source.relative_to(SOURCES)).with_suffix(".ipynb")
    old = nbformat.read(target, as_version=4)
    code = [[cell.source for cell in each.cells if cell.cell_type == "code"] for each in (notebook, old)]
    if code[0] != code[1] or len(notebook.cells) != len(old.cells):
        sys.exit(f"{source.name}: its code has changed; run it without --text")
    slides(notebook)
    for cell, kept in zip(notebook.cells, old.cells, strict=True):
        kept["source"], kept["metadata"] = cell.source, cell.metadata
    nbformat.validate(old)
    nbformat.write(old, target)
    print(f"renewed {target.relative_to(FOLDER)}")


def stored(notebook: Any) -> dict[str, str]:
    """Code of a cell -> the picture of its widget, as the notebook has it."""
    return {
        cell.source: output.data[PNG]
        for cell in notebook.cells
        if cell.cell_type == "code" and IGNORE in cell.metadata.get("tags", [])
        for output in cell.outputs
        if PNG in output.get("data", {})
    }


def with_pictures(notebook: Any, widgets: Mapping[int, Any], pictures: Mapping[int, str]) -> None:
    """Put pictures (by the number of their cell) in the place of the widgets that the cells have shown, and beside
    figures of plotly, which is left to JupyterLab."""
    for number, picture in pictures.items():
        if PLOTLY in widgets[number].get("data", {}):
            widgets[number].data[PNG] = picture
            continue
        data = {"text/plain": widgets[number].data.get("text/plain", ""), PNG: picture}
        notebook.cells[number].outputs.append(nbformat.v4.new_output("display_data", data))


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
    names = [name for name in sys.argv[1:] if name != "--text"]
    paths = chosen(names)
    if not paths:
        sys.exit(f"no text file under {SOURCES} begins with {' or '.join(names)}")
    for path in paths:
        (renew if "--text" in sys.argv else write)(path)
