"""The JupyterLab extension: files open in panels by a double click."""

from __future__ import annotations

import json
import shutil

import onnx
import pytest

import workbench as wb
from tests.browser.lab import ROOT
from tests.browser.waits import until
from tests.cli.models import newton
from tests.frontends.samediff_files import Model, sdz

DOCUMENT = "document.querySelector('.lm-DockPanel-widget:not(.lm-mod-hidden) .workbench-document')"
NAMES = ["relu.onnx", "savings.pbtxt", "loop.pb", "savings.fb", "linear.sdz", "run.wbtrace", "found.wbfinding"]
BROKEN = ["broken.pb", "broken.pt2", "broken.sdz", "broken.mlir"]
#: formats that are known and not read -> what the page advises
KNOWN = {"real.mlir": "StableHLO", "real.pt2": "torch.export.save"}
HOSTILE = "<img src=x onerror=alert(1)>' .onnx"


def some(names: list[str], *others: str) -> list:
    """The names as parameters, some for `make test-sweep` only: each file starts a kernel of its own, whose reader is
    tested without a browser."""
    return [pytest.param(name, marks=pytest.mark.sweep) if name in others else name for name in names]


@pytest.fixture(scope="module")
def page(desk):
    """A page of JupyterLab without a notebook, and files of all types."""
    folder = desk.notebooks / "files"
    folder.mkdir()
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    of = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy"]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "relu", of[:1], of[1:]))
    (folder / "relu.onnx").write_bytes(model.SerializeToString())
    for name in ("savings.pbtxt", "savings.fb"):
        shutil.copyfile(desk.notebooks / "models" / name, folder / name)
    shutil.copyfile(ROOT / "tests" / "frontends" / "data" / "loop.pb", folder / "loop.pb")
    (folder / "linear.sdz").write_bytes(sdz({"model.sdnb": Model.single()}))
    (folder / "real.mlir").write_text("module @f {\n  func.func public @main() {\n    return\n  }\n}\n")
    (folder / "real.pt2").write_bytes(sdz({"m/models/model.json": b"{}", "m/archive_format": b"pt2"}))
    for name in (*BROKEN, HOSTILE):
        (folder / name).write_bytes(b"\x00not a model")
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        session.trace.save(folder / "run.wbtrace")
        panel = wb.debug(session)
        panel.save(folder / "found.wbfinding")
        panel.close()
    with desk.page() as page:
        page.page.goto(f"{page.url}/lab?token={page.token}&reset")
        page.page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        page.page.evaluate(
            "jupyterapp.restored.then(() => jupyterapp.commands.execute('filebrowser:go-to-path', {path: 'files'}))"
        )
        page.page.locator(".jp-DirListing-item", has_text="run.wbtrace").wait_for()
        yield page


def double_click(page, name: str, until: str):
    page.page.locator(f".jp-DirListing-item[title^='Name: {name}']").dblclick()
    seen = f"() => {DOCUMENT}?.querySelector({until!r})"
    page.page.wait_for_function(seen, timeout=120_000)


def close(page) -> None:
    page.page.evaluate("jupyterapp.shell.currentWidget.close()")
    page.page.wait_for_function(f"() => !{DOCUMENT}")


def test_files_of_all_types_are_known_by_their_icons(page):
    for name in NAMES:
        icon = page.page.locator(f".jp-DirListing-item[title^='Name: {name}'] .jp-DirListing-itemIcon svg")
        assert icon.get_attribute("data-icon").startswith("workbench:"), name


@pytest.mark.parametrize("name", some(NAMES, "loop.pb", "savings.fb", "linear.sdz"))
def test_a_double_click_opens_a_panel(page, name):
    double_click(page, name, ".workbench-debugger .workbench-figure")
    until(lambda: page.page.evaluate("jupyterapp.shell.currentWidget.title.label"), name)
    close(page)


@pytest.mark.parametrize("name", some(BROKEN, "broken.pt2", "broken.sdz"))
def test_a_file_that_cannot_be_read_says_why(page, name):
    double_click(page, name, ".workbench-page button")
    words = until(lambda: page.page.evaluate(f"{DOCUMENT}.innerText"), lambda words: len(words) > 80)
    assert f"{name} cannot be opened" in words and "Traceback" not in words
    close(page)


@pytest.mark.parametrize("name", KNOWN)
def test_a_format_that_is_not_read_says_what_to_do_instead(page, name):
    double_click(page, name, ".workbench-page button")
    until(lambda: page.page.evaluate(f"{DOCUMENT}.innerText"), lambda words: KNOWN[name] in words)
    close(page)


def test_a_hostile_name_is_text(page):
    item = page.page.locator(".jp-DirListing-item", has_text="onerror")
    item.dblclick()
    page.page.wait_for_function(f"() => {DOCUMENT}?.querySelector('.workbench-page button')", timeout=120_000)
    assert page.page.evaluate(f"{DOCUMENT}.innerText").startswith(f"{HOSTILE} cannot be opened")
    assert page.page.evaluate(f"{DOCUMENT}.querySelector('img')") is None
    close(page)


def test_the_kernel_of_a_panel_ends_with_its_tab_and_its_death_is_told(page):
    double_click(page, "run.wbtrace", ".workbench-debugger .workbench-figure")
    kernel = page.page.evaluate("jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.id")
    page.page.evaluate("void jupyterapp.shell.currentWidget.context.sessionContext.restartKernel()")
    page.page.wait_for_function(f"() => {DOCUMENT}?.querySelector('.workbench-gone-banner button')", timeout=120_000)
    page.page.evaluate(f"{DOCUMENT}.querySelector('.workbench-gone-banner button').click()")
    again = f"() => !{DOCUMENT}?.querySelector('.workbench-gone-banner, .workbench-gone') && "
    page.page.wait_for_function(again + f"{DOCUMENT}?.querySelector('.workbench-figure')", timeout=120_000)
    close(page)
    gone = "jupyterapp.serviceManager.kernels.refreshRunning().then(() => "
    gone += f"![...jupyterapp.serviceManager.kernels.running()].some(k => k.id === {kernel!r}))"
    page.page.wait_for_function(gone, timeout=120_000, polling=500)


def test_debug_in_a_notebook_writes_three_cells_that_run(page, desk):
    page.page.evaluate("jupyterapp.commands.execute('workbench:debug-in-a-notebook', {path: 'files/savings.pbtxt'})")
    page.page.wait_for_function(
        "() => { const w = jupyterapp.shell.currentWidget;"
        " return w?.content?.widgets && w.sessionContext?.session?.kernel?.status === 'idle'; }",
        timeout=120_000,
    )
    page.run_all()
    assert page.failed_cells() == []
    written = json.loads((desk.notebooks / "files" / "savings.pbtxt debug.ipynb").read_text())
    assert "".join(written["cells"][0]["source"]).endswith('graph = wb.load("savings.pbtxt")\ngraph')
    assert len(written["cells"]) == 3 and written["metadata"]["kernelspec"]["language"] == "python"
    page.page.locator(".jp-NotebookPanel .workbench-debugger").first.wait_for()
    page.page.evaluate("jupyterapp.shell.currentWidget.context.save().then(() => null)")  # else it asks when it closes
    close(page)


def test_no_script_failed_and_nothing_left_the_machine(page):
    assert page.script_errors() == [] and page.outside() == []


def test_the_first_lesson_is_a_tile_and_is_written_where_it_is_not_yet(page, desk):
    lesson = desk.notebooks / "01_first_loop.ipynb"
    kept = lesson.read_bytes()
    lesson.unlink()  # a server that was started in a folder without the course
    try:
        page.page.evaluate("jupyterapp.commands.execute('launcher:create', {cwd: 'files'}).then(() => null)")
        page.page.locator(".jp-LauncherCard:visible", has_text="First loop (5 minutes)").first.click()
        page.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").first.wait_for()
        written = desk.notebooks / "files" / "workbench-course" / "01_first_loop.ipynb"
        assert len(list(written.parent.glob("*.ipynb"))) > 10 and json.loads(written.read_text())["cells"]
        shown = "jupyterapp.shell.currentWidget?.context?.path"
        until(lambda: page.page.evaluate(shown), str(written.relative_to(desk.notebooks)))
    finally:
        lesson.write_bytes(kept)
