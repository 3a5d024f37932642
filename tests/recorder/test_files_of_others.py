"""Files that need an extra, and files of other projects, open in JupyterLab by a double click: `make test-watch`.

The kernel of the server is this Python, which has PyTorch and JAX; the page's text without them is tested in
`tests/browser/test_files_in_lab.py`.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.browser.desk import started
from tests.browser.lab import CHROMIUM, chromium
from tests.conformance.corpora import FOLDER

pytestmark = [pytest.mark.watch, pytest.mark.timeout(400)]
DOCUMENT = "document.querySelector('.lm-DockPanel-widget:not(.lm-mod-hidden) .workbench-document')"
#: name in the browser -> (archive, file in it)
CORPORA = {
    "while.pb": ("dl4j_controlflow_93.zip", "while1/iter_1/frozen_model.pb"),
    "while.fb": ("samediff.zip", "fb_modern/while_iter1__kon_d81f0b4.fb"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that PyTorch exported: Newton's steps for the square root of a positive number."""
    torch = pytest.importorskip("torch")

    class Root(torch.nn.Module):
        def forward(self, a):
            def steps(a):
                x = torch.ones_like(a)
                for _ in range(6):
                    x = 0.5 * (x + a / x)
                return x

            return torch.cond(a.sum() > 0, steps, lambda a: a * 0.0, (a,))

    path = tmp_path_factory.mktemp("pt2") / "root.pt2"
    torch.export.save(torch.export.export(Root(), (torch.tensor([2.0, 3.0]),)), path)
    return path


def test_an_exported_program_runs_as_in_pytorch(program):
    graph = wb.load(program)
    (name,) = graph.inputs
    (found,) = graph.run({name: np.array([2.0, 3.0], np.float32)}).values()
    assert np.allclose(found, np.sqrt([2.0, 3.0]), rtol=1e-6)
    (below,) = graph.run({name: np.array([-2.0, -3.0], np.float32)}).values()
    assert below.tolist() == [0.0, 0.0]


@pytest.fixture(scope="module")
def files(program):
    """Files of other projects that are available here: name -> content."""
    found = {"root.pt2": program.read_bytes()}
    if FOLDER.is_dir():
        for name, (archive, path) in CORPORA.items():
            with zipfile.ZipFile(FOLDER / archive) as opened:
                found[name] = opened.read(path)
        from tests.jax.stablehlo import functions, programs, rewritten

        text = dict(programs("interpret"))["while"]
        entry, part = next(functions(text))
        found["while.mlir"] = rewritten(part, entry)[0].encode()
    return found


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed")
def test_each_file_opens_a_panel_by_a_double_click(files, tmp_path_factory):
    with chromium() as browser, started(browser, tmp_path_factory.mktemp("lab")) as desk, desk.page() as page:
        folder = desk.notebooks / "files"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        page.page.goto(f"{page.url}/lab?token={page.token}&reset")
        page.page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        page.page.evaluate(
            "jupyterapp.restored.then(() => jupyterapp.commands.execute('filebrowser:go-to-path', {path: 'files'}))"
        )
        for name in files:
            page.page.locator(f".jp-DirListing-item[title^='Name: {name}']").dblclick()
            drawn = f"() => {DOCUMENT}?.querySelector('.workbench-debugger .workbench-figure')"
            page.page.wait_for_function(drawn, timeout=120_000)
            assert page.page.evaluate("jupyterapp.shell.currentWidget.title.label") == name
            page.page.evaluate("jupyterapp.shell.currentWidget.close()")
        assert page.script_errors() == [] and page.outside() == []
