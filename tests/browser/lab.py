"""A really started JupyterLab or Notebook 7, and a headless Chromium that looks at it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.browser.page import Page
from tests.browser.waits import PATIENCE_S
from tests.ports import free_port

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
#: a first cell for notebooks that import modules of the tests
TESTS = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
#: no news, and all cells on the page at once, also those out of sight
SETTINGS: dict[str, dict[str, Any]] = {
    "apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}
STARTS = {"lab": ["lab", "--LabApp.extension_manager=readonly", "--LabApp.news_url="], "notebook": ["notebook"]}


@contextlib.contextmanager
def lab_server(
    folder: Path, own: Mapping[str, Sequence[str]] | None = None, app: str = "lab", extension: bool = True
) -> Iterator[tuple[str, str]]:
    """JupyterLab (or Notebook 7: ``app="notebook"``) in ``folder`` on copies of the project's notebooks (it saves what
    it opens), and on notebooks of the test's own: name -> the code of its cells. Gives its address and token. Without
    ``extension`` ours is disabled, which is as if it were not installed."""
    work = folder / "notebooks"
    shutil.copytree(NOTEBOOKS, work, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for name, cells in (own or {}).items():
        write_notebook(work / name, cells)
    for place, settings in SETTINGS.items():
        path = folder / "settings" / "@jupyterlab" / place
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(settings))
    # JupyterLab looks for extensions here first; an editable install does not bring them along
    place = folder / "data" / "labextensions" / "workbench"
    place.parent.mkdir(parents=True)
    place.symlink_to(ROOT / "widgets" / "labextension")
    if not extension:
        (folder / "config" / "labconfig").mkdir(parents=True)
        (folder / "config" / "labconfig" / "page_config.json").write_text('{"disabledExtensions": {"workbench": true}}')
    # kernels are this Python: `jupyter lab` is the first one on PATH, which may be that of another environment
    kernel = folder / "path" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {
        "argv": launch,
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "metadata": {"debugger": True},
    }
    (kernel / "kernel.json").write_text(json.dumps(spec))
    port = free_port()
    token = secrets.token_hex(16)
    places = {
        "JUPYTER_PATH": folder / "path",  # looked at before the folders of the environment
        "JUPYTER_CONFIG_DIR": folder / "config",
        "JUPYTER_DATA_DIR": folder / "data",
        "IPYTHONDIR": folder / "ipython",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
    }
    command = [
        sys.executable,
        "-m",
        "jupyter",
        *STARTS[app],
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
    ]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=work, stdout=log, stderr=log, env={**os.environ, **{k: str(v) for k, v in places.items()}}
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/api?token={token}", server, folder / "lab.log")
            yield url, token
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """A notebook with these code cells."""
    made = [
        {
            "cell_type": "code",
            "id": f"cell-{k}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": code.splitlines(keepends=True),
        }
        for k, code in enumerate(cells)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": made}))


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Until a server answers; what it logged in the error where it does not."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError):  # not there yet, or slow to answer
            urllib.request.urlopen(address, timeout=2)
            return
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start:\n{log.read_text()[-3000:]}")


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A started browser, which gives contexts: fresh profiles."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def patient(browser: Any, **settings: Any) -> Any:
    """A fresh profile, whose pages are given the time that a busy machine takes."""
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE_S * 1000)
    return context


@contextlib.contextmanager
def browser_page(url: str, token: str, width: int = 1400, height: int = 1200, app: str = "lab") -> Iterator[Page]:
    """A page in a browser of its own."""
    with chromium() as browser:
        yield Page(patient(browser, viewport={"width": width, "height": height}).new_page(), url, token, app)
