"""``%%watch`` and ``%wb``: what the cell does is unchanged, and its loops are recorded."""

from __future__ import annotations

import ast
import re
import sys

import ipywidgets
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import workbench as wb
from workbench.magics.insert import insert
from workbench.magics.watch_line import parse_line
from workbench.widgets import Debugger


@pytest.fixture(scope="module")
def shell():
    main = sys.modules["__main__"]  # a shell puts its own in the place
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "workbench")
    yield shell
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main


@pytest.fixture
def run(shell):
    def run(cell: str, fails: type[BaseException] | None = None):
        result = shell.run_cell(cell)
        error = result.error_before_exec or result.error_in_exec
        assert isinstance(error, fails) if fails else error is None, error
        return shell.user_ns

    shell.user_ns.pop("_watch", None)
    return run


def test_the_loop_of_a_cell_is_recorded(run):
    names = run(
        "%%watch x, error until error < 1e-12 as newton\n"
        "x, error = 2.0, 1.0\n"
        "while error > 1e-12:\n"
        "    new = (x + 2.0 / x) / 2\n"
        "    error = abs(new - x)\n"
        "    x = new\n"
    )
    watch = names["newton"]
    assert names["_watch"] is watch and watch.names == ["x", "error"] and watch.state == "finished"
    x, want = 2.0, []
    while not want or abs(want[-1][1]) > 1e-12:
        x, old = (x + 2.0 / x) / 2, x
        want.append((x, abs(x - old)))
    assert watch.calls == len(want)
    assert watch["x"].values.tolist() == [a for a, _ in want]
    assert watch["error"].values.tolist() == [b for _, b in want]
    assert [str(clause) for clause in watch.until] == ["error < 1e-12"]


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("for k in range(9):\n    x = k\n    if k % 2:\n        continue\n    y = k", 9),
        ("for k in range(9):\n    x = k\n    if k == 4:\n        break", 5),
        ("for k in range(9):\n    try:\n        x = k\n        continue\n    finally:\n        y = 1", 9),
        ("k = 0\nwhile True:\n    k += 1\n    x = k\n    if k == 7:\n        break", 7),
        ("for k in range(3):\n    x = k\nelse:\n    for j in range(2):\n        z = j", 3),
        ("def f():\n    for k in range(9):\n        x = k\n        if k == 3:\n            return x\nf()", 4),
        ("def f():\n    for k in range(4):\n        x = k\n        yield x\nlist(f())", 4),
        ("import asyncio\nfor k in range(3):\n    x = k\n    await asyncio.sleep(0)", 3),
        ("for k in []:\n    x = k", 0),
    ],
)
def test_each_pass_is_one_iteration_however_it_ends(run, body, passes):
    watch = run(f"%%watch x\n{body}")["_watch"]
    watch = watch[0] if isinstance(watch, list) else watch
    assert watch.calls == passes
    if passes:
        assert watch["x"].values.tolist() == (list(range(1, 8)) if passes == 7 else list(range(passes)))


def test_loops_in_loops_are_nested_watches(run):
    names = run(
        "%%watch total, step\ntotal = 0\nfor i in range(3):\n"
        "    for j in range(i + 1):\n        step = i * j\n    total += i"
    )
    outer = names["_watch"]
    (inner,) = outer.children.values()
    assert outer["total"].values.tolist() == [0, 1, 3] and inner.parent is outer
    assert inner.calls == 6 and inner["step"].values.tolist() == [0, 0, 1, 0, 2, 4]
    assert len(outer.trace.graph.frames) == 3


def test_without_names_all_numbers_and_arrays_are_recorded(run):
    names = run(
        "%%watch\nimport numpy as np\na, text = np.zeros(3), ''\n"
        "for k in range(4):\n    a[k % 3] = k\n    text += 'x'\n    b = k / 2"
    )
    watch = names["_watch"]
    assert sorted(watch.names) == ["a", "b", "k"]
    assert watch["a"].values.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 2], [3, 1, 2]]


def test_errors_results_and_lines_are_those_of_the_cell(run, shell, capsys):
    names = run("%%watch x\n\nfor k in range(5):\n    x = k\n    1 / (3 - k)\n", ZeroDivisionError)
    assert names["_watch"].state == "failed" and names["_watch"].calls == 3
    told = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert "----> 5     1 / (3 - k)" in told
    assert shell.run_cell("%%watch x\nfor k in range(2):\n    x = k\nx * 10").result == 10
    assert shell.run_cell("for k in range(2):\n    x = k\nx").result == 1
    assert names["_watch"].calls == 2, "the next cell is not watched"


def test_a_function_of_the_cell_is_as_before_when_the_cell_is_over(run):
    names = run("%%watch x\ndef f(n):\n    for k in range(n):\n        x = k\n    return x\nf(3)")
    assert names["f"](100) == 99 and names["_watch"].calls == 3


def test_a_caught_error_in_an_inner_loop_does_not_confuse_the_outer(run):
    cell = (
        "%%watch i, j\nfor i in range(4):\n    try:\n        for j in range(3):\n            if j == i:\n"
        "                raise KeyError\n    except KeyError:\n        pass\n"
    )
    outer = run(cell)["_watch"]
    assert outer["i"].values.tolist() == [0, 1, 2, 3]
    (inner,) = outer.children.values()
    assert inner["j"].values.tolist() == [0, 0, 1, 0, 1, 2]


def outer_and_inner(cell: str, run) -> tuple[list, list]:
    outer = run(f"%%watch i, j\n{cell}")["_watch"]
    (inner,) = outer.children.values()
    assert outer.state == inner.state == "finished"
    return outer["i"].values.tolist(), inner["j"].values.tolist()


def test_a_loop_of_a_function_belongs_to_the_loop_that_calls_it(run):
    cell = "def f(n):\n    for j in range(n):\n        pass\nfor i in range(3):\n    f(i)"
    assert outer_and_inner(cell, run) == ([0, 1, 2], [0, 0, 1])


def test_a_generator_waits_while_the_loop_over_it_runs(run):
    cell = "def f():\n    for j in range(4):\n        yield j\nfor i in f():\n    pass"
    assert outer_and_inner(cell, run) == ([0, 1, 2, 3], [0, 1, 2, 3])


def test_a_function_that_an_error_left(run):
    cell = (
        "def f(n):\n    for j in range(n):\n        1 / (1 - j)\nfor i in range(3):\n    try:\n        f(3)\n"
        "    except ZeroDivisionError:\n        pass"
    )
    assert outer_and_inner(cell, run) == ([0, 1, 2], [0, 0, 0])
    cell = "try:\n    for a in range(3):\n        1 / (1 - a)\nexcept ArithmeticError:\n    pass\nfor b in range(2): b"
    two = run(f"%%watch\n{cell}")
    assert [watch.names for watch in two["_watch"]] == [["a"], ["b"]], "one after the other, not nested"


def test_a_function_that_calls_itself_and_threads(run):
    watch = run("%%watch j\ndef f(n):\n    for j in range(n):\n        f(j)\nf(3)")["_watch"]
    assert watch.calls == 7 and watch.state == "finished"
    cell = (
        "%%watch j\nimport threading\ndef f():\n    for j in range(50):\n        pass\n"
        "ts = [threading.Thread(target=f) for _ in range(4)]\n[t.start() for t in ts]\n[t.join() for t in ts]"
    )
    watch = run(cell)["_watch"]
    assert watch.calls == 200 and watch.state == "finished"


def test_a_bound_may_be_a_variable(run):
    names = run("%%watch r until r < tol\ntol, r = 1e-3, 1.0\nwhile r >= tol:\n    r /= 2")
    assert [str(clause) for clause in names["_watch"].until] == ["r < 0.001"]


@pytest.mark.parametrize(
    "line",
    [
        "x until",
        "1x",
        "x until x",
        "x until x == 3",
        "x until x < 3 or x > 4",
        "x until f(x) < 3",
        "x as 3",
        "x until x < 'a'",
    ],
)
def test_a_wrong_line_says_what_to_write(run, shell, capsys, line):
    if line == "x until":  # two names, of which the cell assigns one
        run(f"%%watch {line}\nfor x in range(2): pass")
        assert "no loop of this cell assigns until" in capsys.readouterr().out
        return
    run(f"%%watch {line}\nfor x in range(2): pass", SyntaxError)
    told = capsys.readouterr()
    assert "%%watch" in told.out + told.err
    assert (
        shell.input_transformer_manager.check_complete(f"%%watch {line}\nfor x in range(2): pass\n\n")[0] == "invalid"
    )
    run("for x in range(2): pass")


def test_names_that_no_loop_assigns_are_said(run, capsys):
    run("%%watch resid\nfor k in range(2):\n    residual = k")
    assert "no loop of this cell assigns resid. Its loops assign k, residual." in capsys.readouterr().out
    run("%%watch\nx = [k for k in range(3)]")
    assert "no for or while loop" in capsys.readouterr().out


def test_the_line_is_read():
    assert parse_line("") == ((), (), None)
    found = parse_line("x, y until x < 1e-3 and y >= -2 as both")
    assert found == (("x", "y"), (("x", "<", 1e-3), ("y", ">=", -2.0)), "both")


def test_every_inserted_node_has_a_place_in_the_cell():
    text = "for i in range(3):\n    x = i\n    while x:\n        x -= 1\n        if x == 2:\n            break\n"
    tree = ast.parse(text)
    loops = insert(tree, "probe")
    assert [(loop.line, loop.around, loop.names) for loop in loops] == [(1, None, ("i", "x")), (3, 0, ("x",))]
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            assert 1 <= node.lineno <= node.end_lineno <= 6
    compile(tree, "cell", "exec")


def test_help_explains_the_magics(shell, capsys):
    for ask in ("%%watch?", "%wb?", "%%wb?"):
        shell.run_cell(ask)
    told = capsys.readouterr().out
    assert "residual until residual" in told and "wb graph f(2.0)" in told


FUNCTION = "def f(a):\n    x = a\n    while abs(x * x - a) > 1e-9:\n        x = (x + a / x) * 0.5\n    return x\n"


def test_a_function_is_shown_as_a_graph(run, shell):
    run(FUNCTION)
    graph = shell.run_line_magic("wb", "graph f(2.0)")
    assert isinstance(graph, wb.Graph) and len(graph.frames) == 2
    assert np.isclose(list(graph.run(a=2.0).values())[0], 2**0.5)


def test_a_cell_opens_the_panel_on_its_function(shell):
    result = shell.run_cell(f"%%wb f(2.0)\n{FUNCTION}")
    assert result.error_in_exec is None
    shown = [w for w in ipywidgets.widgets.widget._instances.values() if isinstance(w, Debugger)]
    assert [float(w.session.inputs["a"]) for w in shown] == [2.0], "the panel on the function of the cell"
    shown[0].close()
    panel = shell.run_line_magic("wb", "debug f(3.0)")
    assert panel.session.graph.name == "f" and float(panel.session.inputs["a"]) == 3.0
    panel.close()


@pytest.mark.parametrize("line", ["", "graph", "graph 3", "graph f(", "f"])
def test_a_wrong_line_of_wb(shell, line):
    from IPython.core.error import UsageError

    with pytest.raises(UsageError) as caught:
        shell.run_line_magic("wb", line)
    assert "%wb graph f(2.0)" in str(caught.value)


def test_a_stop_of_the_watch_interrupts_the_cell(run):
    names = run(
        "%%watch x\nfrom workbench.recorder import watches\nfor k in range(100):\n    x = k\n    if k == 3:\n"
        "        watches()[-1].request_stop()",
        KeyboardInterrupt,
    )
    assert names["_watch"].calls == 4 and names["k"] == 3
