"""Takes every picture of the panel anew: the README's (.github/panel-*.png) and those in the notebooks of the course.

    make pictures

One JupyterLab is started for all of them; Chromium is needed, as for the browser tests. Outputs of cells stay as they
are, and a notebook whose pictures cannot be taken (what it imports is not installed) is named at the end. Beside the
README's pictures stands what the panel looked like then (.github/panel-pictures.sha256), which a test compares.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
import notebook_pictures
import screenshot

from notebooks import FOLDER, IGNORE, PNG

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(1, str(ROOT))

from tests.browser import lab  # noqa: E402
from tests.panel_look import LOOK, look  # noqa: E402


def of_notebook(page: notebook_pictures.Page, path: Path) -> str:
    """Exchange the pictures of one notebook; gives why that cannot be done, or nothing."""
    notebook = nbformat.read(path, as_version=4)
    shown = {
        number: [output for output in cell.outputs if PNG in output.get("data", {})]
        for number, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and IGNORE in cell.metadata.get("tags", [])
    }
    wanted = [number for number, outputs in shown.items() if outputs]
    if not wanted:
        return ""
    found = notebook_pictures.on_page(page, path.relative_to(FOLDER).as_posix(), wanted)
    if isinstance(found, str):
        return found
    for number, picture in found.items():
        shown[number][-1].data[PNG] = picture
    nbformat.write(notebook, path)
    return ""


def main() -> int:
    """Take them all; 1 if some could not be taken."""
    failed = []
    with tempfile.TemporaryDirectory() as work, lab.lab_server(Path(work)) as (url, token):
        screenshot.take(ROOT / ".github", Path(work), url, token)
        for path in sorted(FOLDER.glob("[0-9A]*.ipynb")):
            with lab.browser_page(url, token, notebook_pictures.WIDTH, notebook_pictures.HEIGHT) as page:
                problem = of_notebook(page, path)
            print(f"{path.name}: {problem or 'taken'}", flush=True)
            failed += [path.name] if problem else []
    LOOK.write_text(look() + "\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
