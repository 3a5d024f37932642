"""Names of a stranger's model reach no terminal and no page raw: not in any text of any public object or error.

All such texts go through :func:`workbench.text.harmless` or :func:`workbench.text.lines`; a class that writes itself
without is found here, too.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import workbench as wb
from tests import hostile_objects
from tests.hostile_objects import HOST, LOOP, X
from workbench.cli.main import main

ROOT = Path(__file__).parents[1]
#: makers of objects -> how many there are at least
MAKERS = {"session_objects": 55, "breakpoint_objects": 12, "sweep_objects": 9, "watch_objects": 8, "memory_objects": 7}
#: classes whose text is their address, by which programs find them again
ADDRESSES = {"Ref"}


def raw(text: str) -> str:
    """The characters of a text that do something, or that nobody sees."""
    return "".join(c for c in text if c != "\n" and not c.isprintable())


def texts(thing):
    """Every text that Python, rich or a notebook makes of an object."""
    if not isinstance(thing, str):  # a name is what it is; texts are made where they are shown
        yield from (str(thing), f"{thing}", f"{thing:}")
    yield repr(thing)
    html = getattr(thing, "_repr_html_", None)
    yield (html() or "") if html is not None else ""
    out = io.StringIO()
    Console(file=out, width=100).print([thing] if isinstance(thing, str) else thing)
    yield out.getvalue()


@pytest.mark.parametrize("maker", MAKERS)
def test_no_object_prints_a_hostile_name_raw(maker):
    found = 0
    for what, thing in getattr(hostile_objects, maker)():
        found += 1
        for text in texts(thing):
            assert not raw(text), (what, type(thing), ascii(text))
    assert found >= MAKERS[maker], f"{maker} made {found} objects"


def test_texts_that_methods_return_are_harmless():
    with wb.Session(hostile_objects.graph(), hostile_objects.feeds()) as session:
        session.run()
        report = wb.analyze(session)
        told = [
            session.graph.text(),
            report.report(),
            *(f.sentence for f in report.findings),
            session.explain(X).text(),
        ]
        told += [session.memory().text(), session.dag.text(), session.graph.cross_references().text()]
        assert len(told) > 5 and all(told) and not any(map(raw, told))
        assert wb.parse(session.graph.text()) == session.graph


def test_no_error_says_a_hostile_name_raw():
    kinds = set()
    for what, make in hostile_objects.error_makers():
        try:
            made = make()
        except wb.WorkbenchError as error:
            kinds.add((type(error), error.slug))
            parts = [
                error.message,
                error.fix or "",
                str(getattr(error, "report", None)),
                str(error.tag),
                str(error.source),
            ]
            for text in [*texts(error), *parts]:
                assert not raw(text), (what, ascii(text))
        else:
            assert what == "breakpoint pattern", (what, made)  # which may fit nodes of later
    assert len(kinds) >= 30, sorted(map(str, kinds))


def test_no_command_prints_a_hostile_name_raw(tmp_path, capsys):
    model, second, saved = tmp_path / "m.txt", tmp_path / "n.txt", tmp_path / "t.wbtrace"
    model.write_text(hostile_objects.graph().text(), encoding="utf-8")
    second.write_text(hostile_objects.broken().text(), encoding="utf-8")
    with wb.Session(hostile_objects.graph(), hostile_objects.feeds()) as session:
        session.run()
        session.trace.save(saved)
    a, start = f"in{HOST}", f"start{HOST}"
    given = ["-i", f"{a}=2", "-i", f"{start}=1"]
    lines = (
        f"step\nbreak {X}\nrun\nlist\nwhere\nvalues\nframes\nexplain {X}\nwhy\nreport\nstop\nprint {X}\nbogus{HOST}\n"
    )
    script = tmp_path / "script"
    script.write_text(lines, encoding="utf-8")
    commands = [
        ["run", model, *given],
        ["run", model, *given, "--report"],
        ["run", model, *given, "--json"],
        ["run", model, "-i", f"{HOST}=2"],
        ["run", second, "-i", f"n{HOST}=0"],
        ["inspect", model],
        ["inspect", model, "--nodes"],
        ["inspect", model, "--text"],
        ["inspect", model, "--node", f"{LOOP}/{X}/Merge"],
        ["inspect", model, "--node", HOST],
        ["inspect", saved],
        ["inspect", saved, "--values"],
        ["inspect", saved, "--report"],
        ["inspect", saved, "--json"],
        ["explain", saved, f"out{HOST}"],
        ["explain", saved, HOST],
        ["explain", saved, f"out{HOST}", "--json"],
        ["diff", saved, saved],
        ["diff", saved, model, "-i", f"{a}=3", "-i", f"{start}=1"],
        ["diff", saved, model, "-i", f"{a}=3", "-i", f"{start}=1", "--json"],
        ["sweep", model, f"{a}=1:4:4", "-i", f"{start}=1"],
        ["sweep", model, f"{HOST}=1:4:4", "-i", f"{start}=1"],
        ["debug", model, *given, "-x", script, "--batch"],
    ]
    said = 0
    for command in commands:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            with contextlib.suppress(SystemExit):
                main(list(map(str, command)))
        out, err = capsys.readouterr()
        said += len(out) + len(err)
        assert not raw(out) and not raw(err), (command[:1], ascii(out[-300:]), ascii(err[-300:]))
        assert out or err
        if "--json" in command:
            json.loads(out)
    assert said > 3000


def test_printing_ops_of_a_model_obey_nobody(capsys):
    b = wb.GraphBuilder("g")
    x = b.placeholder("x", "float64", ())
    b.build({"y": b.op("print", x, message=HOST)}).run(x=1.0)
    out = capsys.readouterr().out
    assert out and not raw(out)


def methods():
    """(place, definition) of each method of a class of the package that makes a text of its object."""
    for path in sorted([*(ROOT / "workbench").rglob("*.py"), *(ROOT / "widgets").rglob("*.py")]):
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.ClassDef) and found.name not in ADDRESSES:
                for one in ast.walk(found):
                    if isinstance(one, ast.FunctionDef) and one.name in ("__str__", "__repr__", "_repr_html_"):
                        yield f"{path.relative_to(ROOT)}: {found.name}.{one.name}", one


@pytest.mark.slow
def test_every_text_of_a_class_goes_through_the_door():
    count, open_doors = 0, []
    for place, method in methods():
        last = method.body[-1]
        if isinstance(last, ast.Return) and not isinstance(last.value, ast.Constant):  # not the same for all objects
            count += 1
            if "harmless" not in {d.id for d in method.decorator_list if isinstance(d, ast.Name)}:
                open_doors.append(place)
    assert count > 120 and not open_doors, open_doors
