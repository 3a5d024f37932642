"""Optional libraries: missing ones are said to be missing, broken ones to be broken, at every place that needs one."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli import doctor
from workbench.errors import LoadError, WorkbenchError
from workbench.libraries import DISTRIBUTION, EXTRAS, install, namesake, needed

ROOT = Path(__file__).resolve().parents[1]
#: ways in which a library that is installed fails at its import
BROKEN = {
    "a part of it is missing": "import workbench_has_no_such_part",
    "a shared library": "raise ImportError('libfoo.so.1: cannot open shared object file')",
    "another version of NumPy": "raise AttributeError('_ARRAY_API not found')",
    "an old descriptor": "raise TypeError('Descriptors cannot be created directly.')",
    "code of another Python": "def f(:",
    "itself under another name": "from workbench_broken.part import nothing",
}


@pytest.mark.parametrize("why", BROKEN)
@pytest.mark.parametrize("module", ["workbench_broken", "workbench_broken.part"])
def test_a_library_that_fails_is_not_said_to_be_missing(why, module, tmp_path, monkeypatch):
    package = tmp_path / "workbench_broken"
    package.mkdir()
    (package / "__init__.py").write_text(BROKEN[why])
    monkeypatch.syspath_prepend(tmp_path)
    for name in [n for n in sys.modules if n.startswith("workbench_broken")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    with pytest.raises(WorkbenchError) as caught:
        needed(module, "This test", "pip install it.")
    error = caught.value
    assert error.slug == "broken-library" and "which is installed and cannot be imported" in error.message
    assert "not installed" not in str(error) and sys.executable in error.fix


def test_a_library_that_is_missing():
    with pytest.raises(LoadError) as caught:
        needed("workbench_has_no_such_library.part", "This test", error=LoadError, slug="missing-extra", called="It")
    assert caught.value.slug == "missing-extra"
    assert caught.value.message == "This test needs It, which is not installed."


def unusable(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a package of a name in front of the real one that fails in something below it."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("import workbench_has_no_such_part")
    monkeypatch.syspath_prepend(tmp_path)
    for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, module)
    importlib.invalidate_caches()


#: package -> what loads it
USES = {
    "onnx": ("frontends.onnx.library", lambda room: room.onnx()),
    "pyarrow": ("trace.spill.errors", lambda room: room.pyarrow()),
    "tensorflow": ("frontends.tf.library", lambda room: room.tensorflow.__wrapped__()),
    "jax": ("frontends.jax.library", lambda room: room.library.__wrapped__()),
    "distributed": ("sweep.workers.dask_engine", lambda room: room.DaskWorkers(None, {}, None)),
    "onnxruntime": ("frontends.onnx.external_run.engines", lambda room: room.engine("onnxruntime")),
    "torch": ("frontends.pytorch.aten", lambda room: room.library()),
    "cupy": ("device.namespaces", lambda room: room.load_namespace(wb.Device("cuda"))),
    "array_api_strict": ("device.namespaces", lambda room: room.load_namespace(wb.Device("array-api-strict"))),
    "PIL": ("cli.input_pictures", lambda room: room._opened(Path("a.png"))),
}


@pytest.mark.parametrize("name", USES)
def test_each_place_tells_a_broken_library_from_a_missing_one(name, monkeypatch, tmp_path):
    room, use = USES[name]
    room = importlib.import_module(f"workbench.{room}")
    unusable(name, monkeypatch, tmp_path)
    with pytest.raises(WorkbenchError) as caught:
        use(room)
    assert caught.value.slug == "broken-library" and "workbench_has_no_such_part" in caught.value.message
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(WorkbenchError) as caught:
        use(room)
    assert caught.value.slug != "broken-library" and "which is not installed" in caught.value.message


def handlers() -> list[tuple[Path, ast.ExceptHandler]]:
    """Every handler of a failed import in the sources."""
    found = []
    for path in sorted([*(ROOT / "workbench").rglob("*.py"), *(ROOT / "widgets").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            caught = ast.unparse(node.type) if isinstance(node, ast.ExceptHandler) and node.type is not None else ""
            if "ImportError" in caught or "ModuleNotFoundError" in caught:
                found.append((path, node))
    return found


@pytest.mark.slow
def test_no_other_place_says_of_a_failed_import_that_something_is_not_installed():
    found = handlers()
    assert len(found) >= 4  # the search sees those that go on without the library
    for path, handler in found:
        said = " ".join(n.value for n in ast.walk(handler) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        assert "not installed" not in said, (path, handler.lineno)


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION and set(project["scripts"]) == {DISTRIBUTION, "workbench"}
    for extra, requirements in EXTRAS.items():
        own, stated = f"{DISTRIBUTION}[", []
        for requirement in project["optional-dependencies"][extra]:
            stated += EXTRAS[requirement[len(own) : -1]] if requirement.startswith(own) else [requirement]
        assert list(requirements) == stated, extra


def test_no_text_has_an_extra_of_the_other_project():
    """Whoever types it installs a project that is not this one."""
    wrong = re.compile(r"(?<!graph-)work" + r"bench\[[a-z]")
    suffixes = {".py", ".pyx", ".pxi", ".md", ".toml", ".ipynb", ".sh", ".js", ".ts", ".yml", ".txt", ""}
    folders = ("workbench", "widgets", "kernels_pyx", "notebooks", "tests", "binder", ".ci")
    paths = [p for f in folders for p in (ROOT / f).rglob("*") if p.is_file() and p.suffix in suffixes]
    paths += [p for p in ROOT.iterdir() if p.is_file() and p.suffix in suffixes]
    skipped = {"node_modules", "__pycache__", ".ipynb_checkpoints"}
    found = [p for p in paths if not skipped & set(p.parts) and wrong.search(p.read_text("utf-8", "replace"))]
    assert len(paths) > 500 and not found


def installed(folder: Path, name: str, version: str, summary: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")


def test_another_project_of_this_import_name_is_named(tmp_path, monkeypatch):
    assert not namesake()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    installed(ours, "workbench", "0.1.0", "Step, trace and understand computation graphs with loops and branches")
    installed(theirs, "workbench", "0.8.506", "A workbench of another kind")
    monkeypatch.syspath_prepend(ours)
    importlib.invalidate_caches()
    assert not namesake(), "an install of this project from before it was renamed"
    monkeypatch.syspath_prepend(theirs)
    importlib.invalidate_caches()
    assert namesake() == "0.8.506"
    (check,) = doctor._name()
    assert check.state == doctor.BAD and "workbench 0.8.506" in check.text and "pip uninstall workbench" in check.fix
    code = f"import sys; sys.path.insert(0, {str(theirs)!r}); import workbench as wb; wb.Session; wb.Graph"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("workbench 0.8.506, is installed in this environment") == 1


BARE = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MODULES}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Without())
import workbench as wb
from workbench import libraries
libraries.is_missing = lambda module: module in {MODULES}
b = wb.GraphBuilder("newton")
a = b.placeholder("a")
graph = b.build(b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a}))
session = wb.Session(graph, {"a": 2.0})
session.next_iteration(2)
print(session.termination().status)
session.run()
print(session.value("x"), wb.sweep(graph, {"a": [1.0, 2.0]})["x"][1])
watch = wb.watch("halving")
x = 1.0
for _ in range(3):
    x /= 2
    watch(x=x)
print(watch.close() or len(watch.trace["x"]))
views = lambda: wb.debug(graph, {"a": 2.0}), lambda: wb.widgets.GraphView(graph), lambda: wb.widgets
for view in views:
    try:
        view()
    except wb.WorkbenchError as error:
        print(error.slug, error.fix)
"""


def test_the_core_runs_and_proves_without_the_libraries_of_notebooks(tmp_path):
    """No IPython, ipywidgets or plotly: what shows something says in one sentence what to install."""
    modules = {*"plotly ipywidgets anywidget tsdownsample fast_sugiyama jupyterlab traitlets IPython".split()}
    done = subprocess.run(
        [sys.executable, "-c", BARE.replace("{MODULES}", repr(modules))],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "PROVED" and lines[1].split() == ["1.4142135623746899", "1.4142135623746899"], lines
    assert lines[3:] == [f"missing-library {install('notebook')}."] * 3, lines
