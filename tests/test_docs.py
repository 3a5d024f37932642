"""Public names are documented, and the examples of the documentation work: docstrings, README, API reference."""

from __future__ import annotations

import dataclasses
import doctest
import importlib.util
import inspect
import io
import json
import linecache
import operator
import re
import shlex
import shutil
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
from tests.frontends.flatbytes import VARIABLE, SameDiff
from workbench.cli.main import parser
from workbench.debugger import Breakpoints
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.base.status_widget import StatusWidget

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    path: path.read_text(encoding="utf-8")
    for path in [
        ROOT / "README.md",
        *sorted((ROOT / ".github").glob("*.md")),
        *sorted((ROOT / "workbench/docs").rglob("*.md")),
    ]
}


def site() -> types.ModuleType:
    """The module that collects the sources of the site."""
    spec = importlib.util.spec_from_file_location("stage", ROOT / ".ci/docs/stage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE = site()
#: pages that are written from the code
GENERATED = [
    "reference/ops.md",
    "reference/glossary.md",
    "reference/commands.md",
    "reference/errors.md",
    "reference/api/index.md",
]
STAGED = {*SITE.ELSEWHERE.values(), *GENERATED, *SITE.pictures()}
STAGED |= {f"tutorial/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
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


# -- docstrings in numpydoc's sections --------------------------------------------------------------------------------
#: public results whose fields are listed one by one
RESULTS = (
    "Analysis Diff Evolution Forecast MemoryReport NanOrigin OverflowCandidate Stop Tag Termination Update Moment"
).split()


def documented() -> Iterator[tuple[str, Any]]:
    """Every public name with its object, and every public method, each definition of it."""
    yield from (("workbench", wb), ("workbench.widgets", wb.widgets))
    yield from ((f"wb.{name}", getattr(wb, name)) for name in wb.__all__ if name != "plan_cache")
    yield from ((f"wb.widgets.{name}", getattr(wb.widgets, name)) for name in wb.widgets.__all__)
    of_values = {type(wb.plan_cache): "plan_cache", Breakpoints: "session.breakpoints"}
    classes = {thing: name for name, thing in PUBLIC.items() if isinstance(thing, type)} | of_values
    seen = set()
    for thing, name in classes.items():
        if thing in of_values:
            yield name, thing
        for member, functions in own_members(thing):
            for function in functions:
                if function not in seen:
                    seen.add(function)
                    yield f"{name}.{member}", function


DOCUMENTED = [pytest.param(thing, id=name) for name, thing in documented()]


def section(text: str, title: str) -> list[str]:
    """Names that a section of a docstring describes, ``Parameters`` say; ``a, b : int`` are two."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)", text, re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^(\S.*)$(?=\n +\S)", found[1], re.MULTILINE) if found else []
    return [name.strip("* :") for head in heads for name in head.split(" : ")[0].split(",")]


def parameters(thing: Any) -> list[str]:
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls", "_", "__")]


@pytest.mark.parametrize("thing", DOCUMENTED)
def test_sections_are_those_of_numpydoc_and_name_real_parameters(thing):
    text = inspect.getdoc(thing) or ""
    known = {"Parameters", "Returns", "Raises", "Attributes", "Examples", "Notes", "References", "See Also"}
    titles = re.findall(r"^(\w[\w ]*)\n-+$", text, re.MULTILINE)
    assert set(titles) <= known, titles
    named = section(text, "Parameters")
    assert "Parameters" not in titles or named
    assert not named or set(named) <= set(parameters(thing))
    assert len(set(named)) == len(named)


FUNCTIONS = [n for n in wb.__all__ if isinstance(getattr(wb, n), types.FunctionType)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_describe_all_their_parameters(name):
    thing = getattr(wb, name)
    text = inspect.getdoc(thing)
    assert section(text, "Parameters") == parameters(thing)
    assert "Returns\n-------" in text


@pytest.mark.parametrize("name", RESULTS)
def test_results_describe_all_their_fields(name):
    thing = PUBLIC[name]
    fields = getattr(thing, "_fields", None) or [f.name for f in dataclasses.fields(thing)]
    described = section(inspect.getdoc(thing), "Attributes")
    assert [n for n in described if n in fields] == list(fields)
    assert not [n for n in described if n not in fields and not isinstance(inspect.getattr_static(thing, n), property)]


def test_sections_that_are_wrong_are_found():
    text = (
        "First.\n\nParameters\n----------\na, b : int\n    Two.\n**more\n    Others.\n\nReturns\n-------\nint\n    It."
    )
    assert section(text, "Parameters") == ["a", "b", "more"] and section(text, "Raises") == []


# -- examples in docstrings -------------------------------------------------------------------------------------------
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
EXAMPLES = [p for p in DOCUMENTED if ">>>" in (inspect.getdoc(p.values[0]) or "")]


@pytest.mark.parametrize("name", sorted([*wb.__all__, *(f"widgets.{name}" for name in wb.widgets.__all__)]))
def test_every_public_name_has_an_example(name):
    thing = operator.attrgetter(name)(wb)
    own = thing.__doc__ if isinstance(thing, type | types.FunctionType) else type(thing).__doc__
    assert ">>>" in own


class AnyOutput(doctest.OutputChecker):
    """Takes whatever an example prints."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return True


def run_example(
    name: str, text: str, names: dict[str, Any], checker: doctest.OutputChecker | None = None
) -> tuple[dict[str, Any], str]:
    """Run the examples of a docstring; returns the names that they made, and a report of what failed."""
    test = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    report = io.StringIO()
    failed = doctest.DocTestRunner(checker, optionflags=FLAGS).run(test, out=report.write, clear_globs=False).failed
    return test.globs, report.getvalue() if failed else ""


def test_examples_that_are_wrong_are_found():
    assert "Expected:" in run_example("sum", ">>> 1 + 1\n3\n", {})[1]
    assert run_example("sum", ">>> total = 1 + 1\n>>> total\n2\n", {})[0]["total"] == 2


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the models that examples read, which is the current one."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "tests/frontends/data/saved_v2", tmp_path / "saved_model")
    shutil.copy(ROOT / "tests/frontends/data/loop.pb", tmp_path / "loop.pb")
    (tmp_path / "model.fb").write_bytes(samediff_net())
    if importlib.util.find_spec("onnx") is not None:
        (tmp_path / "loop.onnx").write_bytes(onnx_loop())


def samediff_net() -> bytes:
    """A layer with softmax, as SameDiff writes it."""
    sd = SameDiff()
    sd.placeholder("input", shape=[-1, 2])
    sd.constant("w", np.float32([[1, 2], [3, 4]]), VARIABLE)
    sd.op("mmul", "logits", ["input", "w"], ints=[0, 0, 0])
    sd.op("softmax", "softmax", ["logits"], ints=[-1])
    return sd.bytes()


def onnx_loop() -> bytes:
    """Newton's iteration for the square root of ``a``, three times, as an ONNX model."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
        newton (float a) => (float root) {
            count = Constant <value = int64 {3}> ()
            half = Constant <value = float {0.5}> ()
            root = Loop (count, , a) <body = body (int64 i, bool go, float x) => (bool on, float better) {
                quotient = Div(a, x)
                sum = Add(x, quotient)
                better = Mul(sum, half)
                on = Identity(go)
            }>
        }"""
    return importlib.import_module("onnx.parser").parse_model(text).SerializeToString()


@pytest.fixture
def around(files):
    """The names that examples use without making them: those of the example on the first page of the reference."""
    names, report = run_example("workbench", wb.__doc__, {"np": np})
    assert not report, report
    with names["session"]:
        yield names


def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = (x + a / x) * 0.5
    return x


#: examples that take the graph or the session of the first page
TAKE_GRAPH = [p for p in EXAMPLES if re.search(r"\b(graph|session)\b", inspect.getdoc(p.values[0]))]


def captured_names(names: dict[str, Any], text: str) -> tuple[dict[str, Any], str]:
    """The names and the text of an example with a graph that a Python function became, in place of a built one."""
    graph = wb.graph(newton).graph_for(2.0)
    (frame,) = (path[0] for path in graph.frames if path)
    session = wb.Session(graph, {"a": 2.0})
    session.run()
    return {**names, "graph": graph, "session": session}, text.replace('"while', f'"{frame}')


@pytest.mark.slow
@pytest.mark.parametrize("thing", TAKE_GRAPH)
def test_examples_that_take_a_graph_take_a_captured_function(thing, around):
    """Without an exception; what they print has other names."""
    names, text = captured_names(around, inspect.getdoc(thing))
    with names["session"]:
        _work(text, names, AnyOutput())


@pytest.mark.parametrize("thing", EXAMPLES)
def test_examples_of_docstrings_work(thing, around):
    _work(inspect.getdoc(thing), around)


def _work(text: str, around: dict[str, Any], checker: doctest.OutputChecker | None = None) -> None:
    for words, library in (
        ("loop.onnx", "onnx"),
        ("spill=", "pyarrow"),
        ("import jax", "jax"),
        ("import torch", "torch"),
    ):
        if words in text:
            pytest.importorskip(library, reason="an extra is not installed")
    open_widgets = ipywidgets.widgets.widget._instances
    before = set(open_widgets)
    names, report = run_example("example", text, around, checker)
    for made in names.values():
        if isinstance(made, wb.Session | wb.ArrayManager | wb.widgets.Pump) and made is not around["session"]:
            made.close()
    for kind in (wb.widgets.Debugger, FigureView | HtmlView | StatusWidget):  # a panel closes its views itself
        for shown in [w for name, w in open_widgets.items() if name not in before and isinstance(w, kind)]:
            shown.close()
    if report:
        pytest.fail(report, pytrace=False)
    assert not wb.memory().collecting  # the tests behind it share the process
    assert set(open_widgets) <= before


# -- README and the pages of the documentation ------------------------------------------------------------------------
def blocks(language: str) -> list[str]:
    found = rf"^```{language}\n(.*?)^```"
    return [block for text in PAGES.values() for block in re.findall(found, text, re.DOTALL | re.MULTILINE)]


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 140


@pytest.mark.parametrize("folder", ["tutorial", "howto", "reference", "explanation"])
def test_every_page_is_two_clicks_from_the_first(folder):
    """The first page leads to the four indices, each index to its pages; ``make docs`` checks links and headings."""
    docs = ROOT / "workbench/docs"
    assert f"{folder}/index" in (docs / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^[\w/]+$", (docs / folder / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    there = {path.stem for path in (docs / folder).glob("*.md")} - {"index"}
    assert there <= set(listed)
    beside = {Path(place).with_suffix("").as_posix() for place in (*SITE.ELSEWHERE.values(), *GENERATED)}
    assert {f"{folder}/{name}" for name in listed} <= beside | {f"{folder}/{name}" for name in there}


def test_the_bug_of_the_readme_is_found_as_it_says(tmp_path):
    program, answer = (
        re.search(rf"^```{kind}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1] for kind in ("python", "text")
    )
    file = tmp_path / "bug.py"
    file.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, "-P", str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in answer.splitlines():
        assert line.removesuffix(" ...").strip(". ") in done.stdout, line


def test_commands_in_the_documentation_exist():
    lines = [line.split("#")[0].strip() for text in blocks("sh") for line in text.splitlines()]
    commands = [line for line in lines if line.startswith("workbench ")]
    assert len(commands) > 8
    for line in commands:
        words = shlex.split(line)[1:]
        assert parser().parse_known_args(words)[0].run, line


def test_targets_of_make_in_the_documentation_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = "\n".join([*blocks("sh"), *re.findall(r"`(make [^`]+)`", "\n".join(PAGES.values()))])
    for target in set(re.findall(r"^make ([a-z][a-z-]+)", named, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_are_there(page):
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)", text)
    links += [(name, "") for name in re.findall(r'src(?:set)?="(?!https?:)([^"]+)"', text)]
    for name, anchor in links:
        target = (page.parent / name).resolve()
        if target.is_relative_to(ROOT / "workbench/docs") and not target.exists():
            assert target.relative_to(ROOT / "workbench/docs").as_posix() in STAGED
            continue
        assert target.exists(), name
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), (name, anchor)
    named = re.findall(r"`((?:notebooks|tests|workbench|widgets|binder|kernels_pyx|\.ci|\.github)/[\w./-]+)`", text)
    assert not [name for name in named if not (ROOT / name).exists()]
    for module in re.findall(r"python -m (tests\.[\w.]+)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or path.is_dir(), module


#: `NAME` (`path`), or `NAME` in `path`
DEFINED = r"`(\w+)`\s+(?:\(|in\s+)`([\w./-]+)`"


@pytest.mark.parametrize(("page", "least"), [("CONTRIBUTING", 6), ("SECURITY", 0)])
def test_paths_of_a_page_are_whole_and_hold_the_names_that_are_said_to_be_in_them(page, least):
    text = PAGES[ROOT / ".github" / f"{page}.md"]
    paths = re.findall(r"`([\w.-]+/[\w./-]*|\w[\w-]*\.(?:py|pyx|def|toml|md|js|txt))`", text)
    assert len(paths) > 6 and not [path for path in paths if not (ROOT / path).exists()]
    defined = re.findall(DEFINED, text)
    assert len(defined) >= least
    for name, path in defined:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(?:class |def )?{name}\b", source, re.MULTILINE), (name, path)


# -- the site ---------------------------------------------------------------------------------------------------------
def test_the_site_has_a_page_for_every_public_name():
    pages = SITE.generated()
    assert set(GENERATED) <= set(pages)
    titles = {text.partition("\n")[0] for text in pages.values()}
    for room, module in (("workbench", wb), ("workbench.widgets", wb.widgets)):
        for name in module.__all__:
            if isinstance(getattr(module, name), type | types.FunctionType):
                assert any(title.endswith(f".{name}") for title in titles), name
                assert f":doc:`{name} <" in pages[f"reference/api/{room}.rst"]
    assert max(map(len, pages.values())) < 300_000


def test_slugs_are_read_from_the_source():
    found = SITE.errors.slugs()
    assert len(found) > 250
    assert found["unknown-feed"][0].kind == "FeedError" and "no input" in found["unknown-feed"][0].message
    row = next(line for line in SITE.errors.pages()["reference/errors.md"].splitlines() if "`unknown-feed`" in line)
    assert row.count(" | ") == 3


@pytest.mark.parametrize(
    ("other", "dead"),
    [("<p id='there'>", []), ("<p id='elsewhere'>", ["a.html: b.html#there"]), (None, ["a.html: b.html#there"])],
)
def test_dead_links_of_the_site_are_found(tmp_path, other, dead):
    spec = importlib.util.spec_from_file_location("links", ROOT / ".ci/docs/links.py")
    links = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(links)
    (tmp_path / "a.html").write_text('<a href="b.html#there"></a><a href="https://example.org/x"></a><a href="#"></a>')
    if other is not None:
        (tmp_path / "b.html").write_text(other)
    (tmp_path / "llms.txt").write_text("- [a](a.html): a page\n- [c](_sources/c.md): another\n")
    assert links.dead(tmp_path) == [*dead, "llms.txt: _sources/c.md"]


def test_the_buttons_of_binder_and_colab_have_the_address_of_the_project():
    spec = importlib.util.spec_from_file_location("launch", ROOT / ".ci/docs/launch.py")
    launch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launch)
    for name in launch.FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert launch.filled(text, launch.source()) == text, "run python .ci/docs/launch.py"
        moved = launch.filled(text, "https://github.com/some/where.git")
        assert moved != text and "YOUR_ACCOUNT" not in moved and launch.source() not in moved
        assert "github/" not in moved or "colab.research.google.com/github/some/where/blob/main/" in moved
    assert "mybinder.org/v2/git/https%3A%2F%2Fgithub.com%2Fsome%2Fwhere.git/HEAD?" in launch.filled(
        "https://mybinder.org/v2/git/x", "https://github.com/some/where.git"
    )


def test_the_notebook_of_colab_installs_the_course_and_shows_the_panel():
    cells = json.loads((ROOT / ".github/colab.ipynb").read_text(encoding="utf-8"))["cells"]
    install, panel = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    guide = (ROOT / "workbench/docs/howto/colab.md").read_text(encoding="utf-8")
    assert install.replace("\n\n", "\n") in guide, "the page has the cell as it is"
    names: dict[str, Any] = {}
    body, last = panel.rsplit("\n\n", 1)
    linecache.cache["<colab>"] = (len(body), None, body.splitlines(True), "<colab>")
    exec(compile(body, "<colab>", "exec"), names)
    shown = eval(last.strip(), names)
    try:
        assert shown.session.run().reason is wb.StopReason.FINISHED
    finally:
        shown.close()


def test_a_link_to_a_file_without_a_place_on_the_site_becomes_its_path():
    page = ROOT / "workbench/docs/reference/types.md"
    link = SITE.linker(page, SITE.places())
    assert link("[rules](../../../kernels_pyx/types/rules.md)") == "[rules](type_rules.md)"
    assert link("[how](../howto/sweeps.md#designs)") == "[how](../howto/sweeps.md#designs)"
    assert link("[the table](../../../Makefile)") == "the table (`Makefile`)"
