"""A page of Chromium with JupyterLab or Notebook 7 in it."""

from __future__ import annotations

import os
from typing import Any

from tests.browser.waits import PATIENCE_S, until

#: how many times slower than this machine the pages run: 6 finds tests that read a page before it has answered
SLOWER = float(os.environ.get("WORKBENCH_SLOW_PAGE", "1"))
#: where an application opens a notebook
OPENS = {"lab": "lab/tree", "notebook": "notebooks"}
NOTEBOOK = "jupyterapp.shell.currentWidget"
KERNEL = f"{NOTEBOOK}.sessionContext.session.kernel"
# the errors among the outputs of the open notebook
FAILED = f"""[...{NOTEBOOK}.content.widgets].filter(c => c.model.type === 'code').flatMap(
  c => Array.from({{length: c.model.outputs.length}}, (_, i) => c.model.outputs.get(i).toJSON()))
  .filter(o => o.output_type === 'error').map(o => `${{o.ename}}: ${{o.evalue}}`)"""
#: errors that do no harm: one of JupyterLab's own, and anywidget's of a late script, which base/late.js makes up for
HARMLESS = ("Canceled", "[anywidget] Failed to initialize model")


class Page:
    """A browser page with JupyterLab (or Notebook 7: ``app="notebook"``) in it, and what it asked for on the way."""

    def __init__(self, page: Any, url: str, token: str, app: str = "lab") -> None:
        self.page, self.url, self.token, self.app = page, url, token, app
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        if SLOWER > 1:
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})

    def open(self, notebook: str) -> None:
        """Open a notebook and wait until its kernel is idle."""
        self.page.goto(f"{self.url}/{OPENS[self.app]}/{notebook}?token={self.token}&reset")
        self.page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
            timeout=120_000,
        )
        self.page.evaluate("() => jupyterapp.shell.collapseLeft()")

    def run_all(self, timeout_s: float = 180.0) -> None:
        """Run all cells and wait until the kernel is idle again."""
        self.page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.wait_for_function(
            f"""() => {FAILED}.length || [...{NOTEBOOK}.content.widgets].every(
                 c => c.model.type !== 'code' || !c.model.sharedModel.getSource().trim() ||
                      c.model.executionCount !== null)""",
            timeout=timeout_s * 1000,
        )
        self.page.wait_for_function(f"() => {KERNEL}.status === 'idle'", timeout=timeout_s * 1000)

    def run_cell(self, number: int) -> None:
        """Run one cell, again if it has run, and wait until it is done."""
        self.page.evaluate(
            f"""async number => {{
              {NOTEBOOK}.content.activeCellIndex = number;
              await jupyterapp.commands.execute('notebook:run-cell');
            }}""",
            number,
        )

    def add_cell(self, code: str) -> str:
        """Write a cell below all others and run it, as one does by hand; what it shows, as text."""
        return self.page.evaluate(
            f"""async code => {{
              const notebook = {NOTEBOOK}.content;
              notebook.activeCellIndex = notebook.widgets.length - 1;
              await jupyterapp.commands.execute('notebook:insert-cell-below');
              const cell = notebook.activeCell;
              cell.model.sharedModel.setSource(code);
              await jupyterapp.commands.execute('notebook:run-cell');
              const shown = () => cell.outputArea.node.innerText;
              for (let k = 0; k < 600 && cell.model.outputs.length && !shown().trim(); k++)
                await new Promise(r => setTimeout(r, 100));
              return shown();
            }}""",
            code,
        )

    def delete_cell(self) -> None:
        """Delete the cell that is active, which is the one that was added last."""
        self.page.evaluate("() => jupyterapp.commands.execute('notebook:delete-cell')")

    def failed_cells(self) -> list[str]:
        """The errors among the outputs of the open notebook."""
        return self.page.evaluate(f"() => {FAILED}")

    def heard(self, condition: str, seconds: float = PATIENCE_S) -> None:
        """Wait for a condition in the notebook's kernel, which may be told of what was pressed after it is asked."""
        until(lambda: (condition, self.kernel(f"print(bool({condition}))")), (condition, "True"), seconds)

    def tells(self, code: str, wanted: str) -> None:
        """Wait until code in the notebook's kernel prints this."""
        until(lambda: self.kernel(code), wanted)

    def kernel(self, code: str) -> str:
        """Run code in the notebook's kernel, beside its cells; gives what it printed. Errors of it are raised."""
        return kernel_output(self.page, code)

    def script_errors(self) -> list[str]:
        """Errors of scripts on the page, but for those that do no harm."""
        return [error for error in self.errors if not any(h in error for h in HARMLESS)]

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


def kernel_output(page: Any, code: str) -> str:
    """Run code in the kernel of the open notebook, beside its cells; gives what it printed. Errors of it are raised."""
    text, error = page.evaluate(
        f"""async code => {{
          let text = '', error = '';
          const future = {KERNEL}.requestExecute({{code, store_history: false}});
          future.onIOPub = m => {{
            if (m.content.name === 'stdout') text += m.content.text; // ipykernel itself writes to stderr
            if (m.header.msg_type === 'error') error = `${{m.content.ename}}: ${{m.content.evalue}}`;
          }};
          await future.done;
          return [text.trim(), error];
        }}""",
        code,
    )
    if error:
        raise AssertionError(error)
    return text
