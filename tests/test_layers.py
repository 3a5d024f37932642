"""The floors of the house: a room imports only from floors below its own.

The import statements of workbench/, widgets/ and kernels_pyx/ are read, not executed: nested ones, those under
TYPE_CHECKING and literal ``importlib.import_module`` calls count too. The same check runs on small made-up trees
with one fault each, so that a check that sees nothing cannot pass.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]

FLOORS = {
    "kernels": 0,
    "graph": 1,
    "ops": 2,
    "frontends": 3,
    "plan": 3,
    "trace": 3,
    "execution": 4,
    "debugger": 4,
    "session": 5,
    "analysis": 5,
    "sweep": 6,
    "widgets": 7,
    "cli": 7,
}
# The package itself is the front door above all rooms: it may import every one, and no room imports it.
DOOR = ""
DOOR_FLOOR = 8
# The module that lists the names of the front door.
PUBLIC = "public"
# Errors belong to no floor; all but the kernels may raise them.
ERRORS = "errors"
# Pairs on one floor, each in one direction: the session hands its state to the analysis, the debugger drives a run;
# neither looks back.
SIDEWAYS = {("session", "analysis"), ("debugger", "execution")}
# Source folder -> the package that it becomes when installed.
FOLDERS = {"workbench": "workbench", "widgets": "workbench.widgets", "kernels_pyx": "workbench.kernels"}

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


def python_imports(text: str, package: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(text)):
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
    """Room of a dotted name; None if it is not ours. ``workbench.Graph`` is the front door, as no room has its name."""
    first, *rest = dotted.split(".")
    if first != "workbench":
        return None
    return rest[0] if rest and (rest[0] in FLOORS or rest[0] == ERRORS) else DOOR


def complaint(room: str, target: str) -> str | None:
    """What is wrong with an import of ``target`` from ``room``, or None."""
    if target.split(".")[0] in {"widgets", "kernels_pyx"}:
        return "is a source folder, not a package: its installed name is " + FOLDERS[target.split(".")[0]]
    other = room_of(target)
    if other is None or other == room:
        return None
    if other == ERRORS:
        return "kernels import nothing of ours" if room == "kernels" else None
    if room == ERRORS:
        return "errors import nothing of ours"
    own, theirs = FLOORS.get(room, DOOR_FLOOR), FLOORS.get(other, DOOR_FLOOR)
    if theirs < own or (room, other) in SIDEWAYS:
        return None
    return f"goes from floor {own} ({room or 'workbench'}) to floor {theirs} ({other or 'the front door'})"


def violations(root: Path) -> list[str]:
    """All faults of a source tree, as ``file:line: sentence``."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".py", ".pyi", ".pyx", ".pxd"} or "__pycache__" in path.parts:
                continue
            where = path.relative_to(root).as_posix()
            module = module_of(path, root)
            room = module.split(".")[1] if module not in {"workbench", f"workbench.{PUBLIC}"} else DOOR
            if room not in {DOOR, ERRORS} and room not in FLOORS:
                found.append(f"{where}:1: room {room!r} has no floor in architecture.md")
                continue
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            read = python_imports if path.suffix in {".py", ".pyi"} else cython_imports
            for target, line in read(path.read_text(encoding="utf-8"), package):
                if why := complaint(room, target):
                    found.append(f"{where}:{line}: import of {target} {why}")
    return found


def test_imports_go_downwards_only():
    assert violations(ROOT) == []


def test_something_was_read():
    """Guards against a moved folder: an empty tree has no violations either."""
    for folder in FOLDERS:
        assert any((ROOT / folder).rglob("*.py")), folder
    text = (ROOT / "workbench" / "graph" / "graph.py").read_text(encoding="utf-8")
    assert any(room_of(target) == "graph" for target, _ in python_imports(text, "workbench.graph"))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("workbench/graph/a.py", "from workbench.session import Session"),
        ("workbench/graph/a.py", "import workbench.ops.table"),
        ("workbench/graph/a.py", "from workbench import trace"),
        ("workbench/graph/a.py", "from ..ops import REGISTRY"),
        ("workbench/graph/a.py", "from .. import ops"),
        ("workbench/graph/a.py", "def f():\n    from workbench.plan import make"),
        ("workbench/graph/a.py", "import importlib\nimportlib.import_module('workbench.widgets')"),
        ("workbench/graph/a.py", "from importlib import import_module\nimport_module('..session', __package__)"),
        ("workbench/graph/a.py", "if TYPE_CHECKING:\n    from workbench.session import Session"),
        ("workbench/graph/deep/a.py", "from ...execution import run"),
        ("workbench/trace/a.py", "import workbench.plan"),
        ("workbench/analysis/a.py", "from workbench.session import Session"),
        ("workbench/errors.py", "from workbench.graph import Graph"),
        ("workbench/sweep/a.py", "import workbench as wb"),
        ("workbench/sweep/a.py", "import widgets"),
        ("workbench/attic/a.py", "import math"),
        ("workbench/stray.py", "import math"),
        ("widgets/a.py", "from workbench.cli import main"),
        ("widgets/a.py", "from ..cli import main"),
        ("widgets/a.py", "from workbench import debug"),
        ("kernels_pyx/a.py", "from workbench.errors import WorkbenchError"),
        ("kernels_pyx/a.py", "from ..graph import node"),
        ("kernels_pyx/a.pyx", "cimport numpy as cnp\nfrom workbench.graph.types import TensorType"),
        ("kernels_pyx/a.pyx", "def f():\n    import os, workbench.trace"),
        ("kernels_pyx/a.pxd", "from ..graph cimport node"),
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
        ("workbench/ops/a.py", "from workbench.graph.node import Node\nfrom .table import TABLE\nimport numpy"),
        ("workbench/ops/a.py", "from ..errors import WorkbenchError\nfrom .. import graph"),
        ("workbench/session.py", "from workbench.analysis.forecast import forecast\nfrom .trace import Trace"),
        ("widgets/a.py", "from workbench.session import Session\nfrom . import b\nfrom .b import c"),
        ("kernels_pyx/a.pyx", "cimport cython\nfrom libc.math cimport sqrt\nfrom .machine cimport Row"),
    ],
)
def test_a_proper_import_passes(tmp_path, file, text):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert violations(tmp_path) == []
