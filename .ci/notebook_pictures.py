"""Still pictures of the widgets that a notebook shows, taken from a really started JupyterLab, for its stored outputs.

So the course can be read where nothing runs. Chromium is needed, as for the browser tests.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(1, str(ROOT))

from tests.browser import lab  # noqa: E402
from tests.browser.page import Page  # noqa: E402

WIDTH, HEIGHT = 1280, 900
#: colours of a picture: with more of them the repository grows, and nobody sees a difference
COLOURS = 128
#: the output of a cell, and whether all that it draws is there
OUTPUT = "number => jupyterapp.shell.currentWidget.content.widgets[number].outputArea.node"
DRAWN = f"""number => {{ const area = ({OUTPUT})(number);
  const widget = area.querySelector('.jupyter-widgets, .lm-Widget');
  return widget && area.offsetHeight > 40 &&
         [...area.querySelectorAll('.workbench-figure')].every(f => !f.offsetWidth || f._fullLayout); }}"""

#: the height of an output that is higher than the page; a panel is as high as the page shows
TALL = f"""number => {{ const area = ({OUTPUT})(number);
  return area.querySelector('.workbench-debugger') || area.offsetHeight < {HEIGHT - 200} ? 0 : area.offsetHeight; }}"""


def pictures(notebook: str, wanted: Collection[int]) -> dict[int, str]:
    """Cell number -> PNG in base64, each taken when its cell has run and the next one has not.

    ``notebook`` is a path within notebooks/, of a file that has been written.
    """
    with tempfile.TemporaryDirectory() as work, lab.lab_server(Path(work)) as (url, token):
        with lab.browser_page(url, token, WIDTH, HEIGHT) as page:
            found = on_page(page, notebook, wanted)
    if isinstance(found, str):
        sys.exit(f"{notebook}: {found}")
    return found


def on_page(page: Page, notebook: str, wanted: Collection[int]) -> dict[int, str] | str:
    """The same on a page of a server; the first error of a cell in their place."""
    found: dict[int, str] = {}
    page.open(notebook)
    for number in range(max(wanted) + 1):
        page.run_cell(number)
        if failed := page.failed_cells():
            return failed[0]
        if number in wanted:
            found[number] = _taken(page.page, number)
    return found


def _taken(page: Any, number: int) -> str:
    page.evaluate(f"number => ({OUTPUT})(number).scrollIntoView()", number)
    page.wait_for_function(DRAWN, arg=number, timeout=120_000)
    page.wait_for_timeout(3000)  # figures of another size are drawn again
    if tall := page.evaluate(TALL, number):  # all of it, and nothing of the page over it
        page.set_viewport_size({"width": WIDTH, "height": tall + 300})
        page.wait_for_timeout(1500)
    shot = page.evaluate_handle(OUTPUT, number).as_element().screenshot()
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    small = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()
