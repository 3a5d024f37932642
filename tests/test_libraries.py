"""Optional libraries: missing ones are said to be missing, broken ones to be broken, at every place that needs one."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import LoadError, WorkbenchError
from workbench.libraries import needed

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
    "torch": ("frontends.pytorch", lambda room: room.from_exported(b"", None)),
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


def test_no_other_place_says_of_a_failed_import_that_something_is_not_installed():
    found = handlers()
    assert len(found) >= 4  # the search sees those that go on without the library
    for path, handler in found:
        said = " ".join(n.value for n in ast.walk(handler) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        assert "not installed" not in said, (path, handler.lineno)
