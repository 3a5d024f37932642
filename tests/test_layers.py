"""Layers: a room imports only from rooms below, a folder of a room only from those before it, and nothing in a circle.
No folder holds more than 20 source files, and no class has the name of another one in a room that it meets.

The import statements of workbench/, widgets/ and kernels_pyx/ are read, not executed: nested ones and literal
``importlib.import_module`` calls count too, and between rooms and folders also those under TYPE_CHECKING. The same
checks run on small made-up trees with one fault each, so that a check that sees nothing cannot pass.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS = {
    "kernels": 0,
    "ir": 1,
    "ops": 2,
    "device": 2,
    "frontends": 3,
    "plan": 3,
    "trace": 3,
    "arrays": 3,
    "docs": 0,
    "execution": 4,
    "debugger": 4,
    "session": 5,
    "analysis": 5,
    "sweep": 6,
    "recorder": 6,
    "widgets": 7,
    "cli": 8,
    "magics": 8,
}
# The package itself is the entry above all rooms: it may import every one, and no room imports it.
ENTRY = ""
ENTRY_LAYER = 9
# The module that lists the names of the entry.
PUBLIC = "public"
# The errors, files that are written, optional libraries, the text of numbers and names and the threads belong to no
# layer; all but the kernels may import them.
BASE = {"errors", "files", "glossary", "libraries", "text", "threads", "tracebacks"}
# Pairs in one layer, each in one direction: the session hands its state to the analysis, the debugger drives a run;
# neither looks back.
SIDEWAYS = {("session", "analysis"), ("debugger", "execution"), ("device", "ops")}
# The order inside of a room: each folder or module of it imports only from those before it in the list.
ORDER = {
    "plan": "reachability schedule memory lowering native fusion plan live_ranges cache dag",
    "debugger": "iteration_path stop weak_method conditions replay breakpoints control",
    "analysis": "comparisons text standing claims "
    "series verdict laws expressions forecast intervals slicing proof diff precision root_cause fixes ends termination "
    "live report",
    "magics": "watch_line insert probe graph_line cell register",
    "widgets": "live base text series strips graph evolution termination control_flow values nodes breakpoints memory "
    "compare time export watch panel jupyter sweep",
}
# Class names with two meanings in rooms that meet -> why both stay.
SAME_NAMES = {
    "Snapshot": "the session's is public; the machine's is compiled, and Python code always writes core.Snapshot"
}
# Source folder -> the package that it becomes when installed.
FOLDERS = {"workbench": "workbench", "widgets": "workbench.widgets", "kernels_pyx": "workbench.kernels"}
# The largest number of source files in one folder, not counting __init__.py and sub-folders.
MOST_FILES = 20
SOURCES = {".py", ".pyi", ".pyx", ".pxi", ".pxd", ".h", ".hpp", ".cpp", ".def", ".js", ".css"}

CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\s+\(?([\w., *]*)|c?import\s+([\w., ]+))")


class Import(NamedTuple):
    """One imported name as an absolute dotted path, and where the statement stands."""

    target: str
    line: int


def module_of(path: Path, root: Path) -> str:
    """Dotted name under which a source file is installed."""
    folder, *rest = path.relative_to(root).with_suffix("").parts
    parts = [FOLDERS[folder], *rest]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def absolute(module: str | None, level: int, package: str) -> str:
    """Target of ``from <dots><module> import``, seen from a package."""
    if level == 0:
        return module or ""
    base = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join(base + ([module] if module else []))


def python_imports(source: str | ast.AST, package: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(source) if isinstance(source, str) else source):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node.module, node.level, package)
            yield from (Import(f"{base}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = node.args[0].value
            if called in {"import_module", "__import__"} and isinstance(name, str):
                level = len(name) - len(name.lstrip("."))
                yield Import(absolute(name.lstrip("."), level, package), node.lineno)


def cython_imports(text: str, package: str) -> Iterator[Import]:
    """Cython is no Python for ast; one statement a line is all that is looked for."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not (match := CYTHON_IMPORT.match(line)):
            continue
        module, names, plain = match.groups()
        if plain:
            yield from (Import(name.split()[0], number) for name in plain.split(",") if name.strip())
        else:
            level = len(module) - len(module.lstrip("."))
            base = absolute(module.lstrip("."), level, package)
            yield from (Import(f"{base}.{name.split()[0]}", number) for name in names.split(",") if name.strip())


def room_of(dotted: str) -> str | None:
    """Room of a dotted name; None if it is not ours. ``workbench.Graph`` is the entry, as no room has its name."""
    first, *rest = dotted.split(".")
    if first != "workbench":
        return None
    return rest[0] if rest and (rest[0] in LAYERS or rest[0] in BASE) else ENTRY


def complaint(room: str, target: str) -> str | None:
    """The fault of an import of ``target`` from ``room``, or None."""
    if target.split(".")[0] in {"widgets", "kernels_pyx"}:
        return "is a source folder, not a package: its installed name is " + FOLDERS[target.split(".")[0]]
    other = room_of(target)
    if other is None or other == room:
        return None
    if other in BASE:
        return "kernels import nothing of ours" if room == "kernels" else None
    if room in BASE:
        return f"{room} imports nothing of ours"
    own, theirs = LAYERS.get(room, ENTRY_LAYER), LAYERS.get(other, ENTRY_LAYER)
    if theirs < own or (room, other) in SIDEWAYS:
        return None
    return f"goes from layer {own} ({room or 'workbench'}) to layer {theirs} ({other or 'the entry'})"


def violations(root: Path) -> list[str]:
    """All faults of a source tree, as ``file:line: sentence``."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".py", ".pyi", ".pyx", ".pxd"} or "__pycache__" in path.parts:
                continue
            where = path.relative_to(root).as_posix()
            module = module_of(path, root)
            room = module.split(".")[1] if module not in {"workbench", f"workbench.{PUBLIC}"} else ENTRY
            if room not in {ENTRY, *BASE} and room not in LAYERS:
                found.append(f"{where}:1: room {room!r} has no layer in architecture.md")
                continue
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            read = python_imports if path.suffix in {".py", ".pyi"} else cython_imports
            for target, line in read(path.read_text(encoding="utf-8"), package):
                if why := complaint(room, target):
                    found.append(f"{where}:{line}: import of {target} {why}")
    return found


def sources(root: Path) -> Iterator[tuple[Path, str]]:
    """The Python files of a source tree with their dotted names."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if "__pycache__" not in path.parts:
                yield path, module_of(path, root)


def disorders(root: Path) -> list[str]:
    """Imports inside of a room that go against its order, and folders or modules that its order does not name."""
    found = []
    for path, module in sources(root):
        parts = module.split(".")
        if len(parts) < 3 or parts[1] not in ORDER:
            continue
        order = ORDER[parts[1]].split()
        where = path.relative_to(root).as_posix()
        if parts[2] not in order:
            found.append(f"{where}:1: {parts[2]!r} is missing in the order of {parts[1]}")
            continue
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for target, line in python_imports(path.read_text(encoding="utf-8"), package):
            other = target.split(".")
            if other[:2] != parts[:2] or len(other) < 3 or other[2] not in order:
                continue
            if order.index(other[2]) > order.index(parts[2]):
                found.append(f"{where}:{line}: {parts[2]} imports {other[2]}, which comes after it in {parts[1]}")
    return found


def at_run_time(tree: ast.AST) -> ast.AST:
    """The tree without what only type checkers read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return tree


def circles(root: Path) -> list[list[str]]:
    """Groups of modules that import each other when they run, those imports included that stand in functions."""
    modules = {module: path for path, module in sources(root)}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        tree = at_run_time(ast.parse(path.read_text(encoding="utf-8")))
        targets = (target for target, _ in python_imports(tree, package))
        graph[module] = {t if t in modules else t.rpartition(".")[0] for t in targets} & modules.keys() - {module}
    while True:  # what imports nothing that is left, or is imported by nothing that is left, is in no circle
        imported = set().union(*graph.values()) if graph else set()
        ends = {m for m, targets in graph.items() if not targets or m not in imported}
        if not ends:
            break
        graph = {m: targets - ends for m, targets in graph.items() if m not in ends}
    return groups(graph)


def groups(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected groups of more than one module."""

    def reached(start: str) -> set[str]:
        seen, todo = set(), [start]
        while todo:
            new = graph[todo.pop()] - seen
            seen |= new
            todo.extend(new)
        return seen

    reach = {m: reached(m) for m in graph}
    found = {frozenset(o for o in reach[m] if m in reach[o]) for m in graph if m in reach[m]}
    return sorted(sorted(group) for group in found)


def overfull(root: Path) -> list[str]:
    """Folders with more than ``MOST_FILES`` source files, as ``folder: number``."""
    counts = Counter(
        path.parent.relative_to(root).as_posix()
        for folder in FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in SOURCES and path.name != "__init__.py" and "node_modules" not in path.parts
    )
    return sorted(f"{folder}: {count}" for folder, count in counts.items() if count > MOST_FILES)


CYTHON_CLASS = re.compile(r"^(?:cdef |cpdef )?class (\w+)", re.MULTILINE)


def classes(root: Path) -> dict[str, dict[str, list[str]]]:
    """Public classes on the top level of modules: name -> room -> modules."""
    found: dict[str, dict[str, list[str]]] = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".py", ".pyx", ".pxi"} or "__pycache__" in path.parts:
                continue
            text, module = path.read_text(encoding="utf-8"), module_of(path, root)
            if path.suffix == ".py":
                names = [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
            else:
                names = CYTHON_CLASS.findall(text)
            room = module.split(".")[1] if "." in module else ENTRY
            for name in names:
                if not name.startswith("_"):
                    found.setdefault(name, {}).setdefault(room, []).append(module)
    return found


def same_names(root: Path) -> dict[str, list[str]]:
    """Class names that occur twice in a room, or in two rooms one of which imports the other, with their modules."""
    imported: dict[str, set[str]] = {}
    for path, module in sources(root):
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        targets = python_imports(path.read_text(encoding="utf-8"), package)
        rooms = {room for target, _ in targets if (room := room_of(target)) is not None}
        imported.setdefault(module.split(".")[1] if "." in module else ENTRY, set()).update(rooms)
    found = {}
    for name, rooms in classes(root).items():
        twice = any(len(modules) > 1 for modules in rooms.values())
        if twice or any(b in imported.get(a, set()) for a in rooms for b in rooms if a != b):
            found[name] = sorted(module for modules in rooms.values() for module in modules)
    return found


def test_no_class_name_has_two_meanings_in_rooms_that_meet():
    found = same_names(ROOT)
    assert {name: where for name, where in found.items() if name not in SAME_NAMES} == {}
    assert SAME_NAMES.keys() <= found.keys(), "an allowance that nothing needs"


def test_a_class_name_with_two_meanings_is_seen(tmp_path):
    """In one room, and in rooms that meet; rooms that do not import each other may both have it."""
    for name, text in {
        "workbench/ir/a.py": "class Low: ...\nclass _Own: ...",
        "workbench/plan/a.py": "import workbench.ir.a\nclass Low: ...\nclass _Own: ...\nclass Apart: ...",
        "workbench/trace/a.py": "class Apart: ...\nclass Twice: ...",
        "workbench/trace/b.py": "class Twice: ...\ndef f():\n    class Low: ...",
        "kernels_pyx/c.pxi": "cdef class Apart:\n    pass\ncdef class Core:\n    pass",
        "widgets/d.py": "def f():\n    from workbench.kernels.c import x\nclass Core: ...",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert same_names(tmp_path) == {
        "Low": ["workbench.ir.a", "workbench.plan.a"],
        "Twice": ["workbench.trace.a", "workbench.trace.b"],
        "Core": ["workbench.kernels.c", "workbench.widgets.d"],
    }


def test_imports_go_downwards_only():
    assert violations(ROOT) == []


def test_folders_of_a_room_import_in_their_order():
    assert disorders(ROOT) == []


def test_no_modules_import_each_other():
    assert circles(ROOT) == []


def test_no_folder_has_more_than_20_source_files():
    assert MOST_FILES == 20 and overfull(ROOT) == []


def test_an_overfull_folder_is_seen(tmp_path):
    """Each kind of source counts; __init__.py, other files and sub-folders do not."""
    kinds = sorted(SOURCES)
    numbers = {"widgets/full": 20, "widgets/full/deep": 20, "kernels_pyx/typed": 21, "workbench/ir": 22}
    for folder, number in numbers.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for k in range(number):
            (tmp_path / folder / f"a{k}{kinds[k % len(kinds)]}").touch()
        for other in ("__init__.py", "README.md", "meson.build"):
            (tmp_path / folder / other).touch()
    assert overfull(tmp_path) == ["kernels_pyx/typed: 21", "workbench/ir: 22"]


def test_an_import_against_the_order_is_seen(tmp_path):
    good = "from workbench.analysis.series import classify"
    for name, text in {"proof/a.py": good, "series/b.py": "def f():\n    from ..proof import a", "odd.py": ""}.items():
        path = tmp_path / "workbench" / "analysis" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert disorders(tmp_path) == [
        "workbench/analysis/odd.py:1: 'odd' is missing in the order of analysis",
        "workbench/analysis/series/b.py:2: series imports proof, which comes after it in analysis",
    ]


def test_a_circle_is_seen(tmp_path):
    for name, text in {
        "a.py": "from workbench.trace.b import f",
        "b.py": "def f():\n    from workbench.trace import c",
        "c.py": "import workbench.trace.a",
        "d.py": "from workbench.trace import a\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from workbench.trace import e",
        "e.py": "from workbench.trace import d",
    }.items():
        path = tmp_path / "workbench" / "trace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert circles(tmp_path) == [["workbench.trace.a", "workbench.trace.b", "workbench.trace.c"]]


def test_something_was_read():
    """Guards against a moved folder: an empty tree has no violations either."""
    for folder in FOLDERS:
        assert any((ROOT / folder).rglob("*.py")), folder
    text = (ROOT / "workbench" / "ir" / "graph.py").read_text(encoding="utf-8")
    assert any(room_of(target) == "ir" for target, _ in python_imports(text, "workbench.ir"))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("workbench/ir/a.py", "from workbench.session import Session"),
        ("workbench/ir/a.py", "import workbench.ops.table"),
        ("workbench/ir/a.py", "from workbench import trace"),
        ("workbench/ir/a.py", "from ..ops import REGISTRY"),
        ("workbench/ir/a.py", "from .. import ops"),
        ("workbench/ir/a.py", "def f():\n    from workbench.plan import make"),
        ("workbench/ir/a.py", "import importlib\nimportlib.import_module('workbench.widgets')"),
        ("workbench/ir/a.py", "from importlib import import_module\nimport_module('..session', __package__)"),
        ("workbench/ir/a.py", "if TYPE_CHECKING:\n    from workbench.session import Session"),
        ("workbench/ir/deep/a.py", "from ...execution import run"),
        ("workbench/trace/a.py", "import workbench.plan"),
        ("workbench/analysis/a.py", "from workbench.session import Session"),
        ("workbench/errors.py", "from workbench.ir import Graph"),
        ("workbench/sweep/a.py", "import workbench as wb"),
        ("workbench/sweep/a.py", "import widgets"),
        ("workbench/attic/a.py", "import math"),
        ("workbench/stray.py", "import math"),
        ("widgets/a.py", "from workbench.cli import main"),
        ("widgets/a.py", "from ..cli import main"),
        ("widgets/a.py", "from workbench import debug"),
        ("kernels_pyx/a.py", "from workbench.errors import WorkbenchError"),
        ("kernels_pyx/a.py", "from ..ir import node"),
        ("kernels_pyx/a.pyx", "cimport numpy as cnp\nfrom workbench.ir.types import TensorType"),
        ("kernels_pyx/a.pyx", "def f():\n    import os, workbench.trace"),
        ("kernels_pyx/a.pxd", "from ..ir cimport node"),
    ],
)
def test_a_violation_is_caught(tmp_path, file, text):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    faults = violations(tmp_path)
    assert len(faults) == 1 and faults[0].startswith(file + ":"), faults


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("workbench/__init__.py", "from workbench.session import Session\nfrom .errors import WorkbenchError"),
        ("workbench/ops/a.py", "from workbench.ir.node import Node\nfrom .table import TABLE\nimport numpy"),
        ("workbench/ops/a.py", "from ..errors import WorkbenchError\nfrom .. import ir"),
        (
            "workbench/session.py",
            "from workbench.analysis.forecast.to_tolerance import forecast\nfrom .trace import Trace",
        ),
        ("widgets/a.py", "from workbench.session import Session\nfrom . import b\nfrom .b import c"),
        ("kernels_pyx/a.pyx", "cimport cython\nfrom libc.math cimport sqrt\nfrom .machine cimport Row"),
    ],
)
def test_a_proper_import_passes(tmp_path, file, text):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert violations(tmp_path) == []


# -- the table in the documentation ------------------------------------------------------------------------------------
PAGE = ROOT / "workbench" / "docs" / "reference" / "development.md"


def layers_table() -> str:
    """The rooms by layer, each with the first sentence of its docstring; ``python -m tests.test_layers`` writes it."""
    rows = ["| layer | room | contents |", "|---|---|---|"]
    for room, layer in sorted(LAYERS.items(), key=lambda item: item[1]):
        folder = next((f for f, package in FOLDERS.items() if package == f"workbench.{room}"), f"workbench/{room}")
        text = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        first = re.sub(r":\w+:`(\w+)`", r"`\1`", text.split("\n\n")[0].replace("\n", " ").replace("``", "`"))
        rows.append(f"| {layer} | `{folder}/` | {first.split('. ')[0].rstrip('.')} |")
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    """The page with this table in place of the one that it has."""
    before, _, rest = page.partition("| layer |")
    return before + layers_table() + rest[rest.index("\n\n") + 1 :]


def test_the_documentation_has_the_table_of_the_layers() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run python -m tests.test_layers"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
