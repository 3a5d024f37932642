"""A really started JupyterLab and a headless Chromium that looks at it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# the errors among the outputs of the open notebook
FAILED = """[...jupyterapp.shell.currentWidget.content.widgets].filter(c => c.model.type === 'code').flatMap(
  c => Array.from({length: c.model.outputs.length}, (_, i) => c.model.outputs.get(i).toJSON()))
  .filter(o => o.output_type === 'error').map(o => `${o.ename}: ${o.evalue}`)"""
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@contextlib.contextmanager
def lab_server(folder: Path, own: Mapping[str, Sequence[str]] | None = None) -> Iterator[tuple[str, str]]:
    """JupyterLab in ``folder`` on copies of the project's notebooks (it saves what it opens), and on notebooks of the
    test's own: name -> the code of its cells. Gives its address and token."""
    work = folder / "notebooks"
    shutil.copytree(NOTEBOOKS, work, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for name, cells in (own or {}).items():
        write_notebook(work / name, cells)
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    places = {
        "JUPYTER_CONFIG_DIR": folder / "config", "JUPYTER_DATA_DIR": folder / "data", "IPYTHONDIR": folder / "ipython",
        "JUPYTER_RUNTIME_DIR": folder / "runtime", "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
    }  # fmt: skip
    command = [
        sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}", "--LabApp.extension_manager=readonly", "--LabApp.news_url=",
    ]  # fmt: skip
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=work, stdout=log, stderr=log, env={**os.environ, **{k: str(v) for k, v in places.items()}}
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/api?token={token}", server, folder / "lab.log")
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
        {"cell_type": "code", "id": f"cell-{k}", "metadata": {}, "execution_count": None, "outputs": [],
         "source": code.splitlines(keepends=True)}
        for k, code in enumerate(cells)
    ]  # fmt: skip
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": made}))


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(address, timeout=2)
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


class Page:
    """A browser page with JupyterLab in it, and what it asked for on the way."""

    def __init__(self, page: Any, url: str, token: str) -> None:
        self.page, self.url, self.token = page, url, token
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, notebook: str) -> None:
        """Open a notebook and wait until its kernel is idle."""
        self.page.goto(f"{self.url}/lab/tree/{notebook}?token={self.token}&reset")
        self.page.wait_for_function("window.jupyterapp !== undefined", timeout=60_000)
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
            timeout=60_000,
        )
        # all cells at once, also those out of sight
        self.page.evaluate(
            """() => { const nb = jupyterapp.shell.currentWidget.content;
                       nb.notebookConfig = {...nb.notebookConfig, windowingMode: 'none'};
                       jupyterapp.shell.collapseLeft(); }"""
        )

    def run_all(self, timeout_s: float = 90.0) -> None:
        """Run all cells and wait until the kernel is idle again."""
        kernel = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"
        self.page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.wait_for_function(
            f"""() => {FAILED}.length || [...jupyterapp.shell.currentWidget.content.widgets].every(
                 c => c.model.type !== 'code' || !c.model.sharedModel.getSource().trim() ||
                      c.model.executionCount !== null)""",
            timeout=timeout_s * 1000,
        )
        self.page.wait_for_function(f"() => {kernel}.status === 'idle'", timeout=timeout_s * 1000)

    def failed_cells(self) -> list[str]:
        """The errors among the outputs of the open notebook."""
        return self.page.evaluate(f"() => {FAILED}")

    def kernel(self, code: str) -> str:
        """Run code in the notebook's kernel, beside its cells; gives what it printed. Errors of it are raised."""
        text, error = self.page.evaluate(
            """async code => {
              const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              let text = '', error = '';
              const future = kernel.requestExecute({code, store_history: false});
              future.onIOPub = m => {
                if (m.header.msg_type === 'stream') text += m.content.text;
                if (m.header.msg_type === 'error') error = m.content.evalue;
              };
              await future.done;
              return [text.trim(), error];
            }""",
            code,
        )
        if error:
            raise AssertionError(error)
        return text

    def script_errors(self) -> list[str]:
        """Errors of scripts on the page, but for two of JupyterLab's own that do no harm."""
        harmless = ("Canceled", "[anywidget] Failed to initialize model")
        return [error for error in self.errors if not any(h in error for h in harmless)]

    def theme(self, name: str) -> None:
        """Switch JupyterLab's theme: "Light" or "Dark"."""
        command = f"'apputils:change-theme', {{theme: 'JupyterLab {name}'}}"
        self.page.evaluate(f"() => jupyterapp.commands.execute({command})")
        light = "true" if name == "Light" else "false"
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")

    def outside(self) -> list[str]:
        """Requests that left this machine."""
        own = (self.url, self.url.replace("http", "ws"), "data:", "blob:")
        return [request for request in self.requests if not request.startswith(own)]


@contextlib.contextmanager
def browser_page(url: str, token: str, width: int = 1400, height: int = 1200) -> Iterator[Page]:
    """A page in a fresh profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield Page(browser.new_context(viewport={"width": width, "height": height}).new_page(), url, token)
        finally:
            browser.close()
