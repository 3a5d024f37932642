"""What is public is documented, and what the documentation shows works: docstrings, README, API reference."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from workbench.cli.main import parser
from workbench.widgets.views.base import View

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PUBLIC = {**{n: getattr(wb, n) for n in wb.__all__}, **{n: getattr(wb.widgets, n) for n in wb.widgets.__all__}}


def own_members(thing: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that a class or a base of ours defines, each with all its definitions: what
    says nothing of its own has the words of what it overrides."""
    ours = [vars(base) for base in thing.__mro__ if base.__module__.startswith("workbench.")]
    found: dict[str, list[Any]] = {}
    for name, value in (item for members in ours for item in members.items()):
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not name.startswith("_") and callable(function) and not isinstance(function, type):
            found.setdefault(name, []).append(function)
    yield from found.items()


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_says_what_it_is(name):
    thing = PUBLIC[name]
    text = vars(thing).get("__doc__") if isinstance(thing, type) else inspect.getdoc(thing)
    assert text and len(text.split()) > 2, f"{name} has no docstring of its own"
    if isinstance(thing, type):
        bare = [member for member, defined in own_members(thing) if not any(f.__doc__ for f in defined)]
        assert not bare, f"without a docstring: {', '.join(f'{name}.{member}' for member in bare)}"


# -- examples in docstrings -------------------------------------------------------------------------------------------
EXAMPLES = [
    test for name, thing in sorted(PUBLIC.items()) if not isinstance(thing, types.ModuleType)
    for test in doctest.DocTestFinder(exclude_empty=True, recurse=True).find(thing, name)
    if test.examples
]  # fmt: skip


def nested() -> wb.Graph:
    b = wb.GraphBuilder("nested")

    def outer(x):
        inner = b.while_loop(lambda y: y > 1.0, lambda y: y * 0.5, {"y": x}, name="inner")
        return x + inner["y"]

    return b.build(b.while_loop(lambda x: x < 50.0, outer, {"x": b.placeholder("a", "float64")}, name="outer"))


@pytest.fixture
def around(tmp_path, monkeypatch):
    """What the examples take for granted: a session that has run, its trace, a fork, a model as a file."""
    monkeypatch.chdir(tmp_path)
    graph = models.newton()
    with wb.Session(graph, {"a": 2.0}) as session:
        session.run()
        with session.fork() as fork:
            fork.run_to("x", iteration=2)
            fork.step()
            fork.set_value("x", 3.0)
            fork.run()
            yield {"wb": wb, "np": np, "graph": graph, "session": session, "trace": session.trace, "fork": fork}


#: what is shown in another place: files and arrays of the reader's, views with a browser
ELSEWHERE = {"run_with", "Record", "ValueInspector.look", "ArrayManager"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda test: test.name)
def test_examples_of_docstrings_work(example, around):
    if example.name in ELSEWHERE:
        pytest.skip("it needs the reader's own files or data")
    special = {
        "Session.apply_fix": lambda: (models.endless(), {"start": 1.0}),
        "Session.fork": lambda: (models.newton(), {"a": 2.0}),
        "Follower": lambda: (nested(), {"a": 2.0}),
        "nan_origin": lambda: (roots(), {"start": 0.5}),
        "overflow_candidates": lambda: (nested(), {"a": 2.0}),
    }.get(example.name)
    names = {**{n: getattr(wb, n) for n in wb.__all__}, **around}
    open_widgets = ipywidgets.widgets.widget._instances
    before = set(open_widgets)
    with contextlib.ExitStack() as stack:
        if special is not None:
            graph, feeds = special()
            names["session"] = session = stack.enter_context(wb.Session(graph, feeds))
            if example.name in ("Session.apply_fix", "Session.fork"):
                session.next_iteration(3)
                session.step()
            elif example.name != "Follower":
                session.run()
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        for each in example.examples:
            if "input_0:0" in each.source or "while/Merge:0" in each.source:
                continue  # the same with another graph's names
            exec(compile(each.source, example.name, "single"), names)  # our own docstrings
        for made in names.values():
            if isinstance(made, wb.Session) and made not in around.values():
                made.close()
        for shown in [w for name, w in open_widgets.items() if name not in before]:
            if isinstance(shown, View | wb.widgets.Debugger):
                shown.close()
    assert not wb.memory().collecting  # the tests behind it share the process
    assert set(open_widgets) <= before


def roots() -> wb.Graph:
    b = wb.GraphBuilder("roots")
    x = b.while_loop(lambda x: x > -3.0, lambda x: x - b.sqrt(x), {"x": b.placeholder("start", "float64")})
    return b.build(x)


# -- README -----------------------------------------------------------------------------------------------------------
def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_commands_in_the_readme_exist():
    lines = [line.split("#")[0].strip() for text in blocks("sh") for line in text.splitlines()]
    commands = [line for line in lines if line.startswith("workbench ")]
    assert len(commands) > 8
    for line in commands:
        words = shlex.split(line)[1:]
        assert parser().parse_known_args(words)[0].run, line


def test_targets_of_make_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = "\n".join([*blocks("sh"), *re.findall(r"`(make [^`]+)`", README)])
    for target in set(re.findall(r"^make ([a-z][a-z-]+)", named, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_files_that_the_readme_names_are_there():
    found = re.findall(r"\]\((?!https?:)([^)#]+)\)", README) + re.findall(r'src(?:set)?="(?!https?:)([^"]+)"', README)
    found += re.findall(r"`((?:notebooks|tests|workbench|widgets|binder|kernels_pyx)/[\w./-]+)`", README)
    missing = [name for name in found if not (ROOT / name).exists()]
    assert not missing, missing
    for module in re.findall(r"python -m (tests\.[\w.]+)", README):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or path.is_dir(), module


# -- API reference ----------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_api_reference_has_every_public_name(tmp_path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    modules = re.search(r"^DOCUMENTED := ((?:.*\\\n)*.*)", makefile, re.MULTILINE)[1].replace("\\\n", " ").split()
    command = [sys.executable, "-P", "-m", "pdoc", "--docformat", "numpy", "-o", str(tmp_path), *modules]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PDOC_ALLOW_EXEC": "1"}, timeout=170
    )
    assert done.returncode == 0, done.stderr
    front = (tmp_path / "workbench.html").read_text(encoding="utf-8")
    views = (tmp_path / "workbench" / "widgets.html").read_text(encoding="utf-8")
    lacking = [n for n in wb.__all__ if f'id="{n}"' not in front and n != "graph"]  # a package too
    lacking += [n for n in wb.widgets.__all__ if f'id="{n}"' not in views]
    assert not lacking, lacking
