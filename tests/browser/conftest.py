"""Fixtures of all browser tests: their marks, one Chromium and one JupyterLab, and the page with a module's notebook.

A module names what ``opened`` shows it: ``NOTEBOOK``, one of the project's, or ``CELLS``, the code of its own.
Server and browser end with the last test of this folder: while Playwright's loop runs, no test of another folder in
the same process could start one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.desk import Desk, started
from tests.browser.lab import CHROMIUM, chromium, patient
from tests.browser.page import Page

MARKS = (
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
)
#: modules of `make test`: what a person does first, and names of strangers; the others are of `make test-slow`
FIRST = ("test_first_loop", "test_hostile_names", "test_why_pane")
#: all pictures of an exported page are there
DRAWN = "() => [...document.querySelectorAll('.workbench-picture')].every(p => p._fullLayout)"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Only tests in this folder come here."""
    for mark in (*MARKS, *(() if item.path.stem in FIRST else (pytest.mark.slow,))):
        item.add_marker(mark)


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A started Chromium."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def desk(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A started JupyterLab."""
    with started(browser, tmp_path_factory.mktemp("lab")) as found:
        yield found


@pytest.fixture(scope="module")
def opened(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page with the module's notebook, all of whose cells have run."""
    cells = getattr(request.module, "CELLS", ())
    name = Path(request.module.__file__).stem.removeprefix("test_") + ".ipynb"
    with desk.opened(getattr(request.module, "NOTEBOOK", name), cells) as page:
        yield page


@pytest.fixture
def offline(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens an exported page without network; gives it when all is drawn, with its ``requests_`` and ``errors_``."""
    contexts: list[Any] = []

    def open_file(path: Path, scheme: str = "light") -> Any:
        context = patient(browser, viewport={"width": 1100, "height": 900}, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.requests_, page.errors_ = [], []
        page.on("request", lambda request: page.requests_.append(request.url))
        page.on("pageerror", lambda error: page.errors_.append(str(error)))
        page.on("console", lambda m: page.errors_.append(m.text) if m.type == "error" else None)
        page.goto(path.as_uri())
        page.wait_for_function(DRAWN, timeout=120_000)
        return page

    yield open_file
    for context in contexts:
        context.close()
