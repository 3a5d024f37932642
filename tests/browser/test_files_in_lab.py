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

DOCUMENT = "jupyterapp.shell.currentWidget?.content?.node"
#: a file that stays open meanwhile, so that not each of the others starts a kernel
KEPT = "kept.wbtrace"
KERNEL = "jupyterapp.shell.currentWidget.content.kernelId"
OPEN = "document.querySelectorAll('.workbench-document').length"
PANEL = ".workbench-debugger .workbench-figure"
NAMES = ["relu.onnx", "savings.pbtxt", "loop.pb", "savings.fb", "linear.sdz", "run.wbtrace", "found.wbfinding"]
BROKEN = ["broken.pb", "broken.pt2", "broken.sdz", "broken.mlir"]
#: formats that are known and not read -> what the page advises
KNOWN = {"real.mlir": "StableHLO", "real.pt2": "torch.export.save"}
HOSTILE = "<img src=x onerror=alert(1)>' .onnx"


def some(names: list[str], *others: str) -> list:
    """The names as parameters, some for `make test-sweep` only: the readers are tested without a browser."""
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
    shutil.copyfile(folder / "run.wbtrace", folder / KEPT)
    with desk.page() as page:
        page.page.goto(f"{page.url}/lab?token={page.token}&reset")
        page.page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        page.page.evaluate(
            "jupyterapp.restored.then(() => jupyterapp.commands.execute('filebrowser:go-to-path', {path: 'files'}))"
        )
        page.page.locator(".jp-DirListing-item", has_text="run.wbtrace").wait_for()
        double_click(page, KEPT)
        yield page


def double_click(page, name: str, until: str = PANEL):
    page.page.locator(f".jp-DirListing-item[title^='Name: {name}']").dblclick()
    seen = f"() => jupyterapp.shell.currentWidget?.title.label === {name!r} && {DOCUMENT}.querySelector({until!r})"
    page.page.wait_for_function(seen, timeout=120_000)


def close(page, name: str = "") -> None:
    """Close the document in sight, or the one of this name."""
    before = page.page.evaluate(OPEN)
    chosen = f"[...jupyterapp.shell.widgets('main')].find(w => w.title.label === {name!r})"
    page.page.evaluate(f"({chosen if name else 'jupyterapp.shell.currentWidget'}).close()")
    page.page.wait_for_function(f"() => {OPEN} < {before} || !{before}")


def kernels(page) -> list[str]:
    """The ids of all kernels that run."""
    asked = "jupyterapp.serviceManager.kernels.refreshRunning().then("
    return page.page.evaluate(asked + "() => [...jupyterapp.serviceManager.kernels.running()].map(k => k.id))")


def test_files_of_all_types_are_known_by_their_icons(page):
    for name in NAMES:
        icon = page.page.locator(f".jp-DirListing-item[title^='Name: {name}'] .jp-DirListing-itemIcon svg")
        assert icon.get_attribute("data-icon").startswith("workbench:"), name


@pytest.mark.parametrize("name", some(NAMES, "loop.pb", "savings.fb", "linear.sdz"))
def test_a_double_click_opens_a_panel(page, name):
    double_click(page, name)
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
    seen = f"() => {DOCUMENT}?.querySelector('.workbench-page button')"
    page.page.wait_for_function(seen, timeout=120_000)
    assert page.page.evaluate(f"{DOCUMENT}.innerText").startswith(f"{HOSTILE} cannot be opened")
    assert page.page.evaluate(f"{DOCUMENT}.querySelector('img')") is None
    close(page)


def test_files_share_a_kernel_that_ends_with_the_last_of_them_and_whose_death_is_told_in_each(page):
    double_click(page, KEPT)
    kernel = page.page.evaluate(KERNEL)
    double_click(page, "savings.pbtxt")
    double_click(page, "relu.onnx")
    assert page.page.evaluate(KERNEL) == kernel and kernels(page) == [kernel]
    close(page, KEPT)
    close(page, "relu.onnx")
    step = f"{DOCUMENT}.querySelector('.workbench-debugger button[data-command=step]').click()"
    page.page.evaluate(step)  # the kernel of the closed ones serves those that are left
    until(
        lambda: page.page.evaluate(f"{DOCUMENT}.innerText"), lambda words: "1 node done" in words or "Paused" in words
    )
    sessions = "jupyterapp.serviceManager.sessions.refreshRunning().then("
    named = page.page.evaluate(sessions + "() => [...jupyterapp.serviceManager.sessions.running()].map(s => s.name))")
    assert named == ["Files: savings.pbtxt"]
    double_click(page, "run.wbtrace")
    page.page.evaluate("void jupyterapp.shell.currentWidget.content.reader.session.restartKernel()")
    told = "[...document.querySelectorAll('.workbench-gone-banner button')]"
    page.page.wait_for_function(f"() => {told}.length === 2", timeout=120_000)
    page.page.evaluate(f"{told}.forEach(button => button.click())")
    again = (
        "() => [...document.querySelectorAll('.workbench-document')].every(of => of.querySelector('.workbench-figure')"
    )
    page.page.wait_for_function(
        f"{again} && !of.querySelector('.workbench-gone-banner, .workbench-gone'))", timeout=120_000
    )
    assert kernels(page) == [kernel]
    close(page)
    close(page)
    until(lambda: kernels(page), [])


def test_a_kernel_at_work_or_gone_takes_no_further_file(page):
    double_click(page, "run.wbtrace")
    kernel = page.page.evaluate(KERNEL)
    busy = "content.reader.kernel.requestExecute({code: 'import time; time.sleep(60)'})"
    page.page.evaluate(f"void jupyterapp.shell.currentWidget.{busy}")
    double_click(page, "savings.pbtxt")
    other = page.page.evaluate(KERNEL)
    assert other != kernel and sorted(kernels(page)) == sorted([kernel, other])
    close(page, "run.wbtrace")
    until(lambda: kernels(page), [other])
    page.page.evaluate(f"jupyterapp.serviceManager.kernels.shutdown({other!r}).then(() => null)")
    page.page.wait_for_function(f"() => {DOCUMENT}.querySelector('.workbench-gone-banner button')", timeout=120_000)
    page.page.evaluate(f"{DOCUMENT}.querySelector('.workbench-gone-banner button').click()")
    page.page.wait_for_function(f"() => {DOCUMENT}.querySelector({PANEL!r}) && {KERNEL}", timeout=120_000)
    assert kernels(page) == [page.page.evaluate(KERNEL)] != [other]


def test_a_page_that_is_loaded_again_finds_the_kernel_of_its_files(page):
    kernel = page.page.evaluate(KERNEL)
    page.page.evaluate(
        "jupyterapp.serviceManager.workspaces && new Promise(done => setTimeout(done, 2000))"
    )  # it is saved
    page.page.goto(f"{page.url}/lab?token={page.token}")
    page.page.wait_for_function(f"() => window.jupyterapp && {DOCUMENT}?.querySelector({PANEL!r})", timeout=120_000)
    assert page.page.evaluate(KERNEL) == kernel and kernels(page) == [kernel]
    close(page)
    until(lambda: kernels(page), [])


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
