"""The terminal debugger: every command, its answer, and the Python that it leaves behind."""

from __future__ import annotations

import io

import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from workbench.analysis import Status, Termination
from workbench.analysis.laws.posterior import outlook
from workbench.cli.terminal import Terminal, lines
from workbench.cli.terminal.looking import laws_of
from workbench.cli.terminal.table import COMMANDS, find
from workbench.cli.terminal.words import condition, indexed, iteration, span, split
from workbench.errors import WorkbenchError


@pytest.fixture
def open_terminal():
    made = []

    def make(graph=None, **feeds):
        session = wb.Session(graph or models.newton(), feeds or {"a": 2.0})
        made.append((session, Terminal(session, io.StringIO())))
        return made[-1][1]

    yield make
    for session, terminal in made:
        terminal.close()
        session.close()


@pytest.fixture
def terminal(open_terminal):
    return open_terminal()


def said(terminal: Terminal, *wanted: str) -> str:
    """Output of the lines."""
    start = terminal.screen.file.tell()
    for line in wanted:
        terminal.do(line)
    terminal.screen.file.seek(start)
    return terminal.screen.file.read()


def test_nothing_is_said_of_values_before_any_and_ignored_ones_are_not_called_finite(terminal):
    assert "No values are recorded yet." in said(terminal, "nan")
    said(terminal, "run")
    assert "All recorded values are finite." in said(terminal, "nan")
    assert "All other recorded values are finite." in said(terminal, "nan while/*")


def test_lines_that_a_move_does_not_print_are_counted(terminal, monkeypatch):
    monkeypatch.setattr("workbench.cli.terminal.shell.LOGGED", 2)
    assert "no lines yet" in said(terminal, "log")
    shown = said(terminal, 'log x "x is {value}"', "run")
    lines = list(terminal.session.breakpoints.log)
    assert f"... {len(lines) - 2} earlier lines; log prints them" in shown and shown.count("x is ") == 2 + 1
    assert said(terminal, "log").count("x is ") == len(lines)


def test_moves_both_ways_stop_where_the_session_does(terminal):
    session = terminal.session
    assert "next   while/x/Enter" in said(terminal, "step")
    assert session.position.event == 1
    said(terminal, "s 3")
    assert session.position.event == 4 or session.position.event == 5  # invariants go along
    event = session.position.event
    said(terminal, "s", "s-")
    assert session.position.event == event
    said(terminal, "i", "iteration 2")
    assert session.position.iteration == (3,)
    said(terminal, "i-")
    assert session.position.iteration == (2,)
    assert "output x = 1.41421356" in said(terminal, "run")
    assert session.state == "finished"
    said(terminal, "back")
    assert session.state == "paused"
    said(terminal, "to x 3")
    assert session.position.iteration == (3,) and session.position.node == "while/x/Merge"
    said(terminal, "restart", "into")
    assert session.position.frame == ("while",)
    said(terminal, "out")
    assert session.position.frame == ()
    assert terminal.failed == 0


def test_an_empty_line_repeats_a_move_and_nothing_else(terminal):
    said(terminal, "")
    assert terminal.session.position.event == 0
    said(terminal, "s", "", "")
    event = terminal.session.position.event
    said(terminal, "where", "")
    assert terminal.session.position.event == event >= 3
    assert terminal.code == ["session.step()"] * 3


def test_values_of_one_moment_and_of_many(terminal):
    said(terminal, "run")
    assert "x = 1.41421356" in said(terminal, "print x")
    assert "x = 1.5   float64[]" in said(terminal, "p x 1")
    window = said(terminal, "p x 1:3")
    assert "1.5" in window and "1.41666" in window and "1.41421568" not in window
    assert said(terminal, "history x").count("\n") == 7
    assert "█▂▁▁▁" in said(terminal, "variables")
    assert "while/divide" in said(terminal, "variables all")


def test_slices_of_tensors(open_terminal):
    terminal = open_terminal(models.vectors(), x=np.arange(6, dtype=np.float32).reshape(2, 3), label="ok")
    said(terminal, "run")
    assert "[2. 8.]" in said(terminal, "print twice[:, 1]")
    assert "float32[2,3]" in said(terminal, "print twice") and "max 10" in said(terminal, "print twice")
    assert "ok" in said(terminal, "print label")
    for wrong in ("print twice[5, 0]", "print twice[1:]x", "print twice[0,0,0]", "print twice[__import__]"):
        said(terminal, wrong)
    assert terminal.failed == 4


def test_large_and_unhealthy_arrays_are_summarised(open_terminal):
    b = wb.GraphBuilder("big")
    x = b.placeholder("x", "float64", (1000, 1000))
    values = np.ones((1000, 1000))
    values[0, :2] = np.nan, np.inf
    terminal = open_terminal(b.build(x + x), x=values)
    said(terminal, "run")
    text = said(terminal, "p x")
    assert len(text) < 10_000 and "1 NaN, 1 infinite of 1,000,000" in text


def test_list_says_how_a_node_runs(open_terminal):
    b = wb.GraphBuilder("loop")
    x, n = b.placeholder("x", "float64", (900,)), b.placeholder("n", "int64")
    final, _ = b.while_loop(lambda x, i: i < n, lambda x, i: (b.op("tanh", b.op("sqrt", x * x + 1.0)), i + 1), [x, 0])
    terminal = open_terminal(b.build({"y": final}), x=np.ones(900), n=np.int64(3))
    text = " ".join(said(terminal, "list while/sqrt").split())
    assert "where nothing stops, it runs block by block with while/multiply, while/add" in text
    assert "it runs alone: its loop is one of NumPy's" in said(terminal, "list while/tanh")
    assert "add on int64, int64 is compiled" in said(terminal, "list while/add_1")


def test_looking_around(terminal):
    said(terminal, "i 3", "s 3")
    assert "►" in said(terminal, "frames") and "iteration 2" in said(terminal, "frames")
    assert "  ran    " in said(terminal, "where")
    assert "Merge -> float64[]" in said(terminal, "list x") and "subtract" in said(terminal, "list")
    assert "graph newton: 18 nodes" in said(terminal, "graph")
    assert "while/multiply_1" in said(terminal, "find mult") and "2 found" in said(terminal, "find mult")
    assert "x[while 1] = 1.5" in said(terminal, "explain x 1")
    why = said(terminal, "why")
    assert "PROVED: the loop ends" in why and "Deciding clause: " in why and "(false in iteration 4: " in why
    assert said(terminal, "laws").startswith("No laws were weighed. ")
    assert "Only 3 values: at least 5 are needed." in said(terminal, "laws x")
    assert "x" in said(terminal, "report") and "All recorded values are finite." in said(terminal, "nan")
    assert "while/x/Switch" in said(terminal, "branches")
    assert said(terminal, "events 3").count("\n") == 4
    assert "x = 1.41666" in said(terminal, "show x") and "x = " in said(terminal, "step")
    assert "no value is shown" in said(terminal, "show x")
    assert "held" in said(terminal, "memory") or terminal.failed == 0
    assert terminal.failed == 0


def test_explain_shows_the_nearest_values_and_how_to_see_all(terminal):
    said(terminal, "run")
    first = said(terminal, "explain x")
    assert 10 < first.count("<-") < 20 and "explain x all shows all of them." in first
    every = said(terminal, "explain x all")
    assert every.count("<-") > 60 and "continues" not in every
    assert "these 3 values; explain x 4 all shows" in said(terminal, "x x 4 3")
    assert "a = 2.0" in said(terminal, "explain x 1 all")
    assert terminal.failed == 0
    assert "Too many arguments" in said(terminal, "explain x 1 2 3")


def test_advice_is_in_the_words_of_the_terminal(terminal):
    for line in ("print foo", "break foo", "explain foo", "show foo"):
        told = said(terminal, line)
        assert "graph.names" not in told and "find TEXT lists the names" in told
    assert "did you mean" not in said(terminal, "bogus") and "did you mean" not in said(terminal, "print y")
    assert "did you mean step?" in said(terminal, "stp")


def test_the_first_nan_is_found(open_terminal):
    b = wb.GraphBuilder("roots")
    x = b.while_loop(lambda x: x > -3.0, lambda x: x - b.sqrt(x), {"x": b.placeholder("start", "float64")})
    terminal = open_terminal(b.build(x), start=0.5)
    said(terminal, "run")
    found = said(terminal, "nan")
    assert "NaN" in found and "sqrt" in found and terminal.failed == 0
    assert "finite" in said(terminal, "nan *")


def test_values_without_room_in_another_dtype(open_terminal):
    b = wb.GraphBuilder("large")
    x = b.placeholder("x", "float64")
    terminal = open_terminal(b.build(x * x), x=1000.0)
    said(terminal, "run")
    assert "1 value would overflow in float16" in said(terminal, "overflow")
    assert "0 values" in said(terminal, "overflow float32")


def test_breakpoints_and_back_to_them(terminal):
    assert "break 1" in said(terminal, "break x at 2")
    said(terminal, "run")
    assert terminal.session.position.iteration == (2,)
    said(terminal, "break while/divide if value < 0.95 and iteration > 0", "run")
    assert terminal.session.state == "finished" or terminal.session.position.iteration[0] >= 2
    listed = said(terminal, "breakpoints")
    assert "while/divide" in listed and "conditional" in listed
    said(terminal, "run", "r-")
    assert terminal.session.state == "paused"
    said(terminal, "toggle 1")
    assert "off" in said(terminal, "bl")
    said(terminal, "delete 1", "d 2")
    assert "no breakpoints" in said(terminal, "breakpoints") and terminal.failed == 0
    said(terminal, "delete 7", "delete x", "break nosuch", "break x at two", "break x if", "break x hits many")
    assert terminal.failed == 6


def test_watch_log_ignore_recheck_recommended(terminal):
    assert "log" in said(terminal, 'log x "x is {value}" if value < 1.45')
    assert "log x is 1.4" in said(terminal, "run") and "x is 1.4" in said(terminal, "log")
    said(terminal, "delete all", "restart", "watch x", "run")
    assert terminal.session.state == "paused"
    said(terminal, "delete all", "run", "break x if value < 1.45")
    assert "3 hits" in said(terminal, "recheck 3")
    assert "ignored" in said(terminal, "ignore while/* health nan")
    assert "while" in said(terminal, "recommended")
    said(terminal, "recommended 1")
    assert len(list(terminal.session.breakpoints)) >= 2 and terminal.failed == 0


def test_edits_and_forks(terminal):
    said(terminal, "to x 2", "step", "set x 3.0", "run")
    assert len(terminal.session.histories) == 1
    assert "computed" in said(terminal, "update a=9.0").lower()
    assert abs(float(terminal.session.value("x")) - 3) < 1e-9
    said(terminal, "fork")
    assert terminal.current == 1 and terminal.prompt.startswith("(copy 1, ")
    assert "►" in said(terminal, "forks")
    said(terminal, "update a=4.0", "use 0")
    assert abs(float(terminal.session.value("x")) - 3) < 1e-9
    assert "differ" in said(terminal, "diff 1")
    said(terminal, "use 7", "use x", "set x", "set x abc", "update a")
    assert terminal.failed == 5


def test_a_fix_is_a_fork(open_terminal):
    terminal = open_terminal(models.endless(), start=1.0)
    said(terminal, "i 3")
    assert "never ends" in said(terminal, "why")
    assert "copy 1" in said(terminal, "fix")
    assert terminal.session.termination().outcome == "terminates"


def test_what_was_done_is_python_that_does_it_again(terminal, tmp_path):
    path = tmp_path / "t.wbtrace"
    said(terminal, "break x at 2", "run", "s 2", "set x 3.0", "run", "print x 1", f"save '{path}'", "code")
    script = "\n".join(terminal.code)
    assert wb.Trace.load(path).graph == models.newton()
    with wb.Session(models.newton(), {"a": 2.0}) as session:
        exec(compile(script, "code", "exec"), {"session": session, "wb": wb, "print": lambda *_: None})  # our own text
        assert session.position == terminal.session.position
        assert np.array_equal(session.trace["x"].values, terminal.session.trace["x"].values)
    assert "lines" in said(terminal, f"code {tmp_path / 'c.py'}") and (tmp_path / "c.py").read_text().strip()


def test_help_names_every_command(terminal):
    text = said(terminal, "help")
    for command in COMMANDS.values():
        assert command.name in text
        assert command.usage in said(terminal, f"help {command.name}")
    assert find("iterat").name == "iteration" if len([c for c in COMMANDS if c.startswith("iterat")]) == 1 else True
    assert terminal.failed == 0


@pytest.mark.parametrize(
    "line",
    [
        "nosuch",
        "stp",
        "p",
        "p nosuch",
        "p x 99",
        "p x a:b",
        "p 'x",
        "to",
        "to x y z",
        "s 0",
        "s -1",
        "s x",
        "out 3",
        "explain nosuch",
        "why nosuch",
        "save",
        "diff",
        "diff /nowhere.wbtrace",
        "log x",
        "use",
        "x" * 200_000,
        "set a 5",
        "break x if __import__('os')",
        "break x if value.__class__",
        'log x "{value.__class__}"',
        "\x00",
        "update",
        "find",
        "recheck",
        "toggle",
        "recommended 999",
    ],
)
def test_wrong_lines_are_one_line_and_the_terminal_goes_on(terminal, line):
    text = said(terminal, line)
    if terminal.failed:
        assert text.startswith("error: ") and text.count("\n") == 1 and "Traceback" not in text and len(text) < 4000
    assert "event 1" in said(terminal, "step")


def test_hostile_names_are_shown_not_obeyed(open_terminal):
    terminal = open_terminal(models.hostile(), **{f"x{models.HOSTILE}": 3.0})
    terminal.greet(True)
    for line in "run/v/v all/where/graph/find x/list/branches/forks/report/memory/code".split("/"):
        said(terminal, line)
    name = next(iter(terminal.session.graph.nodes))
    for line in (f"print '{name}'", f"show '{name}'", f"break '{name}'", f"list '{name}'", f"explain '{name}'"):
        said(terminal, line)
    terminal.screen.file.seek(0)
    text = terminal.screen.file.read()
    assert all(c.isprintable() or c == "\n" for c in text) and "\u202e" not in text


def test_a_script_is_shown_with_its_answers(terminal):
    failed = terminal.interact(io.StringIO("# a remark\n\ni 3\nprint x 1\nnosuch\n\nquit\nstep\n"))
    terminal.screen.file.seek(0)
    text = terminal.screen.file.read()
    assert failed == 1 and "(top) i 3" in text and "(while 2) print x 1" in text and "x = 1.5" in text
    assert terminal.session.position.iteration == (2,)


def test_the_public_function_leaves_the_session_open(terminal):
    out = io.StringIO()
    assert wb.terminal(terminal.session, commands=["step"], source=io.StringIO("s\n"), out=out) == 0
    assert terminal.session.state == "paused" and "next" in out.getvalue()


def test_completion(terminal):
    assert "print" in lines.offers(terminal, "pri", "pri")
    assert lines.offers(terminal, "print whi", "whi")[0].startswith("while/")
    assert "step" in lines.offers(terminal, "help st", "st")
    assert lines.offers(terminal, "nosuch a", "a") == [] and lines.offers(terminal, "step 3", "3") == []


def test_words():
    assert split("a 'b c' \\d") == ["a", "b c", "\\d"]
    assert condition(' x at 3 if value > "if" and 1') == (" x at 3", 'value > "if" and 1')
    assert condition(' x "a if b"') == (' x "a if b"', None)
    assert iteration("2,5") == (2, 5)
    assert span("10:20") == (10, 20, 1) and span("-5:") == (-5, None, 1) and span("x") is None
    assert indexed("x[0, :3]", lambda n: False) == ("x", (0, slice(None, 3)))
    assert indexed("x[0]", lambda n: n == "x[0]") == ("x[0]", None)
    for wrong in ("1,", "a", "-1", "1" * 5000):
        with pytest.raises(WorkbenchError):
            iteration(wrong)


def test_help_explains_words_of_the_project(terminal):
    assert "One execution of a node" in said(terminal, "help firing")
    assert "One execution of a node" in said(terminal, "help Firings")
    assert "stop at a node" in said(terminal, "help break"), "commands first"
    assert all(word in said(terminal, "help glossary") for word in ("frame: ", "loop-carried: ", "hold: "))
    assert "Unknown command" in said(terminal, "help nonsense")


def test_expressions_of_values_are_printed_with_their_iteration(terminal):
    said(terminal, "i 3")
    x, before = (float(terminal.session.value("x", (k,))) for k in (1, 0))
    assert f"2*x = {2 * x}   float64[]   [while 1]" in said(terminal, "p 2*x")
    assert f"x * x - a = {x * x - 2.0} " in said(terminal, "p x * x - a")
    assert f"= {x - before} " in said(terminal, 'p x - previous("x")')
    assert f"x*x @ 0 = {before * before}" not in said(terminal, "p x*x @ 0")
    assert f"x*x = {before * before}   float64[]   [while 0]" in said(terminal, "p x*x @ 0")
    assert f"x/2 = {x / 2} " in said(terminal, "p x/2")
    assert "x < 3 = True" in said(terminal, "p x < 3")
    assert f"x = {x}   float64[]   [while 1]" in said(terminal, "p x")
    assert f"x = {before}   float64[]   [while 0]" in said(terminal, "p x 0")
    said(terminal, "restart", "i", "s 3")
    assert "has no value: the iteration before the first one was read" in said(terminal, 'p x - previous("x")')
    assert terminal.failed == 0


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("p y * 2", "has no value named 'y'"),
        ("p value + 1", "none here"),
        ("p 2 *", "The expression '2 *' cannot be used"),
        ("p __import__('os')", "cannot be used"),
        ("p x 1 2", "Too many arguments"),
        ("until 3 > 2", "names no value"),
        ("until x", "is a number, not a bool"),
        ("run none", "give a positive integer"),
    ],
)
def test_bad_expressions_are_answered(terminal, line, answer):
    said(terminal, "i 3")
    assert answer in said(terminal, line) and terminal.failed == 1
    assert not terminal.session.breakpoints.table()


def test_until_a_condition_holds_or_the_loop_ends(terminal):
    session = terminal.session
    assert "when x < 1.45" in said(terminal, "until x < 1.45")
    assert session.position.iteration == (2,) and not session.breakpoints.table()
    assert float(session.value("x")) < 1.45
    said(terminal, "until")
    assert session.position.frame == ()


def test_run_goes_on_past_some_breakpoints(terminal):
    said(terminal, "break x", "run 3")
    assert terminal.session.position.iteration == (2,)
    assert "output x" in said(terminal, "run 100")
    assert "The run is finished" in said(terminal, "bt")


@pytest.mark.parametrize("word", ["PROVED", "predicted", "UNKNOWN", "verdict"])
def test_verdicts_are_explained(terminal, word):
    assert f"{word.lower()}: " in said(terminal, f"help {word}") and terminal.failed == 0


def test_laws_of_a_forecast_are_listed_with_their_shares():
    values = 0.93 ** np.arange(60.0) + 0.01
    answer = Termination(Status.PREDICTED, candidates=list(outlook(values, ">", 1e-6).candidates))
    listed = laws_of(answer)
    assert len(listed) == len(answer.candidates) and all(
        (": refused, " in line) == bool(c.refused) for line, c in zip(listed, answer.candidates, strict=True)
    )
    assert sum(c.share for c in answer.candidates) == pytest.approx(1.0)
