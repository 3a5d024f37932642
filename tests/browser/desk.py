"""One started server and one browser profile for many tests: each module gets a page of its own.

One profile for all of them, so that the scripts of JupyterLab are compiled once and not for each page.
"""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.browser.lab import lab_server, patient, write_notebook
from tests.browser.page import Page
from tests.browser.waits import PATIENCE_S

#: where JupyterLab keeps the theme that was chosen last
THEME = Path("settings", "@jupyterlab", "apputils-extension", "themes.jupyterlab-settings")
#: where our extension keeps the layout of panels
LAYOUT = Path("settings", "workbench", "layout.jupyterlab-settings")


class Desk:
    """A server on copies of the project's notebooks. What one page leaves (kernels, theme, sizes) ends with it."""

    def __init__(self, context: Any, folder: Path, url: str, token: str, app: str) -> None:
        self.context, self.folder, self.url, self.token, self.app = context, folder, url, token, app

    @property
    def notebooks(self) -> Path:
        """The folder that the server serves; kernels of notebooks in it stand there."""
        return self.folder / "notebooks"

    @contextlib.contextmanager
    def page(self) -> Iterator[Page]:
        """A page with nothing opened yet."""
        try:
            yield Page(self.context.new_page(), self.url, self.token, self.app)
        finally:
            for page in self.context.pages:
                if page.url.startswith("http"):
                    page.evaluate("localStorage.removeItem('workbench:layout')")
                page.close()
            self._end_kernels()
            for settings in (THEME, LAYOUT):
                (self.folder / settings).unlink(missing_ok=True)

    @contextlib.contextmanager
    def opened(self, name: str, cells: Sequence[str] = ()) -> Iterator[Page]:
        """A page with a notebook, all of whose cells have run; with ``cells`` it is written first."""
        if cells:
            write_notebook(self.notebooks / name, cells)
        with self.page() as page:
            page.open(name)
            page.run_all()
            yield page

    def _end_kernels(self) -> None:
        for session in json.loads(self._ask("GET", "sessions")):
            self._ask("DELETE", f"sessions/{session['id']}")

    def _ask(self, method: str, what: str) -> bytes:
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(f"{self.url}/api/{what}", method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.read()


@contextlib.contextmanager
def started(browser: Any, folder: Path, app: str = "lab", extension: bool = True) -> Iterator[Desk]:
    """A desk with JupyterLab, or ``"notebook"``; without our extension, if told so."""
    context = patient(browser, viewport={"width": 1400, "height": 1200})
    with contextlib.closing(context), lab_server(folder, app=app, extension=extension) as (url, token):
        yield Desk(context, folder, url, token, app)
